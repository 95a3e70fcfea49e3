import { hash } from "node:crypto";
import { parseEvent, type ParsedEvent } from "../events/parse-event.js";
import type { Acceptance, AcceptedInput, RunningInbox } from "../inbox/inbox.js";
import type { ReceivedDelivery } from "../inbox/store.js";
import { parseSignatureHeader, SIGNATURE_HEADER } from "../signature/header.js";
import { verifySignature, type Verification } from "../signature/verify.js";
import type { ClockTimer } from "../time/clock.js";
import { withDeadline } from "../time/timers.js";
import {
  acknowledge,
  acknowledgeNew,
  headerValue,
  reject,
  type BodyReading,
  type DeliveryRequest,
  type DeliveryResponse,
} from "./delivery.js";
import { createHeldBodies, PIECE_OVERHEAD_BYTES } from "./held-bodies.js";
import type { ReceiverConfig } from "./options.js";
import { referenceTo, type EventReference, type ReceiverEvents } from "./receiver-events.js";
import type { RejectionCode } from "./rejection.js";
import { createSecretWait, type LateVerification, type Wait } from "./secret-wait.js";

const SIGNATURE = SIGNATURE_HEADER.toLowerCase();
const KEPT_HEADERS = ["content-type", "user-agent", SIGNATURE] as const;

export interface PipelineConfig extends ReceiverConfig {
  inbox: RunningInbox;
  events: ReceiverEvents;
  /** Why nothing is taken now, or null. */
  unavailable: () => "closing" | "store_unavailable" | null;
  /** Told the cause of a refusal that is ours to mend. */
  onTrouble: (code: RejectionCode, error: unknown) => void;
}

export interface Pipeline {
  /** @returns null when nobody is there to be answered. Never rejects. */
  handle(request: DeliveryRequest): Promise<DeliveryResponse | null>;
  /** Leaves no timer behind once the last delivery has its answer. */
  close(): void;
}

/**
 * The way of one delivery: bytes → verify → parse → challenge or inbox → answer. Bytes stay bytes until the
 * signature is checked, and no answer in the 200s leaves before what it stands for is durable.
 */
