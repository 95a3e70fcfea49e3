import type { EmulatorCore } from "../../instance/core.js";

/** The faults that deliveries to a registration can meet on purpose. */
export const FAULT_KINDS = ["status", "latency", "cut_body", "reset", "duplicate", "reorder"] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** A fault as it is set, and as it is listed. */
export interface WebhookFault {
  registration_id: string;
  kind: FaultKind;
  /**
   * `status`: the status that replaces the real one. `latency`: milliseconds before the request is sent. `reorder`: the most
   * milliseconds for which it is held back. Null for the other kinds.
   */
  value: number | null;
  /** The number of requests that still meet it; null: all. */
  times: number | null;
}

/** The faults that one request meets, with their values. */
export type MetFaults = ReadonlyMap<FaultKind, number | null>;

/** The faults of all registrations. */
export type WebhookFaults = ReturnType<typeof createWebhookFaults>;

export function createWebhookFaults({ database }: Pick<EmulatorCore, "database">) {
  const COLUMNS = "registration_id, kind, value, remaining AS times";
  const insert = database.prepare<[WebhookFault]>(
    "INSERT OR REPLACE INTO webhook_fault VALUES (@registration_id, @kind, @value, @times)",
  );
  const remove = database.prepare<[string]>("DELETE FROM webhook_fault WHERE registration_id = ?");
  const selectAll = database.prepare<[], WebhookFault>(
    `SELECT ${COLUMNS} FROM webhook_fault ORDER BY registration_id, kind`,
  );
  const select = database.prepare<[string], WebhookFault>(
    `SELECT ${COLUMNS} FROM webhook_fault WHERE registration_id = ?`,
  );
  const countDown = database.prepare<[string]>(
    "UPDATE webhook_fault SET remaining = remaining - 1 WHERE registration_id = ? AND remaining IS NOT NULL",
  );
  const removeSpent = database.prepare<[string]>(
    "DELETE FROM webhook_fault WHERE registration_id = ? AND remaining <= 0",
  );

  return {
    /** Replaces one of the same kind. */
    set: (fault: WebhookFault) => void insert.run(fault),
    list: (registrationId?: string) => (registrationId === undefined ? selectAll.all() : select.all(registrationId)),
    clear: (registrationId: string) => void remove.run(registrationId),
    /** The faults that the next request of a registration meets; counts the request. */
    meet(registrationId: string): MetFaults {
      const faults = select.all(registrationId);
      if (faults.some(({ times }) => times !== null)) {
        countDown.run(registrationId);
        removeSpent.run(registrationId);
      }
      return new Map(faults.map(({ kind, value }) => [kind, value]));
    },
  };
}
