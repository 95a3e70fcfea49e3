import { NO_FACTS, signalFacts } from "../inbox/signal-facts.js";
import { hash } from "node:crypto";
import { parseEvent, type ParsedEvent } from "../events/parse-event.js";
import type { Acceptance, AcceptedInput, RunningInbox } from "../inbox/inbox.js";
import type { ReceivedDelivery } from "../inbox/stored-events.js";
import { parseSignatureHeader, SIGNATURE_HEADER, type ParsedSignature } from "../signature/header.js";
import { verifyParsedSignature, type Verification } from "../signature/verify.js";
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
import type { RejectionCode } from "./rejection.js";
import type { ObservedDelivery, SafeTelemetry } from "./telemetry.js";
import { createSecretWait, type LateVerification } from "./secret-wait.js";

const SIGNATURE = SIGNATURE_HEADER.toLowerCase();
const KEPT_HEADERS = ["content-type", "user-agent", SIGNATURE] as const;

export interface PipelineConfig extends Omit<ReceiverConfig, "telemetry"> {
  inbox: RunningInbox;
  events: ReceiverEvents;
  telemetry: SafeTelemetry | null;
  /** Why deliveries are refused now; null when they are accepted. */
  unavailable: () => "closing" | "store_unavailable" | null;
  /** Called for a refusal whose reason the user can remove; `cause` is null when no error caused it. */
  onTrouble: (code: RejectionCode, cause: unknown) => void;
}

export interface Pipeline {
  /** @returns null when the client is gone and cannot be answered. Never rejects. */
  handle(request: DeliveryRequest): Promise<DeliveryResponse | null>;
  /** Ends the waits of deliveries for their secret. */
  close(): void;
}

/**
 * The path of one delivery: bytes → verify → parse → challenge or inbox → answer. Bytes are decoded only after the signature
 * was checked, and a 2xx answer is sent only after its event is durable.
 */
