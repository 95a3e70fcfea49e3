import { hash } from "node:crypto";
import type { Logger } from "pino";
import type { ClaimedEvent } from "../inbox/batch.js";
import type { AbortHandle, AttemptsConfig } from "../inbox/dispatch/attempts.js";
import { PermanentFailure } from "../inbox/failures.js";
import type { Handoff } from "../inbox/handoff.js";
import { firstIdOf, ownIdOf } from "../inbox/identity.js";
import type { ReadAgain } from "../inbox/store.js";
import { DEFAULT_SENDER, type ReceivedDelivery } from "../inbox/stored-events.js";
import { readable } from "../senders/engine/define-sender.js";
import type { Reading, AnySender } from "../senders/engine/sender.js";
import type { ReceiverConfig } from "./options.js";
import type { LaneOf } from "./order.js";
import { deliveryKeyOf } from "./receiver-events.js";
import type { TelemetryHooks } from "./telemetry.js";

type Abort = Pick<AbortHandle, "signal">;

interface HandOffConfig extends Pick<
  ReceiverConfig,
  "endpoint" | "sender" | "logger" | "findCallback"
> {
  telemetry: TelemetryHooks | null;
  completeSql: (event: ClaimedEvent) => string;
}

/**
 * @returns a function that calls the user's callback for an event. It throws `PermanentFailure` for
 * an event that cannot be handed off.
 */
export function createHandOff(config: HandOffConfig): AttemptsConfig["handOff"] {
  const { sender, telemetry, findCallback } = config;
  const callBack: AttemptsConfig["handOff"] = ({ event, parsed }, attempt, abort) => {
    const storedBy = event.sender ?? DEFAULT_SENDER;
    if (!sender.reads.includes(storedBy)) throw otherSenderFailure(storedBy, sender.name);
    const reading = (parsed ?? readStored(sender, event)) as Reading;
    if (reading.kind === "challenge") return undefined;
    if (reading.kind === "unusable" || reading.quarantine !== null) {
      throw new PermanentFailure(
        "This version of signalbox cannot read the stored event; a newer version may have accepted it.",
      );
    }
    const callback = findCallback(reading);
    if (callback === null && sender.name !== DEFAULT_SENDER) {
      throw new PermanentFailure("onEvent has no function for events of this type any more.");
    }
    return callback?.(reading.event as never, new LazyHandoff(event, attempt, abort, config));
  };
  if (telemetry === null) return callBack;
  return (leased, attempt, abort) =>
    telemetry.handOff(leased.event, attempt, () => callBack(leased, attempt, abort));
}

/**
 * Of an event that another sender's receiver has stored at this endpoint. Its `lastError` begins
 * with `other_sender`.
 */
function otherSenderFailure(storedBy: string, name: string): PermanentFailure {
  const failure = new PermanentFailure(
    `It was stored by the sender "${storedBy}", not by "${name}". Give each an endpoint, or add alsoReads: ["${storedBy}"]; then replay it.`,
  );
  failure.name = "other_sender";
  failure.stack = "";
  return failure;
}

const NONE_EARLIER = { count: 0, events: [] };

/**
 * The second argument of `onSignal`. Few callbacks use the abort signal or the logger, so both are
 * made on first use. Getters of a class are not enumerable: a hand-off can be logged and copied
 * although `completeSql` throws with most stores.
 */
class LazyHandoff implements Handoff {
  readonly deliveryKey: string;
  readonly eventId: string;
  readonly tenant: string | null;
  readonly replayed: boolean;
  readonly possiblyRepeated: boolean;
  readonly receivedAt: Date;
  readonly rawBody: Uint8Array;
  readonly earlier: Handoff["earlier"];
  readonly earlierCount: number;
  readonly endpoint: string;
  readonly sender: string;
  readonly #event: ClaimedEvent;
  readonly #abort: Abort;
  readonly #config: HandOffConfig;
  #logger: Logger | null = null;

  constructor(
    event: ClaimedEvent,
    readonly attempt: number,
    abort: Abort,
    config: HandOffConfig,
  ) {
    this.endpoint = config.endpoint;
    this.sender = config.sender.name;
    this.deliveryKey = deliveryKeyOf(this.endpoint, event.eventId);
    this.tenant = event.received.tenant ?? null;
    // Stored ids begin with the tenant.
    const from = this.tenant === null ? 0 : this.tenant.length + 1;
    this.eventId = event.eventId.slice(from);
    this.replayed = event.replayed;
    this.possiblyRepeated = event.possiblyRepeated;
    this.receivedAt = new Date(event.received.at);
    this.rawBody = event.body;
    const { count, events } = event.earlier ?? NONE_EARLIER;
    this.earlier = events.map((each) => ({
      ...each,
      eventId: each.eventId.slice(from),
      receivedAt: new Date(each.receivedAt),
    }));
    this.earlierCount = count;
    this.#event = event;
    this.#abort = abort;
    this.#config = config;
  }

  /** A getter, since one of them is the signature, which nobody should log by chance. */
  get headers(): Readonly<Record<string, string>> {
    return this.#event.received.headers;
  }

  get abortSignal(): AbortSignal {
    return this.#abort.signal;
  }

  get logger(): Logger {
    const { deliveryKey, attempt } = this;
    return (this.#logger ??= this.#config.logger.child({ deliveryKey, attempt }));
  }

  get completeSql(): string {
    return this.#config.completeSql(this.#event);
  }
}

/** Reads a stored event again, after a restart or at a replay. */
function readStored(
  sender: AnySender,
  { received, body }: { received: ReceivedDelivery; body: Uint8Array },
): Reading {
  return sender.read(readable(body, received.headers));
}

/**
 * @param find finds the sender of an event by its name; undefined when it is not known here
 * @param laneOf of a receiver
 */
export function readAgainBy(
  find: (name: string) => AnySender | undefined,
  laneOf?: LaneOf,
): ReadAgain {
  return (event) => {
    const sender = find(event.sender);
    const reading = sender === undefined ? null : readStored(sender, event);
    if (reading?.kind === "challenge") {
      const eventId = storedId(reading.id, event);
      return { eventId, type: reading.type, subtype: null, subject: null };
    }
    if (reading?.kind !== "event" || reading.quarantine !== null) return null;
    const { id, type, subtype, subject } = reading;
    const lane = laneOf?.(reading, event.received) ?? null;
    const facts = { eventId: storedId(id, event), type, subtype, subject, lane };
    if (sender?.unsignedId !== true) return facts;
    const { unsignedFacts } = sender;
    const identity = { ...facts, bodyHash: hash("sha256", event.body, "buffer") };
    return {
      ...facts,
      eventId: firstIdOf(identity, unsignedFacts),
      ownId: ownIdOf(identity, unsignedFacts),
    };
  };
}

/**
 * The id under which an event is stored: the sender's, or the hash of the body if it has none. A
 * tenant has no slash in its name, so the ids of two of them never meet.
 */
export function storedId(
  id: string | null,
  { received: { tenant }, body }: { received: ReceivedDelivery; body: Uint8Array },
): string {
  const own = id ?? `sha256:${hash("sha256", body, "hex")}`;
  return tenant === undefined ? own : `${tenant}/${own}`;
}
