import { createHeldBack, pause } from "./held-back.js";
import type { RequestOutcome, SendRequest, WebhookRequest } from "../transport/send-request.js";
import type { FaultKind, MetFaults } from "./webhook-faults.js";

/** One request that was made, as it is kept. */
export interface RequestFacts {
  request: WebhookRequest;
  /** What really came back. */
  outcome: RequestOutcome;
  /** In the service's time, milliseconds since 1970. */
  startedAt: number;
  /** In real time. */
  durationMs: number;
  faults: readonly { kind: FaultKind; value: number | null }[];
}

/** What came of carrying an event to a registration. */
export interface CarriedRequest {
  /** More than one when it was doubled. */
  requests: readonly RequestFacts[];
  /** What it counts as. */
  outcome: RequestOutcome;
}

/** Sends, with what goes wrong on purpose; null when there was nothing to send after all. */
export type CarryRequest = (given: {
  registrationId: string;
  faults: MetFaults;
  /** Called when it is sent: the signature is of then. Null: nothing is to be sent there any more. */
  sign: () => { request: WebhookRequest; startedAt: number } | null;
  /** Called around the time in which it is held back, since others go on meanwhile. */
  yieldSlot: (whileHeld: () => Promise<void>) => Promise<void>;
  signal: AbortSignal;
}) => Promise<CarriedRequest | null>;

/** For a `reorder` without a value. */
const HELD_BACK_MS = 2000;

export function createCarryRequest(send: SendRequest): CarryRequest {
  const heldBack = createHeldBack();

  return async ({ registrationId, faults, sign, yieldSlot, signal }) => {
    if (faults.has("reorder") && !heldBack.isHolding(registrationId)) {
      const atMostMs = faults.get("reorder") ?? HELD_BACK_MS;
      await yieldSlot(() => heldBack.hold(registrationId, atMostMs, signal));
    }
    const latencyMs = faults.get("latency") ?? 0;
    if (latencyMs > 0) await pause(latencyMs, signal);

    const breaksOff = (["reset", "cut_body"] as const).find((kind) => faults.has(kind));
    const signed = sign();
    if (signed === null) return null;
    const { request: whole, startedAt } = signed;
    const request: WebhookRequest = { ...whole, breaksOff };
    const met = [...faults].map(([kind, value]) => ({ kind, value }));
    const began = performance.now();
    const make = async (): Promise<RequestFacts> => {
      const outcome = await send(request, signal);
      return { request, outcome, startedAt, durationMs: performance.now() - began, faults: met };
    };
    const first = make();
    const requests = await Promise.all(faults.has("duplicate") ? [first, make()] : [first]);
    heldBack.wentOut(registrationId);
    const { outcome } = await first;
    const status = faults.get("status") ?? null;
    return { requests, outcome: status === null || "failure" in outcome ? outcome : { ...outcome, status } };
  };
}