export function createPipeline(config: PipelineConfig): Pipeline {
  const { inbox, events, clock, secrets } = config;
  const bodies = createHeldBodies({ hasRoom: inbox.hasRoom, maxBodies: config.maxQueued.events });
  const secretWait = createSecretWait({ secrets, waitMs: config.secretWaitMs, clock });

  function refuse(code: RejectionCode): DeliveryResponse {
    const { requestId, ...response } = reject(code);
    events.emit("rejected", { code, status: response.status, requestId });
    return response;
  }

  function conclude(outcome: Outcome): DeliveryResponse {
    if (!("code" in outcome)) return outcome;
    if ("cause" in outcome) config.onTrouble(outcome.code, outcome.cause);
    return refuse(outcome.code);
  }

  /** Whatever can be said without the body. */
  function refuseEarly({ method, headers }: DeliveryRequest): RejectionCode | null {
    if (method !== "POST") return "method_not_allowed";
    const encoding = headerValue(headers, "content-encoding")?.trim().toLowerCase() ?? "";
    if (encoding !== "" && encoding !== "identity") return "encoding_unsupported";
    const unavailable = config.unavailable();
    if (unavailable !== null) return unavailable;
    const length = Number(headerValue(headers, "content-length") ?? 0);
    // A body past its limit gets 413 from the reader: waiting would not help it.
    return inbox.hasRoom(length <= config.bodyLimitBytes ? length : 0) ? null : "overloaded";
  }

  function read(request: DeliveryRequest, keep: boolean): BodyReading | Promise<BodyReading> {
    const { body } = request;
    const { bodyLimitBytes: maxBytes, bodyTimeoutMs: timeoutMs } = config;
    if (typeof body === "function") {
      const startTimeout = (onTimeout: () => void): ClockTimer => clock.setTimeout(onTimeout, timeoutMs);
      const holdPiece = (pieceBytes: number, evict: () => void): boolean =>
        bodies.hold(request, pieceBytes + PIECE_OVERHEAD_BYTES, evict);
      return body({ maxBytes, timeoutMs, keep, startTimeout, holdPiece });
    }
    // A caller without types: text or parsed JSON is not what was signed.
    if (!ArrayBuffer.isView(body)) return { ok: false, reason: "body_unavailable" };
    return body.byteLength > maxBytes ? { ok: false, reason: "body_too_large" } : { ok: true, bytes: body };
  }

  /**
   * While something is looked up for it, a body gives way as one that arrives does: then the result is null.
   *
   * @param onGivenWay nobody waits for the value any more
   */
  function whileHeld<Value>(
    delivery: ReadDelivery,
    value: Promise<Value>,
    onGivenWay?: () => void,
  ): Promise<Value | null> {
    return new Promise((resolve, fail) => {
      const giveWay = (): void => {
        // The lookup may hang, and so whatever waits for it.
        delivery.body = NO_BYTES;
        onGivenWay?.();
        resolve(null);
      };
      if (!bodies.hold(delivery, delivery.body.byteLength, giveWay)) giveWay();
      value.finally(() => bodies.release(delivery)).then(resolve, fail);
    });
  }

  // Promises only where something is waited for: each costs every delivery.

  function answer(delivery: ReadDelivery): Outcome | Promise<Outcome> {
    let known: readonly string[] | Promise<readonly string[]>;
    try {
      known = secrets.lookUp();
    } catch (error) {
      return secretUnavailable(error);
    }
    if (!(known instanceof Promise)) return judge(delivery, known);
    return whileHeld(delivery, known).then(
      (found) => (found === null ? OVERLOADED : judge(delivery, found)),
      secretUnavailable,
    );
  }

  function judge(delivery: ReadDelivery, known: readonly string[]): Outcome | Promise<Outcome> {
    const verification = verify(delivery, known);
    if (verification.ok) return take(delivery);
    if (verification.reason !== "signature_mismatch") return { code: verification.reason };
    let later: LateVerification | Wait;
    try {
      later = secretWait.verifyLater(known, (found) => verify(delivery, found));
    } catch (error) {
      return secretUnavailable(error);
    }
    if (!("verification" in later)) return afterWaiting(delivery, later);
    // Else a flood of forgeries would keep as many in the wait as come in all of its time.
    return whileHeld(delivery, later.verification, later.giveUp).then(
      (verified) => (verified === null ? OVERLOADED : afterWaiting(delivery, verified)),
      secretUnavailable,
    );
  }

  function afterWaiting(delivery: ReadDelivery, verification: LateVerification): Outcome | Promise<Outcome> {
    if (verification.ok) return take(delivery);
    const { reason } = verification;
    return reason === "secret_unavailable" ? secretUnavailable(secrets.missing()) : { code: reason };
  }

  /** As of its arrival: how long a secret was looked for makes no signature older. */
  function verify({ header, body, received: { at: now } }: ReadDelivery, known: readonly string[]): Verification {
    return verifySignature({ header, body, secrets: known, toleranceSeconds: config.toleranceSeconds, now });
  }

  function take({ received, body }: ReadDelivery): Outcome | Promise<Outcome> {
    const parsed = parseEvent(body);
    if (parsed.kind === "known" && parsed.event.type === "webhook.verification") {
      events.emit("verified", referenceTo(config.endpoint, { eventId: parsed.event.id, type: parsed.event.type }));
      return acknowledge({ challenge: parsed.event.data.challenge });
    }
    return store(parsed, received, body);
  }

  function store(parsed: ParsedEvent, received: ReceivedDelivery, body: Uint8Array): Outcome | Promise<Outcome> {
    // The lookup may have taken a while.
    const unavailable = config.unavailable();
    if (unavailable !== null) return { code: unavailable };
    if (!bodies.makeRoom(body.byteLength)) return { code: "overloaded" };

    const { id: eventId, type } = parsed.kind === "unusable" ? anonymous(body) : parsed.event;
    const fate = fateOf(parsed);
    return inbox.accept({ eventId, type, fate, received, body }).then(
      (acceptance) =>
        tell(acceptance, parsed.kind === "unusable", fate, referenceTo(config.endpoint, { eventId, type })),
      (cause: unknown) => ({ code: "store_unavailable", cause }),
    );
  }

  function tell(
    acceptance: Acceptance,
    isUnusable: boolean,
    fate: AcceptedInput["fate"],
    reference: EventReference,
  ): DeliveryResponse {
    if (acceptance.status === "duplicate") {
      events.emit(acceptance.sameBody ? "duplicate" : "conflict", reference);
      return acknowledge({ received: true, [isUnusable ? "quarantined" : "duplicate"]: true });
    }
    if (fate.kind === "quarantine") events.emit("quarantined", { ...reference, reason: fate.reason });
    if (isUnusable) return acknowledge({ received: true, quarantined: true });
    events.emit("accepted", reference);
    return acknowledgeNew();
  }

  function fateOf(parsed: ParsedEvent): AcceptedInput["fate"] {
    if (parsed.kind === "unusable") {
      const { reason, path } = parsed;
      return { kind: "quarantine", reason: path === undefined ? reason : `${reason}: ${path}` };
    }
    // Stored and acknowledged, and kept until a release knows its type.
    if (parsed.kind === "unknown") return { kind: "quarantine", reason: "unknown_type" };
    const isWanted = parsed.event.type === "signal.published" || config.onTest !== null;
    return isWanted ? { kind: "handOff", parsed: parsed.event } : { kind: "keep" };
  }

  async function handle(request: DeliveryRequest): Promise<DeliveryResponse | null> {
    try {
      const early = refuseEarly(request);
      if (early !== null) return refuse(early);
      const header = headerValue(request.headers, SIGNATURE);
      // Without something that could be a signature nothing can be accepted: no byte of the body is kept, no secret asked for.
      const signature = parseSignatureHeader(header);
      const reading = await read(request, signature.ok);
      bodies.release(request);
      if (!reading.ok) {
        if (reading.reason === "client_gone") return null;
        const { reason: code } = reading;
        return conclude(code === "body_unavailable" ? { code, cause: null } : { code });
      }
      if (!signature.ok) return refuse(signature.reason);
      const received = { at: clock.now(), headers: keptHeaders(request.headers) };
      const outcome = answer({ received, header, body: reading.bytes });
      return conclude(
        outcome instanceof Promise ? await withDeadline(outcome, clock, config.ackTimeoutMs, LATE) : outcome,
      );
    } catch (cause) {
      bodies.release(request);
      return conclude({ code: "store_unavailable", cause });
    }
  }

  return {
    handle,
    close() {
      secretWait.close();
    },
  };
}

type Outcome = DeliveryResponse | Refusal;

/** A delivery whose body was read. */
interface ReadDelivery {
  received: ReceivedDelivery;
  /** Its signature. */
  header: string | undefined;
  body: Uint8Array;
}

const NO_BYTES = new Uint8Array();

/** A refusal on its way to the answer. With a cause, even null, it is ours to mend. */
interface Refusal {
  code: RejectionCode;
  cause?: unknown;
}

const OVERLOADED: Refusal = { code: "overloaded" };

function secretUnavailable(cause: unknown): Refusal {
  return { code: "secret_unavailable", cause };
}

/** The delivery's work goes on; what it comes to is in the inbox, and its answer is not told a second time. */
const LATE: Refusal = { code: "ack_timeout" };

/** The key of bytes without a usable id. A hash, so that a right event with the id they claim is not kept out. */
function anonymous(body: Uint8Array): { id: string; type: string } {
  return { id: `sha256:${hash("sha256", body, "hex")}`, type: "" };
}

function keptHeaders(headers: DeliveryRequest["headers"]): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of KEPT_HEADERS) {
    const value = headerValue(headers, name);
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}
