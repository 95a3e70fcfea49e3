import { safely, SignalboxError } from "../../base/errors.js";
import type { Acceptance, AcceptedInput, RunningInbox } from "../inbox/inbox.js";
import {
  type RefusedDelivery,
  DEFAULT_SENDER,
  NO_HANDLER,
  type ReceivedDelivery,
} from "../inbox/stored-events.js";

import { readable } from "../senders/engine/define-sender.js";
import { headerValue, recordOf, type RequestHeaders } from "../senders/engine/headers.js";
import type { HandshakeAnswer, Reading } from "../senders/engine/sender.js";
import { withDeadline } from "../../base/time/timers.js";
import { createBodyCollector, createHeldBodies } from "./collect-body.js";
import {
  acknowledge,
  acknowledgeNew,
  answerWith,
  reject,
  type DeliveryRequest,
  type DeliveryResponse,
} from "./delivery.js";

import type { ReceiverConfig } from "./options.js";
import { idOfBody } from "./create-handoff.js";
import type { Trouble } from "./receiver-log.js";
import { referenceTo, type EventReference, type ReceiverEvents } from "./receiver-events.js";
import { OTHER_SENDERS, type Refusal, type RejectionCode } from "./rejection.js";
import type { AcceptanceOutcome, ObservedDelivery, TelemetryHooks } from "./telemetry.js";
import { createVerifier, type SignedDelivery } from "./verify-delivery.js";

const OVERLOADED: Refusal = { code: "overloaded" };
const LATE: Refusal = { code: "ack_timeout" };
const REFUSED_HANDSHAKE: Refusal = { code: "handshake_refused" };
const LONGEST_ADDRESS = 64;
/** A larger body is not parsed for its id. */
const MOST_READ_OF_REFUSED = 262_144;
/** The longest body that is read without a signature. */
const LONGEST_UNSIGNED = 1024;
/** A handshake has no event, and so no id. */
const HANDSHAKE = { eventId: "", type: "handshake" };

/** What unusable bytes tell. */
const NO_FACTS = { id: null, type: "", subtype: null, subject: null };

type StorableReading = Exclude<Reading, { kind: "challenge" }>;

interface ReadDelivery {
  body: Uint8Array;
  received: ReceivedDelivery;
}

interface StoredDelivery {
  outcome: AcceptanceOutcome;
  /** Its id was stored before. */
  isDuplicate: boolean;
  /** The one under which it is stored. */
  eventId: string;
  type: string;
}

/** An event that came by the sender's API, and not in a delivery. */
export interface BackfilledEvent {
  /**
   * The event as the sender would deliver it: an object of its API as JSON. A text is stored as
   * UTF-8.
   */
  body: Uint8Array | string;
  /**
   * The headers that a delivery of it would have, where the sender reads its id or type from them.
   * @default none
   */
  headers?: RequestHeaders | undefined;
}

/** What became of a {@link BackfilledEvent}. */
export interface BackfillResult {
  /** `duplicate`: its id is stored, with whatever body. */
  status: "accepted" | "duplicate" | "quarantined";
  eventId: string;
  /** Empty for unusable bytes. */
  type: string;
}

export interface PipelineConfig extends Omit<ReceiverConfig, "telemetry"> {
  inbox: RunningInbox;
  events: ReceiverEvents;
  telemetry: TelemetryHooks | null;
  /**
   * Why this receiver takes nothing now: it is closing, or it has not started. A failing store is
   * noticed only by `accept`.
   */
  unavailable: () => "closing" | "store_unavailable" | null;
  /** Called for a refusal that the operator should look into. */
  onTrouble: (trouble: Trouble) => void;
  /** Called for each refusal. */
  onRefused: (
    code: RejectionCode,
    example: () => Pick<RefusedDelivery, "address" | "eventId">,
  ) => void;
  /** Called for each event whose bytes came lately under another id. */
  onRepeated: (event: EventReference) => void;
  /** Called for each event for which `onEvent` has no function. */
  onUnhandled: (type: string) => void;
}

/**
 * The path of one delivery, from top to bottom: `handle`, then `verifyAndStore`. The body is
 * decoded only after its signature was checked, and an event is acknowledged only once it is
 * durable.
 */
