import type { EmulatorCore } from "../../instance/core.js";

export type FaultKind = "status" | "latency" | "cut_body" | "reset" | "duplicate" | "reorder";

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
export type AppliedFaults = ReadonlyMap<FaultKind, number | null>;

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
