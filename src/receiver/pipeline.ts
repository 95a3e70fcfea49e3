import { hash } from "node:crypto";
import { parseEvent, type ParsedEvent } from "../events/parse-event.js";
import type { AcceptedInput, RunningInbox } from "../inbox/inbox.js";
import { NO_FACTS, signalFacts } from "../inbox/signal-facts.js";
import type { ReceivedDelivery } from "../inbox/stored-events.js";
import { parseSignatureHeader, SIGNATURE_HEADER } from "../signature/header.js";
import { withDeadline } from "../time/timers.js";
import { createBodyCollector } from "./collect-body.js";
import {
  acknowledge,
  acknowledgeNew,
  headerValue,
  reject,
  type DeliveryRequest,
  type DeliveryResponse,
} from "./delivery.js";
import { createHeldBodies } from "./held-bodies.js";
import type { ReceiverConfig } from "./options.js";
import { referenceTo, type ReceiverEvents } from "./receiver-events.js";
import type { Refusal, RejectionCode } from "./rejection.js";
import type { ObservedDelivery, TelemetryHooks } from "./telemetry.js";
import { createVerifier, type SignedDelivery } from "./verify-delivery.js";

const SIGNATURE = SIGNATURE_HEADER.toLowerCase();
const KEPT_HEADERS = ["content-type", "user-agent", SIGNATURE] as const;
const OVERLOADED: Refusal = { code: "overloaded" };
const LATE: Refusal = { code: "ack_timeout" };

export interface PipelineConfig extends Omit<ReceiverConfig, "telemetry"> {
  inbox: RunningInbox;
  events: ReceiverEvents;
  telemetry: TelemetryHooks | null;
  /** Why deliveries are refused now; null when they are accepted. */
  unavailable: () => "closing" | "store_unavailable" | null;
  /** Called for a refusal whose reason the user can remove; `cause` is null when no error caused it. */
  onTrouble: (code: RejectionCode, cause: unknown) => void;
}

/**
 * The path of one delivery, from top to bottom: `handle`, then `take`. Bytes are decoded only after the signature was checked, and
 * an event is acknowledged only once it is durable.
 */
