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
  /** Why this receiver takes nothing now: it is closing, or it has not started. A failing store is noticed only by `accept`. */
  unavailable: () => "closing" | "store_unavailable" | null;
  /** Called for a refusal that the operator should look into; `cause` is null when no error caused it. */
  onTrouble: (code: RejectionCode, cause: unknown) => void;
}

/**
 * The path of one delivery, from top to bottom: `handle`, then `verifyAndStore`. The body is decoded only after its signature was
 * checked, and an event is acknowledged only once it is durable.
 */
export function createPipeline(config: PipelineConfig) {
  const { inbox, events, telemetry, clock } = config;
  const bodies = createHeldBodies({ hasRoom: inbox.hasRoom, maxBodies: config.maxQueued.events });
  const collectBody = createBodyCollector(bodies, config);
  const verifier = createVerifier(bodies, config);

  /** Never rejects: the hooks and listeners that it calls do not throw. @returns null when the client is gone */
  async function handle(request: DeliveryRequest): Promise<DeliveryResponse | null> {
    let observed: ObservedDelivery | null = null;
    try {
      const { headers } = request;
      observed = telemetry === null ? null : telemetry.receive(headers);

      // 1. Refuse what can be refused without the body: method, encoding, a receiver that does not run, no room.
      const early = refuseEarly(request);
      if (early !== null) return refuse(early, observed);

      // 2. Read the body. Without a well-formed signature it is read too, since a client that still sends would not see the answer.
      // But its bytes are not kept, and no secret is looked up. A problem of the body is answered first, then 401.
      const signature = parseSignatureHeader(headerValue(headers, SIGNATURE));
      const collected = await collectBody(request, signature.ok);
      // The body does not arrive any more, so its memory is no longer counted here: the verifier counts it while it waits for a
      // secret, and the inbox from `accept` on.
      bodies.release(request);
      if (!collected.ok) {
        if (collected.reason !== "client_gone") return refuse({ code: collected.reason }, observed);
        observed?.end("client_gone");
        return null;
      }
      if (!signature.ok) return refuse({ code: signature.reason }, observed);

      // 3. Verify and store it, within the deadline. After the deadline the sender gets `ack_timeout`, but the work goes on. If it
      // stores the event, `accepted` follows `rejected`, and the sender's retry is a duplicate. A late refusal or error is dropped.
      const received: ReceivedDelivery = { at: clock.now(), headers: keptHeaders(headers) };
      if (observed !== null && observed.traceParent !== null) received.traceParent = observed.traceParent;
      const delivery = { signature, body: collected.bytes, receivedAt: received.at };
      const stored = verifyAndStore(delivery, received, observed);
      const outcome = await withDeadline(stored, clock, config.ackTimeoutMs, LATE);
      return "code" in outcome ? refuse(outcome, observed) : outcome;
    } catch (cause) {
      // Usually a failed commit: the event might not be durable. With 503 the sender tries again, also after any other error.
      bodies.release(request);
      return refuse({ code: "store_unavailable", cause }, observed);
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

    // 5. Parse. Unusable bytes get their hash as id. If they got the id that they contain, a later valid event with that id would
    // count as a duplicate. The body is read only now: an eviction during the wait for a secret has replaced it.
    const { body } = delivery;
    const parsed = parseEvent(body);
    const isUnusable = parsed.kind === "unusable";
    const eventId = isUnusable ? `sha256:${hash("sha256", body, "hex")}` : parsed.event.id;
    const type = isUnusable ? "" : parsed.event.type;
    const reference = referenceTo(config.endpoint, { eventId, type });

    // 6. Answer a challenge, also while the receiver closes. Nothing is stored.
    if (parsed.kind === "known" && parsed.event.type === "webhook.verification") {
      observed?.end("verified", eventId);
      events.emit("verified", reference);
      return acknowledge({ challenge: parsed.event.data.challenge });
    }

    // 7. Store the event. The receiver may have been closed, or its queue filled, while the body arrived or the secrets were looked
    // up. `makeRoom` may evict bodies that still arrive. It reserves nothing, so no `await` comes between it and `accept`.
    const unavailable = config.unavailable();
    if (unavailable !== null) return { code: unavailable };
    if (!bodies.makeRoom(body.byteLength)) return OVERLOADED;
    const disposition = dispositionOf(parsed);
    const facts = isUnusable ? NO_FACTS : signalFacts(parsed.event);
    const acceptance = await inbox.accept({ eventId, type, disposition, facts, received, body });

    // 8. It is durable, or its id was stored before, so that a retry would change nothing. The store has compared the bodies.
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
    // For a length over the limit the number of events alone is checked here. `collectBody` then refuses the body, with a code
    // that stops the sender's retries.
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
    // The operator can remove the reason of these: a refusal with a cause, or a body that another parser consumed.
    if ("cause" in refusal || code === "body_unavailable") config.onTrouble(code, refusal.cause ?? null);
    const { requestId, ...response } = reject(code);
    events.emit("rejected", { code, status: response.status, requestId });
    return response;
  }

  return { handle, endWaits: verifier.endWaits };
}

function keptHeaders(headers: DeliveryRequest["headers"]): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of KEPT_HEADERS) {
    const value = headerValue(headers, name);
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}