export function createPipeline(config: PipelineConfig): Pipeline {
  const { inbox, events, telemetry, clock, secrets } = config;
  const bodies = createHeldBodies({ hasRoom: inbox.hasRoom, maxBodies: config.maxQueued.events });
  const collectBody = createBodyCollector({ ...config, bodies });
  const secretWait = createSecretWait({ secrets, waitMs: config.secretWaitMs, clock });

  async function handle(request: DeliveryRequest): Promise<DeliveryResponse | null> {
    let observed: ObservedDelivery | null = null;
    try {
      if (telemetry !== null) observed = telemetry.receive(request.headers);
      const early = refuseWithoutBody(request);
      if (early !== null) return answer(early, observed);

      // Without a well-formed signature header the answer is 401, so no byte is kept and no secret is looked up.
      const signature = parseSignatureHeader(headerValue(request.headers, SIGNATURE));
      const collected = await collectBody(request, signature.ok);
      bodies.release(request);
      if (!collected.ok) {
        if (collected.reason !== "client_gone") return answer({ code: collected.reason }, observed);
        observed?.end("client_gone");
        return null;
      }
      if (!signature.ok) return answer({ code: signature.reason }, observed);

      const received: ReceivedDelivery = { at: clock.now(), headers: keptHeaders(request.headers) };
      if (observed !== null && observed.traceParent !== null) received.traceParent = observed.traceParent;
      const outcome = verifyAndTake({ received, signature, body: collected.bytes, observed });
      return answer(await withDeadline(outcome, clock, config.ackTimeoutMs, LATE), observed);
    } catch (cause) {
      bodies.release(request);
      return answer({ code: "store_unavailable", cause }, observed);
    }
  }

  function refuseWithoutBody({ method, headers }: DeliveryRequest): Refusal | null {
    if (method !== "POST") return { code: "method_not_allowed" };
    const encoding = headerValue(headers, "content-encoding")?.trim().toLowerCase() ?? "";
    if (encoding !== "" && encoding !== "identity") return { code: "encoding_unsupported" };
    const unavailable = config.unavailable();
    if (unavailable !== null) return { code: unavailable };
    const length = Number(headerValue(headers, "content-length") ?? 0);
    // A body that is too large is refused by `collectBody` instead, since `body_too_large` stops the sender's retries.
    return inbox.hasRoom(length <= config.bodyLimitBytes ? length : 0) ? null : OVERLOADED;
  }

  async function verifyAndTake(delivery: ReadDelivery): Promise<Outcome> {
    let verification: LateVerification | null;
    try {
      const outcome = verifyWithSecrets(delivery);
      verification = outcome instanceof Promise ? await outcome : outcome;
    } catch (cause) {
      return { code: "secret_unavailable", cause };
    }
    if (verification === null) return OVERLOADED;
    if (verification.ok) return take(delivery);
    const { reason: code } = verification;
    return code === "secret_unavailable" ? { code, cause: secrets.missing() } : { code };
  }

  /**
   * Returns a promise only when it must wait, because a promise would slow down each delivery.
   *
   * @returns null when the body was evicted while the delivery waited
   * @throws what the source of secrets throws
   */
  function verifyWithSecrets(delivery: ReadDelivery): MaybePromise<LateVerification | null> {
    const known = secrets.lookUp();
    if (!(known instanceof Promise)) return verifyOrWait(delivery, known);
    return whileHeld(delivery, known).then((found) => (found === null ? null : verifyOrWait(delivery, found)));
  }

  function verifyOrWait(delivery: ReadDelivery, known: readonly string[]): MaybePromise<LateVerification | null> {
    const verification = verify(delivery, known);
    if (verification.ok || verification.reason !== "signature_mismatch") return verification;
    if (!secretWait.canHelp(known)) return verification;
    const wait = secretWait.begin(known, (later) => verify(delivery, later));
    return whileHeld(delivery, wait.verification, wait.giveUp);
  }

  /** The age of a signature is measured at arrival, so that a slow lookup does not make it stale. */
  function verify({ received, signature, body }: ReadDelivery, known: readonly string[]): Verification {
    const { toleranceSeconds } = config;
    return verifyParsedSignature(signature, { body, secrets: known, toleranceSeconds, now: received.at });
  }

  /** Holds the delivery's body until the value is known. Resolves with null if the body is evicted before. */
  function whileHeld<Value>(
    delivery: ReadDelivery,
    value: Promise<Value>,
    onEvict?: () => void,
  ): Promise<Value | null> {
    return new Promise((resolve, fail) => {
      const evict = (): void => {
        // The value may stay pending, and its promise keeps the delivery in memory, so the bytes are released here.
        delivery.body = NO_BYTES;
        onEvict?.();
        resolve(null);
      };
      if (!bodies.hold(delivery, delivery.body.byteLength, evict)) evict();
      value.finally(() => bodies.release(delivery)).then(resolve, fail);
    });
  }

  async function take({ received, body, observed }: ReadDelivery): Promise<Outcome> {
    const parsed = parseEvent(body);
    const { id: eventId, type } = parsed.kind === "unusable" ? anonymous(body) : parsed.event;
    const reference = referenceTo(config.endpoint, { eventId, type });
    if (parsed.kind === "known" && parsed.event.type === "webhook.verification") {
      events.emit("verified", reference);
      observed?.end("verified", eventId);
      return acknowledge({ challenge: parsed.event.data.challenge });
    }

    // The receiver may have been closed while the secrets were looked up.
    const unavailable = config.unavailable();
    if (unavailable !== null) return { code: unavailable };
    if (!bodies.makeRoom(body.byteLength)) return OVERLOADED;

    const fate = fateOf(parsed);
    const facts = parsed.kind === "unusable" ? NO_FACTS : signalFacts(parsed.event);
    let acceptance: Acceptance;
    try {
      acceptance = await inbox.accept({ eventId, type, fate, facts, received, body });
    } catch (cause) {
      return { code: "store_unavailable", cause };
    }

    const isUnusable = parsed.kind === "unusable";
    if (acceptance.status === "duplicate") {
      const kind = acceptance.sameBody ? "duplicate" : "conflict";
      events.emit(kind, reference);
      observed?.end(kind, eventId);
      return acknowledge({ received: true, [isUnusable ? "quarantined" : "duplicate"]: true });
    }
    observed?.end(fate.kind === "quarantine" ? "quarantined" : "accepted", eventId);
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
    // It stays stored until a user replays it with a version of signalbox that knows its type.
    if (parsed.kind === "unknown") return { kind: "quarantine", reason: "unknown_type" };
    const hasCallback = parsed.event.type === "signal.published" || config.onTest !== null;
    return hasCallback ? { kind: "handOff", parsed: parsed.event } : { kind: "keep" };
  }

  function answer(outcome: Outcome, observed: ObservedDelivery | null): DeliveryResponse {
    if (!("code" in outcome)) return outcome;
    const { code } = outcome;
    observed?.end(code);
    if ("cause" in outcome || code === "body_unavailable") config.onTrouble(code, outcome.cause ?? null);
    const { requestId, ...response } = reject(code);
    events.emit("rejected", { code, status: response.status, requestId });
    return response;
  }

  return { handle, close: secretWait.close };
}

type MaybePromise<Value> = Value | Promise<Value>;

type Outcome = DeliveryResponse | Refusal;

/** A refusal. `cause` is set when the user can remove the reason for it. */
interface Refusal {
  code: RejectionCode;
  cause?: unknown;
}

const OVERLOADED: Refusal = { code: "overloaded" };

/** The answer after `ackTimeoutMs`. The event may still be stored after it, and the sender's retry is then a duplicate. */
const LATE: Refusal = { code: "ack_timeout" };

/** A delivery whose body was read. */
interface ReadDelivery {
  received: ReceivedDelivery;
  signature: ParsedSignature;
  body: Uint8Array;
  observed: ObservedDelivery | null;
}

const NO_BYTES = new Uint8Array();

/** Unusable bytes get their hash as id. Under the id that they contain, they would make a valid event a duplicate. */
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
