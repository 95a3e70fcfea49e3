import type { Acceptance, AcceptedInput, RunningInbox } from "../inbox/inbox.js";
import { NO_HANDLER } from "../inbox/done-reasons.js";
import { DEFAULT_SENDER, type ReceivedDelivery } from "../inbox/stored-events.js";
import { settled } from "../senders/engine/define-sender.js";
import { headerValue, type RequestHeaders } from "../senders/engine/headers.js";
import type { AnySender, Reading } from "../senders/engine/sender.js";
import type { HeldBodies } from "./collect-body.js";
import { storedId } from "./create-handoff.js";
import type { ReceiverConfig } from "./options.js";
import type { LaneOf } from "./order.js";
import { referenceTo, type EventReference, type ReceiverEvents } from "./receiver-events.js";
import type { Refusal } from "./rejection.js";
import type { AcceptanceOutcome, ObservedDelivery } from "./telemetry.js";

const OVERLOADED: Refusal = { code: "overloaded" };

/** The name of a tenant. */
export const TENANT = /^[a-z0-9_-]{1,64}$/;

/** What unusable bytes tell. */
const NO_FACTS = { id: null, type: "", subtype: null, subject: null };

export type StorableReading = Exclude<Reading, { kind: "challenge" }>;

export interface StoredDelivery {
  outcome: AcceptanceOutcome;
  /** Its id was stored before. */
  isDuplicate: boolean;
  /** The one under which it is stored. */
  eventId: string;
  type: string;
}

export interface EventStoreConfig extends Omit<ReceiverConfig, "telemetry"> {
  inbox: RunningInbox;
  laneOf: LaneOf;
  events: ReceiverEvents;
  /**
   * Why this receiver takes nothing now: it is closing, or it has not started. A failing store is
   * noticed only by `accept`.
   */
  unavailable: () => "closing" | "store_unavailable" | null;
  /** Called for each event whose bytes came lately under another id. */
  onRepeated: (event: EventReference) => void;
  /** Called for each event for which `onEvent` has no function. */
  onUnhandled: (type: string) => void;
}

export type StoreEvent = ReturnType<typeof createEventStore>;

/**
 * Stores what a delivery or the sender's API brought, and tells the listeners.
 *
 * @returns a function; it returns a refusal while nothing can be stored
 */
export function createEventStore(bodies: HeldBodies, config: EventStoreConfig) {
  const { inbox, events, sender, tenantOf } = config;

  function outcomeOf(
    { disposition, received }: AcceptedInput,
    acceptance: Acceptance,
  ): AcceptanceOutcome {
    if (acceptance.status === "duplicate") {
      // The API writes a body in another way than a delivery, so another body is no conflict.
      return acceptance.sameBody ||
        received.backfilled === true ||
        sender.unsignedId ||
        sender.otherBody === "duplicate"
        ? "duplicate"
        : "conflict";
    }
    if (disposition.kind === "quarantine") return "quarantined";
    return acceptance.ownId === undefined ? "accepted" : "conflict";
  }

  function tell(outcome: AcceptanceOutcome, input: AcceptedInput, acceptance: Acceptance): void {
    const { disposition, type, eventId } = input;
    const reference = referenceTo(config.endpoint, { eventId: acceptance.ownId ?? eventId, type });
    if (acceptance.status === "accepted") {
      if (disposition.kind === "keep" && disposition.reason !== null) config.onUnhandled(type);
      if (disposition.kind === "handOff" && acceptance.isRepeated === true)
        config.onRepeated(reference);
    }
    if (outcome !== "quarantined") events.emit(outcome, reference);
    else if (disposition.kind === "quarantine")
      events.emit("quarantined", { ...reference, reason: disposition.reason });
  }

  /** What is done with an authentic event: it is handed off, or only kept, or quarantined. */
  function dispositionOf(reading: StorableReading): AcceptedInput["disposition"] {
    if (reading.kind === "unusable") return { kind: "quarantine", reason: reading.reason };
    if (reading.quarantine !== null) return { kind: "quarantine", reason: reading.quarantine };
    if (config.findCallback(reading) !== null) return { kind: "handOff", parsed: reading };
    return { kind: "keep", reason: sender.name === DEFAULT_SENDER ? null : NO_HANDLER };
  }

  return async function store(
    reading: StorableReading,
    received: ReceivedDelivery,
    body: Uint8Array,
    observed: ObservedDelivery | null,
  ): Promise<Refusal | StoredDelivery> {
    try {
      // What cannot be read says of no tenant that it is its own.
      const found = tenantOf && reading.kind === "event" && tenantOf(reading.event as never);
      if (tenantOf && settled(found) !== received.tenant) return { code: "tenant_mismatch" };
    } catch (cause) {
      return { code: "tenant_mismatch", cause };
    }
    // The receiver may have been closed, or its queue filled, while the body arrived or the secrets
    // were looked up. `makeRoom` may evict bodies that still arrive. It reserves nothing, so no
    // `await` comes between it and `accept`.
    const unavailable = config.unavailable();
    if (unavailable !== null) return { code: unavailable };
    if (!bodies.makeRoom(body.byteLength)) return OVERLOADED;
    // Unusable bytes get their hash as id. If they got the id that they contain, a later valid
    // event with that id would count as a duplicate.
    const { id, type, subtype, subject } = reading.kind === "unusable" ? NO_FACTS : reading;
    const disposition = dispositionOf(reading);
    // Not made by object spread: each such object has a hidden class of its own, and is read slowly
    // on the whole path.
    const eventId = storedId(id, { received, body });
    const lane = config.laneOf(reading, received);
    const input = { eventId, type, subtype, subject, disposition, lane, received, body };
    const acceptance = await inbox.accept(input);
    const outcome = outcomeOf(input, acceptance);
    const storedAs = acceptance.ownId ?? eventId;
    observed?.end(outcome, storedAs);
    tell(outcome, input, acceptance);
    return { outcome, isDuplicate: acceptance.status === "duplicate", eventId: storedAs, type };
  };
}

/** What is kept of a delivery beside its bytes. */
export function receivedBy(sender: AnySender, sent: RequestHeaders, at: number): ReceivedDelivery {
  const headers: Record<string, string> = {};
  for (const name of sender.keptHeaders) {
    const value = headerValue(sent, name);
    if (value !== undefined) headers[name] = value;
  }
  if (sender.name === DEFAULT_SENDER) return { at, headers };
  // The one of its names that was sent. With several, only that is kept.
  const [first, ...others] = sender.signatureHeaders.filter((name) => headers[name] !== undefined);
  for (const name of others) delete headers[name];
  return { at, headers, signatureHeader: first ?? sender.signatureHeader };
}