export function createPipeline(config: PipelineConfig) {
  const { inbox, events, telemetry, clock, sender } = config;
  const { handshake } = sender;
  const isDefault = sender.name === DEFAULT_SENDER;
  const methods = ["POST"];
  if (handshake?.options !== undefined) methods.unshift("OPTIONS");
  if (handshake?.get !== undefined) methods.unshift("GET");
  const bodies = createHeldBodies({ hasRoom: inbox.hasRoom, maxBodies: config.maxQueued.events });
  const collectBody = createBodyCollector(bodies, config);
  const verifier = createVerifier(bodies, config);

  /**
   * Never rejects: the hooks and listeners that it calls do not throw. @returns null when the
   * client is gone
   */
  async function handle(request: DeliveryRequest): Promise<DeliveryResponse | null> {
    let observed: ObservedDelivery | null = null;
    try {
      const { headers } = request;
      // The path and query alone, also of an address.
      const url = isDefault ? undefined : request.url?.replace(/^[a-z]+:\/\/[^/?#]*/i, "");
      observed = telemetry === null ? null : telemetry.receive(headers);

      // 1. Refuse what can be refused without the body: method, encoding, a receiver that does not
      //    run, no room.
      const early = refuseEarly(request);
      if (early !== null) return refuse(early, observed, request);

      if (request.method !== "POST") {
        const query = new URLSearchParams(url?.split(/\?(.*)/s)[1]);
        const asked =
          request.method === "GET"
            ? handshake?.get?.(query)
            : handshake?.options?.({ headers: recordOf(headers), query });
        const answer = answerHandshake(asked ?? "refused", observed);
        return "code" in answer ? refuse(answer, observed, request) : answer;
      }

      // 2. Read the body. Without a well-formed signature it is read too, since a client that still
      //    sends would not see the answer. But its bytes are not kept, and no secret is looked up.
      //    A problem of the body is answered first, then 401.
      const signature = sender.signature(headers, url);
      const isAsked =
        !signature.ok && handshake?.unsigned !== undefined && isShort(lengthOf(headers));
      const collected = await collectBody(request, signature.ok || isAsked);
      // The body does not arrive any more, so its memory is no longer counted here: the verifier
      // counts it while it waits for a secret, and the inbox from `accept` on.
      bodies.release(request);
      if (!collected.ok) {
        if (collected.reason !== "client_gone")
          return refuse({ code: collected.reason }, observed, request);
        observed?.end("client_gone");
        return null;
      }
      if (!signature.ok) {
        const answer =
          isAsked && isShort(collected.bytes.byteLength)
            ? handshake?.unsigned?.(readable(collected.bytes, {}))
            : null;
        if (answer) {
          observed?.end("verified");
          return answerWith(answer);
        }
        return refuse({ code: signature.reason }, observed, request);
      }

      // 3. Verify and store it, within the deadline. After the deadline the sender gets
      //    `ack_timeout`, but the work goes on. If it stores the event, `accepted` follows
      //    `rejected`, and the sender's retry is a duplicate. A late refusal or error is dropped.
      const received: ReceivedDelivery = { at: clock.now(), headers: keptHeaders(headers) };
      if (!isDefault) received.signatureHeader = signatureHeaderIn(received.headers);
      if (observed !== null && observed.traceParent !== null)
        received.traceParent = observed.traceParent;
      const delivery = { signature, body: collected.bytes, receivedAt: received.at, secret: "" };
      const stored = verifyAndStore(delivery, received, observed);
      const outcome = await withDeadline(stored, clock, config.ackTimeoutMs, LATE);
      return "code" in outcome
        ? refuse(outcome, observed, request, { body: delivery.body, received })
        : outcome;
    } catch (cause) {
      // Usually a failed commit: the event might not be durable. With 503 the sender tries again,
      // also after any other error.
      bodies.release(request);
      return refuse({ code: "store_unavailable", cause }, observed, request);
    }
  }

  async function verifyAndStore(
    delivery: SignedDelivery,
    received: ReceivedDelivery,
    observed: ObservedDelivery | null,
  ): Promise<DeliveryResponse | Refusal> {
    // 4. Verify the signature over the raw bytes. This may wait for a secret.
    const verdict = verifier.verify(delivery);
    const refusal = verdict instanceof Promise ? await verdict : verdict;
    if (refusal !== null) return refusal;

    // The body is read only now: an eviction during the wait for a secret has replaced it.
    const { body, secret } = delivery;
    const content = readable(body, received.headers);

    // 5. Answer a handshake, also while the receiver closes. Nothing is stored.
    const answer = handshake?.post?.(content, secret) ?? null;
    if (answer !== null) return answerHandshake(answer, observed);

    // 6. Read the event and store it.
    const reading = sender.read(content);
    if (reading.kind === "challenge") {
      observed?.end("verified", reading.id);
      events.emit(
        "verified",
        referenceTo(config.endpoint, { eventId: reading.id, type: reading.type }),
      );
      return acknowledge(reading.answer);
    }
    const stored = await store(reading, received, body, observed);

    // 7. It is durable, or its id was stored before, so that a retry would change nothing. The
    //    store has compared the bodies.
    if ("code" in stored) return stored;
    if (sender.acknowledgement !== undefined) return answerWith(sender.acknowledgement);
    if (reading.kind === "unusable") return acknowledge({ received: true, quarantined: true });
    return stored.isDuplicate ? acknowledge({ received: true, duplicate: true }) : acknowledgeNew();
  }

  /** Stores an event, and tells the listeners. @returns a refusal while nothing can be stored */
  async function store(
    reading: StorableReading,
    received: ReceivedDelivery,
    body: Uint8Array,
    observed: ObservedDelivery | null,
  ): Promise<Refusal | StoredDelivery> {
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
    const identity = { eventId: id ?? idOfBody(body), type, subtype, subject };
    const input = { ...identity, disposition, received, body };
    const acceptance = await inbox.accept(input);
    const outcome = outcomeOf(input, acceptance);
    const eventId = acceptance.ownId ?? input.eventId;
    observed?.end(outcome, eventId);
    tell(outcome, input, acceptance);
    return {
      outcome,
      isDuplicate: acceptance.status === "duplicate",
      eventId,
      type,
    };
  }

  /** As `receiver.accept`. */
  async function accept(event: BackfilledEvent): Promise<BackfillResult> {
    // A caller without types may pass nothing.
    const { body, headers = {} } = (event as BackfilledEvent | undefined) ?? {};
    if (typeof body !== "string" && !(body instanceof Uint8Array)) {
      const help = "Pass the event as text: { body: JSON.stringify(event) }.";
      throw new SignalboxError(
        "option_invalid",
        "receiver.accept needs a body of bytes or text.",
        help,
      );
    }
    // The overloads of Buffer.from take one of them each.
    const bytes = typeof body === "string" ? Buffer.from(body) : Buffer.from(body);
    const received: ReceivedDelivery = {
      at: clock.now(),
      headers: keptHeaders(headers),
      backfilled: true,
    };
    if (!isDefault) received.signatureHeader = signatureHeaderIn(received.headers);
    const reading = sender.read(readable(bytes, received.headers));
    if (reading.kind === "challenge") {
      throw new SignalboxError(
        "option_invalid",
        "receiver.accept was given a verification, which is no event.",
        "",
      );
    }
    const stored = await store(reading, received, bytes, null);
    if ("code" in stored) throw notAccepted(stored.code, bytes.byteLength);
    const { outcome, eventId, type } = stored;
    return { status: outcome === "conflict" ? "accepted" : outcome, eventId, type };
  }

  function notAccepted(code: RejectionCode, size: number): SignalboxError {
    if (code === "closing")
      return new SignalboxError("receiver_closed", "This receiver is closing or closed.", "");
    const { bytes: most } = config.maxQueued;
    if (code === "overloaded" && size > most) {
      const help =
        "Raise maxQueued: { bytes } of createReceiver above the size of its largest event.";
      const message = `The body has ${size} bytes, and maxQueued.bytes is ${most}.`;
      return new SignalboxError("option_invalid", message, help);
    }
    const [message, help] =
      code === "overloaded"
        ? ["Too much waits to be stored.", "Await each receiver.accept before the next."]
        : ["The receiver is not started.", "Await receiver.start() first."];
    return new SignalboxError("store_failed", message, help);
  }

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

  function answerHandshake(
    answer: HandshakeAnswer | "refused",
    observed: ObservedDelivery | null,
  ): DeliveryResponse | Refusal {
    if (answer === "refused") return REFUSED_HANDSHAKE;
    observed?.end("verified");
    events.emit("verified", referenceTo(config.endpoint, HANDSHAKE));
    return answerWith(answer);
  }

  function refuseEarly({ method, headers }: DeliveryRequest): Refusal | null {
    if (!methods.includes(method)) return { code: "method_not_allowed" };
    const encoding = headerValue(headers, "content-encoding")?.trim().toLowerCase() ?? "";
    if (encoding !== "" && encoding !== "identity") return { code: "encoding_unsupported" };
    const unavailable = config.unavailable();
    if (unavailable !== null) return { code: unavailable };
    const length = lengthOf(headers);
    // For a length over the limit the number of events alone is checked here. `collectBody` then
    // refuses the body, with a code that stops the sender's retries.
    return inbox.hasRoom(length <= config.bodyLimitBytes ? length : 0) ? null : OVERLOADED;
  }

  /** What is done with an authentic event: it is handed off, or only kept, or quarantined. */
  function dispositionOf(reading: StorableReading): AcceptedInput["disposition"] {
    if (reading.kind === "unusable") return { kind: "quarantine", reason: reading.reason };
    if (reading.quarantine !== null) return { kind: "quarantine", reason: reading.quarantine };
    if (config.findCallback(reading) !== null) return { kind: "handOff", parsed: reading };
    return { kind: "keep", reason: isDefault ? null : NO_HANDLER };
  }

  /** @param read what can be read of the delivery */
  function refuse(
    refusal: Refusal,
    observed: ObservedDelivery | null,
    request: DeliveryRequest,
    read?: ReadDelivery,
  ): DeliveryResponse {
    const { code } = refusal;
    observed?.end(code);
    config.onRefused(code, () => {
      // On a socket for both versions of IP an address of version 4 has this prefix.
      const address = safely(() => request.remoteAddress?.(), undefined)?.replace(
        /^::ffff:(?=\d+\.)/,
        "",
      );
      return {
        address: address?.slice(0, LONGEST_ADDRESS) ?? null,
        eventId: read === undefined ? null : idIn(read),
      };
    });
    // The operator can remove the reason of these: a refusal with a cause, a body that another
    // parser consumed, or one that is too large.
    if ("cause" in refusal || code === "body_unavailable" || code === "body_too_large") {
      // A caller without types may pass nothing.
      const { body, headers = {} } = (request as Partial<DeliveryRequest> | null) ?? {};
      const bodyBytes = body instanceof Uint8Array ? body.byteLength : lengthOf(headers) || null;
      config.onTrouble({
        code,
        cause: refusal.cause ?? null,
        body,
        bodyBytes,
        bodyLimitBytes: config.bodyLimitBytes,
      });
    }
    const { requestId, ...response } = reject(code, isDefault ? undefined : OTHER_SENDERS[code]);
    if (code === "method_not_allowed") response.headers["Allow"] = methods.join(", ");
    events.emit("rejected", { code, status: response.status, requestId });
    return response;
  }

  /** The id that a refused delivery claims to have. */
  function idIn({ body, received }: ReadDelivery): string | null {
    if (body.byteLength > MOST_READ_OF_REFUSED) return null;
    const reading = sender.read(readable(body, received.headers));
    return reading.kind === "unusable" ? null : reading.id;
  }

  function keptHeaders(headers: RequestHeaders): Record<string, string> {
    const kept: Record<string, string> = {};
    for (const name of sender.keptHeaders) {
      const value = headerValue(headers, name);
      if (value !== undefined) kept[name] = value;
    }
    return kept;
  }

  /** The one of its names that was sent. With several, only that is kept. */
  function signatureHeaderIn(headers: Record<string, string>): string {
    const [first, ...others] = sender.signatureHeaders.filter(
      (name) => headers[name] !== undefined,
    );
    for (const name of others) delete headers[name];
    return first ?? sender.signatureHeader;
  }

  return { handle, accept, endWaits: verifier.endWaits };
}

/** As the sender declares it; 0 if it does not. */
function lengthOf(headers: RequestHeaders): number {
  return Number(headerValue(headers, "content-length") ?? 0);
}

function isShort(length: number): boolean {
  return length > 0 && length <= LONGEST_UNSIGNED;
}
