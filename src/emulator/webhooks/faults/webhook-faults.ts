import type { EmulatorCore } from "../../instance/core.js";

/** What can go wrong on purpose on the way to a registration. */
export const FAULT_KINDS = ["status", "latency", "cut_body", "reset", "duplicate", "reorder"] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** A fault as it is set, and as it is listed. */
export interface WebhookFault {
  registration_id: string;
  kind: FaultKind;
  /**
   * `status`: what the service takes the answer for. `latency`: milliseconds before it sends. `reorder`: milliseconds after
   * which it waits for no other. Null for the rest.
   */
  value: number | null;
  /** How many more requests it is for; null for all. */
  times: number | null;
}

/** The faults that one request meets, with their values. */
export type MetFaults = ReadonlyMap<FaultKind, number | null>;

/** The faults of all registrations. */
export interface WebhookFaults {
  /** Replaces one of the same kind. */
  set(fault: WebhookFault): void;
  list(registrationId?: string): WebhookFault[];
  /** Those of a kind, or all. */
  clear(registrationId: string, kind?: FaultKind): void;
  /** What the next request of a registration meets; it is counted with that. */
  meet(registrationId: string): MetFaults;
}

export function createWebhookFaults({ database }: Pick<EmulatorCore, "database">): WebhookFaults {
  const COLUMNS = "registration_id, kind, value, remaining AS times";
  const insert = database.prepare<[WebhookFault]>(
    "INSERT OR REPLACE INTO webhook_fault VALUES (@registration_id, @kind, @value, @times)",
  );
  const remove = database.prepare<[{ id: string; kind: FaultKind | null }]>(
    "DELETE FROM webhook_fault WHERE registration_id = @id AND (@kind IS NULL OR kind = @kind)",
  );
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
    set: (fault) => void insert.run(fault),
    list: (registrationId) => (registrationId === undefined ? selectAll.all() : select.all(registrationId)),
    clear: (id, kind) => void remove.run({ id, kind: kind ?? null }),
    meet(registrationId) {
      const faults = select.all(registrationId);
      if (faults.some(({ times }) => times !== null)) {
        countDown.run(registrationId);
        removeSpent.run(registrationId);
      }
      return new Map(faults.map(({ kind, value }) => [kind, value]));
    },
  };
}
