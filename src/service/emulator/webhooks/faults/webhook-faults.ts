import { setTimeout as delay } from "node:timers/promises";
import type { EmulatorCore } from "../../instance/core.js";
import type { RequestOutcome, SendRequest, WebhookRequest } from "../transport/send-request.js";

type FaultKind = "status" | "latency" | "cut_body" | "reset" | "duplicate" | "reorder";

/** A fault for the deliveries to a registration. */
export interface WebhookFault {
  registration_id: string;
  kind: FaultKind;
  /**
   * `status`: the status that replaces the real one. `latency`: milliseconds before the request is
   * sent. `reorder`: for how many milliseconds, at most, the request is held back. Null for the
   * other kinds.
   */
  value: number | null;
  /** To how many more requests the fault is applied; null: to all. */
  times: number | null;
}

/** The faults of one request, with their values. */
type AppliedFaults = ReadonlyMap<FaultKind, number | null>;

/** The faults of all registrations. */
export type WebhookFaults = ReturnType<typeof createWebhookFaults>;

export function createWebhookFaults({ database }: Pick<EmulatorCore, "database">) {
  const insert = database.prepare<[WebhookFault]>(
    "INSERT OR REPLACE INTO webhook_fault VALUES (@registration_id, @kind, @value, @times)",
  );
  const remove = database.prepare<[string]>("DELETE FROM webhook_fault WHERE registration_id = ?");
  const select = database.prepare<[{ id: string | null }], WebhookFault>(
    `SELECT registration_id, kind, value, remaining AS times FROM webhook_fault
     WHERE @id IS NULL OR registration_id = @id ORDER BY registration_id, kind`,
  );
  const countDown = database.prepare<[string]>(
    "UPDATE webhook_fault SET remaining = remaining - 1 WHERE registration_id = ? AND remaining IS NOT NULL",
  );
  const removeSpent = database.prepare<[string]>(
    "DELETE FROM webhook_fault WHERE registration_id = ? AND remaining <= 0",
  );

  return {
    /** Replaces the registration's fault of this kind. */
    set: (fault: WebhookFault) => void insert.run(fault),
    list: (registrationId?: string) => select.all({ id: registrationId ?? null }),
    clear: (registrationId: string) => void remove.run(registrationId),
    /** Returns the faults for a registration's next request, and counts that request. */
    takeForNextRequest(registrationId: string): AppliedFaults {
      const faults = select.all({ id: registrationId });
      if (faults.some(({ times }) => times !== null)) {
        countDown.run(registrationId);
        removeSpent.run(registrationId);
      }
      return new Map(faults.map(({ kind, value }) => [kind, value]));
    },
  };
}

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
