import { safely } from "../../base/errors.js";
import { withDeadline } from "../../base/time/timers.js";
import type { RefusedDelivery } from "../inbox/situation/trouble.js";
import { DEFAULT_SENDER, type ReceivedDelivery } from "../inbox/stored-events.js";
import { readable, settled } from "../senders/engine/define-sender.js";
import { headerValue, recordOf, type RequestHeaders } from "../senders/engine/headers.js";
import type { HandshakeAnswer } from "../senders/engine/sender.js";
import { createBackfill } from "./backfill.js";
import { createBodyCollector, createHeldBodies } from "./collect-body.js";
import {
  acknowledge,
  acknowledgeNew,
  answerWith,
  reject,
  type DeliveryRequest,
  type DeliveryResponse,
} from "./delivery.js";
import { storedId } from "./create-handoff.js";
import { referenceTo } from "./receiver-events.js";
import type { Trouble } from "./receiver-log.js";
import { OTHER_SENDERS, type Refusal, type RejectionCode } from "./rejection.js";
import { createEventStore, receivedBy, TENANT, type EventStoreConfig } from "./store-event.js";
import type { ObservedDelivery, TelemetryHooks } from "./telemetry.js";
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

interface ReadDelivery {
  body: Uint8Array;
  received: ReceivedDelivery;
}

export interface PipelineConfig extends EventStoreConfig {
  telemetry: TelemetryHooks | null;
  /** Called for a refusal that the operator should look into. */
  onTrouble: (trouble: Trouble) => void;
  /** Called for each refusal. */
  onRefused: (
    code: RejectionCode,
    example: () => Pick<RefusedDelivery, "address" | "eventId">,
  ) => void;
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
  const store = createEventStore(bodies, config);

  /**
   * Never rejects: the hooks and listeners that it calls do not throw. @returns null when the
   * client is gone
   */
  async function handle(request: DeliveryRequest): Promise<DeliveryResponse | null> {
    let observed: ObservedDelivery | null = null;
    try {
      const { headers } = request;
      // The path and query alone, also of an address.
      const url =
        isDefault && config.tenant === undefined
          ? undefined
          : request.url?.replace(/^[a-z]+:\/\/[^/?#]*/i, "");
      observed = telemetry === null ? null : telemetry.receive(headers);

      // 1. Refuse what can be refused without the body: method, encoding, a receiver that does not
      //    run, no room, an address of no tenant.
      const early = refuseEarly(request);
      if (early !== null) return refuse(early, observed, request);
      const tenant = findTenant(url, headers);
      if (typeof tenant !== "string") {
        // What nobody signed says nothing of a tenant: it is of a scanner.
        const unsigned = request.method === "POST" ? sender.signature(headers, url) : null;
        const refusal = unsigned?.ok === false ? { code: unsigned.reason } : tenant;
        return refuse(refusal, observed, request);
      }

      if (request.method !== "POST") {
        const query = new URLSearchParams(url?.split(/\?(.*)/s)[1]);
        const asked =
          request.method === "GET"
            ? handshake?.get?.(query, tenant)
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
      const received = receivedBy(sender, headers, clock.now());
      if (observed !== null && observed.traceParent !== null)
        received.traceParent = observed.traceParent;
      if (tenant !== "") received.tenant = tenant;
      const { at: receivedAt } = received;
      const delivery = { signature, body: collected.bytes, tenant, receivedAt, secret: "" };
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
    let refusal = verdict instanceof Promise ? await verdict : verdict;
    // The secret of the tenant may have been replaced since it was looked up.
    if (config.secrets.isByTenant && refusal?.code === "signature_mismatch")
      refusal = await verifier.verify(delivery, true);
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

  function answerHandshake(
    answer: HandshakeAnswer | "refused",
    observed: ObservedDelivery | null,
  ): DeliveryResponse | Refusal {
    if (answer === "refused") return REFUSED_HANDSHAKE;
    observed?.end("verified");
    events.emit("verified", referenceTo(config.endpoint, HANDSHAKE));
    return answerWith(answer);
  }

  /** @returns an empty text without the option `tenant` */
  function findTenant(url = "", headers: RequestHeaders): string | Refusal {
    if (config.tenant === undefined) return "";
    try {
      // `match?.[1]` is undefined where nothing matches.
      const found: unknown = settled(config.tenant({ url, headers: recordOf(headers) }));
      return typeof found === "string" && TENANT.test(found) ? found : { code: "tenant_unknown" };
    } catch (cause) {
      return { code: "tenant_unknown", cause };
    }
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
    if (reading.kind === "unusable" || reading.id === null) return null;
    return storedId(reading.id, { received, body });
  }

  return { handle, accept: createBackfill({ ...config, store }), endWaits: verifier.endWaits };
}

/** As the sender declares it; 0 if it does not. */
function lengthOf(headers: RequestHeaders): number {
  return Number(headerValue(headers, "content-length") ?? 0);
}

function isShort(length: number): boolean {
  return length > 0 && length <= LONGEST_UNSIGNED;
}
