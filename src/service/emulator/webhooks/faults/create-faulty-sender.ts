import { setTimeout as delay } from "node:timers/promises";
import type { RequestOutcome, SendRequest, WebhookRequest } from "../transport/send-request.js";
import type { AppliedFaults, FaultKind } from "./webhook-faults.js";

/** One request that was sent, as it is stored. */
export interface SentRequest {
  request: WebhookRequest;
  /** The real answer, or why there was none. */
  outcome: RequestOutcome;
  /** By the emulator's clock, in milliseconds since 1970. */
  startedAt: number;
  /** The same moment, by the machine's clock. */
  sentAt: number;
  /** In real time. */
  durationMs: number;
  faults: readonly { kind: FaultKind; value: number | null }[];
}

/** One attempt of a delivery. */
export interface SentDelivery {
  /** Two requests with the fault `duplicate`, otherwise one. */
  requests: readonly SentRequest[];
  /** The outcome of the attempt. The fault `status` changes it. */
  outcome: RequestOutcome;
}

/**
 * Sends a delivery and applies its faults. Returns null when the registration gets no more
 * deliveries.
 */
export type SendWithFaults = (given: {
  registrationId: string;
  faults: AppliedFaults;
  /**
   * Called right before the request is sent, so the signature has the time of that moment. Null:
   * nothing is sent.
   */
  sign: () => (Pick<SentRequest, "startedAt" | "sentAt"> & { request: WebhookRequest }) | null;
  /**
   * Called with the wait of a delivery that is held back. Other deliveries are sent during the
   * wait.
   */
  yieldSlot: (wait: () => Promise<void>) => Promise<void>;
  signal: AbortSignal;
}) => Promise<SentDelivery | null>;

export function createFaultySender(send: SendRequest): SendWithFaults {
  /**
   * The delivery of each registration that `reorder` holds back. It is released when a later
   * delivery was answered.
   */
  const heldBack = new Map<string, AbortController>();

  async function holdBack(
    registrationId: string,
    atMostMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    const released = new AbortController();
    heldBack.set(registrationId, released);
    await pause(atMostMs, AbortSignal.any([signal, released.signal]));
    heldBack.delete(registrationId);
  }

  return async ({ registrationId, faults, sign, yieldSlot, signal }) => {
    if (faults.has("reorder") && !heldBack.has(registrationId)) {
      await yieldSlot(() => holdBack(registrationId, faults.get("reorder") ?? 0, signal));
    }
    const latencyMs = faults.get("latency") ?? 0;
    if (latencyMs > 0) await pause(latencyMs, signal);

    const breaksOff = (["reset", "cut_body"] as const).find((kind) => faults.has(kind));
    const signed = sign();
    if (signed === null) return null;
    const { startedAt, sentAt } = signed;
    const request: WebhookRequest = { ...signed.request, breaksOff };
    const applied = [...faults].map(([kind, value]) => ({ kind, value }));
    const began = performance.now();
    const sendOne = async (): Promise<SentRequest> => {
      const outcome = await send(request, signal);
      return {
        request,
        outcome,
        startedAt,
        sentAt,
        durationMs: performance.now() - began,
        faults: applied,
      };
    };
    const first = sendOne();
    const requests = await Promise.all(faults.has("duplicate") ? [first, sendOne()] : [first]);
    heldBack.get(registrationId)?.abort();
    const { outcome } = await first;
    const status = faults.get("status") ?? null;
    return {
      requests,
      outcome: status === null || "failure" in outcome ? outcome : { ...outcome, status },
    };
  };
}

/** Waits in real time. Ends early when `signal` is aborted. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal, ref: false }).catch(() => undefined);