export function createPipeline(config: PipelineConfig) {
  const { inbox, events, telemetry, clock } = config;
  const bodies = createHeldBodies({ hasRoom: inbox.hasRoom, maxBodies: config.maxQueued.events });
  const collectBody = createBodyCollector(bodies, config);
  const verifier = createVerifier(bodies, config);

  /** Never rejects. @returns null when the client is gone and cannot be answered */
  async function handle(request: DeliveryRequest): Promise<DeliveryResponse | null> {
    let observed: ObservedDelivery | null = null;
    try {
      const { headers } = request;
      observed = telemetry === null ? null : telemetry.receive(headers);

      // 1. Refuse what can be refused without the body: method, encoding, a receiver that does not run, no room.
      const early = refuseEarly(request);
      if (early !== null) return refuse(early, observed);

      // 2. Read the body. Without a well-formed signature the answer is 401, so its bytes are not kept and no secret is looked up.
      const signature = parseSignatureHeader(headerValue(headers, SIGNATURE));
      const collected = await collectBody(request, signature.ok);
      // It has arrived. From here on the verifier counts it while it waits, then the inbox.
      bodies.release(request);
      if (!collected.ok) {
        if (collected.reason !== "client_gone") return refuse({ code: collected.reason }, observed);
        observed?.end("client_gone");
        return null;
      }
      if (!signature.ok) return refuse({ code: signature.reason }, observed);

      // 3. `take` it, within the deadline. After a late answer it goes on and may store the event, so the sender's retry is a
      // duplicate; a late refusal is dropped.
      const received: ReceivedDelivery = { at: clock.now(), headers: keptHeaders(headers) };
      if (observed !== null && observed.traceParent !== null) received.traceParent = observed.traceParent;
      const taken = take({ signature, body: collected.bytes, receivedAt: received.at }, received, observed);
      const outcome = await withDeadline(taken, clock, config.ackTimeoutMs, LATE);
      return "code" in outcome ? refuse(outcome, observed) : outcome;
    } catch (cause) {
      // The event might not be durable. The sender tries again after any other error too.
      bodies.release(request);
      return refuse({ code: "store_unavailable", cause }, observed);
    }
  }

  async function take(
    delivery: SignedDelivery,
    received: ReceivedDelivery,
    observed: ObservedDelivery | null,
  ): Promise<DeliveryResponse | Refusal> {
    // 4. Verify the signature over the raw bytes. This may wait for a secret.
    const verdict = verifier.verify(delivery);
    const refusal = verdict instanceof Promise ? await verdict : verdict;
    if (refusal !== null) return refusal;

    // 5. Parse. Unusable bytes get their hash as id: under the id in them, a later valid event with it would count as a duplicate.
    const { body } = delivery;
    const parsed = parseEvent(body);
    const isUnusable = parsed.kind === "unusable";
    const eventId = isUnusable ? `sha256:${hash("sha256", body, "hex")}` : parsed.event.id;
    const type = isUnusable ? "" : parsed.event.type;
    const reference = referenceTo(config.endpoint, { eventId, type });

    // 6. Answer a challenge. Nothing is stored.
    if (parsed.kind === "known" && parsed.event.type === "webhook.verification") {
      observed?.end("verified", eventId);
      events.emit("verified", reference);
      return acknowledge({ challenge: parsed.event.data.challenge });
    }

    // 7. Store the event. The receiver may have been closed, or its queue filled, while the secrets were looked up.
    const unavailable = config.unavailable();
    if (unavailable !== null) return { code: unavailable };
    if (!bodies.makeRoom(body.byteLength)) return OVERLOADED;
    const disposition = dispositionOf(parsed);
    const facts = isUnusable ? NO_FACTS : signalFacts(parsed.event);
    const acceptance = await inbox.accept({ eventId, type, disposition, facts, received, body });

    // 8. It is durable, or a duplicate of an event that is. Acknowledge it.
    if (acceptance.status === "duplicate") {
      const kind = acceptance.sameBody ? "duplicate" : "conflict";
      observed?.end(kind, eventId);
      events.emit(kind, reference);
      return acknowledge({ received: true, [isUnusable ? "quarantined" : "duplicate"]: true });
    }
    if (disposition.kind === "quarantine") {
      observed?.end("quarantined", eventId);
      events.emit("quarantined", { ...reference, reason: disposition.reason });
      return isUnusable ? acknowledge({ received: true, quarantined: true }) : acknowledgeNew();
    }
    observed?.end("accepted", eventId);
    events.emit("accepted", reference);
    return acknowledgeNew();
  }

  function refuseEarly({ method, headers }: DeliveryRequest): Refusal | null {
    if (method !== "POST") return { code: "method_not_allowed" };
    const encoding = headerValue(headers, "content-encoding")?.trim().toLowerCase() ?? "";
    if (encoding !== "" && encoding !== "identity") return { code: "encoding_unsupported" };
    const unavailable = config.unavailable();
    if (unavailable !== null) return { code: unavailable };
    const length = Number(headerValue(headers, "content-length") ?? 0);
    // A length over the limit counts as 0: `collectBody` refuses that body, with a code that stops the sender's retries.
    return inbox.hasRoom(length <= config.bodyLimitBytes ? length : 0) ? null : OVERLOADED;
  }

  /** What is done with an authentic event: it is handed off, or only kept, or quarantined. */
  function dispositionOf(parsed: ParsedEvent): AcceptedInput["disposition"] {
    if (parsed.kind === "unusable") {
      const { reason, path } = parsed;
      return { kind: "quarantine", reason: path === undefined ? reason : `${reason}: ${path}` };
    }
    // An event of an unknown type stays stored until a user replays it with a version of signalbox that knows its type.
    if (parsed.kind === "unknown") return { kind: "quarantine", reason: "unknown_type" };
    const hasCallback = parsed.event.type === "signal.published" || config.onTest !== null;
    return hasCallback ? { kind: "handOff", parsed: parsed.event } : { kind: "keep" };
  }

  function refuse(refusal: Refusal, observed: ObservedDelivery | null): DeliveryResponse {
    const { code } = refusal;
    observed?.end(code);
    // The user can remove the reason of these.
    if ("cause" in refusal || code === "body_unavailable") config.onTrouble(code, refusal.cause ?? null);
    const { requestId, ...response } = reject(code);
    events.emit("rejected", { code, status: response.status, requestId });
    return response;
  }

  return { handle, endWaits: verifier.close };
}

function keptHeaders(headers: DeliveryRequest["headers"]): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of KEPT_HEADERS) {
    const value = headerValue(headers, name);
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}
