import type { ServiceLocale } from "../../../contract/shared-schemas.js";
import type {
  RegistrationStatus,
  WebhookRegistration,
} from "../../../contract/webhook-registration.js";
import type { Database } from "../../database/database.js";
import type { EmulatorCore } from "../../instance/core.js";
import { dateTime } from "../../time/emulator-clock.js";

/** A registration as it is stored. */
export interface RegistrationRow {
  registration_id: string;
  account_id: number;
  url: string;
  status: RegistrationStatus;
  locale: ServiceLocale;
  /** A JSON array. */
  signal_types: string;
  failure_count: number;
  secret: string;
  challenge: string;
  created_at: number;
  updated_at: number;
}

export const findRegistration = (database: Database, id: string): RegistrationRow | undefined =>
  database.row("SELECT * FROM registration WHERE registration_id = ?", id);

/** Stores what has changed. @returns the new row */
export function changeRegistration(
  { database, clock }: EmulatorCore,
  before: RegistrationRow,
  changes: Partial<RegistrationRow>,
): RegistrationRow {
  const changed = { ...changes, updated_at: clock.now() };
  const columns = Object.keys(changed).map((name) => `${name} = @${name}`);
  const row = { ...before, ...changed };
  const sql = `UPDATE registration SET ${columns.join(", ")} WHERE registration_id = @registration_id`;
  database.run(sql, row);
  return row;
}

/** Cancels the waiting deliveries to a registration, or only its verifications. */
export function cancelWaiting(database: Database, id: string, onlyVerifications = false): void {
  const which = onlyVerifications ? " AND event_type = 'webhook.verification'" : "";
  database.run(
    `UPDATE delivery SET state = 'cancelled' WHERE registration_id = ? AND state = 'waiting'${which}`,
    id,
  );
}

/** Returns a registration's url without the query, which may hold a secret, for logs and events. */
export function shownEndpoint(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/**
 * Returns a registration as the API shows it (service document, Signal webhook registration),
 * without its secret.
 */
export function webhookRegistration(row: RegistrationRow): WebhookRegistration {
  return {
    id: row.registration_id,
    url: row.url,
    status: row.status,
    locale: row.locale,
    signal_types: JSON.parse(row.signal_types) as string[],
    failure_count: row.failure_count,
    created_at: dateTime(row.created_at),
    updated_at: dateTime(row.updated_at),
  };
}
