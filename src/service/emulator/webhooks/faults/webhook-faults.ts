import type { EmulatorCore } from "../../instance/core.js";
import type { RequestOutcome, WebhookRequest } from "../transport/send-request.js";

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

export function createWebhookFaults({ database }: EmulatorCore) {
  const list = (id: string | null = null) =>
    database.rows<WebhookFault>(
      `SELECT registration_id, kind, value, remaining AS times FROM webhook_fault
       WHERE @id IS NULL OR registration_id = @id ORDER BY registration_id, kind`,
      { id },
    );
  return {
    /** Replaces the registration's fault of this kind. */
    set({ times: remaining, ...fault }: WebhookFault): void {
      database.put("webhook_fault", { ...fault, remaining });
    },
    list,
    clear(registrationId: string): void {
      database.run("DELETE FROM webhook_fault WHERE registration_id = ?", registrationId);
    },
    /** Returns the faults for a registration's next request, and counts that request. */
    takeForNextRequest(registrationId: string): AppliedFaults {
      const faults = list(registrationId);
      for (const { kind, times } of faults) {
        if (times === null) continue;
        const sql =
          times > 1
            ? "UPDATE webhook_fault SET remaining = remaining - 1"
            : "DELETE FROM webhook_fault";
        database.run(`${sql} WHERE registration_id = ? AND kind = ?`, registrationId, kind);
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
