import { systemClock } from "../../../time/clock.js";
import type { RequestOutcome, SendRequest, WebhookRequest } from "../transport/send-request.js";
import type { FaultKind, MetFaults } from "./webhook-faults.js";

/** One request that was sent, as it is stored. */
export interface SentRequest {
  request: WebhookRequest;
  /** The real answer, or why there was none. */
  outcome: RequestOutcome;
  /** In the service's time, milliseconds since 1970. */
  startedAt: number;
  /** In real time. */
  durationMs: number;
  faults: readonly { kind: FaultKind; value: number | null }[];
}

/** One attempt of a delivery. */
export interface SentDelivery {
  /** Two if the fault `duplicate` was met. */
  requests: readonly SentRequest[];
  /** The outcome that counts: the fault `status` changes it. */
  outcome: RequestOutcome;
}

/** Sends a delivery with the faults that it meets; null when the registration gets no deliveries any more. */
export type SendWithFaults = (given: {
  registrationId: string;
  faults: MetFaults;
  /** Called right before the request is sent, since the signature has the time of that moment. Null: nothing is sent. */
  sign: () => { request: WebhookRequest; startedAt: number } | null;
  /** Called with the wait of a delivery that is held back: other deliveries are sent meanwhile. */
  yieldSlot: (wait: () => Promise<void>) => Promise<void>;
  signal: AbortSignal;
}) => Promise<SentDelivery | null>;

/** For a `reorder` without a value. */
const HELD_BACK_MS = 2000;

export function createFaultySender(send: SendRequest): SendWithFaults {
  /**
   * The deliveries that `reorder` holds back, by registration. There is one for each registration at most: the others
   * overtake it, and then it is released.
   */
  const heldBack = new Map<string, AbortController>();

  async function holdBack(registrationId: string, atMostMs: number, signal: AbortSignal): Promise<void> {
    const released = new AbortController();
    heldBack.set(registrationId, released);
    await pause(atMostMs, AbortSignal.any([signal, released.signal]));
    heldBack.delete(registrationId);
  }

  return async ({ registrationId, faults, sign, yieldSlot, signal }) => {
    if (faults.has("reorder") && !heldBack.has(registrationId)) {
      const atMostMs = faults.get("reorder") ?? HELD_BACK_MS;
      await yieldSlot(() => holdBack(registrationId, atMostMs, signal));
    }
    const latencyMs = faults.get("latency") ?? 0;
    if (latencyMs > 0) await pause(latencyMs, signal);

    const breaksOff = (["reset", "cut_body"] as const).find((kind) => faults.has(kind));
    const signed = sign();
    if (signed === null) return null;
    const { startedAt } = signed;
    const request: WebhookRequest = { ...signed.request, breaksOff };
    const met = [...faults].map(([kind, value]) => ({ kind, value }));
    const began = performance.now();
    const sendOne = async (): Promise<SentRequest> => {
      const outcome = await send(request, signal);
      return { request, outcome, startedAt, durationMs: performance.now() - began, faults: met };
    };
    const first = sendOne();
    const requests = await Promise.all(faults.has("duplicate") ? [first, sendOne()] : [first]);
    heldBack.get(registrationId)?.abort();
    const { outcome } = await first;
    const status = faults.get("status") ?? null;
    return { requests, outcome: status === null || "failure" in outcome ? outcome : { ...outcome, status } };
  };
}

/** Waits in real time, unless `signal` aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    function end(): void {
      timer.cancel();
      signal.removeEventListener("abort", end);
      resolve();
    }
    const timer = systemClock.setTimeout(end, ms);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}
