import type { ServiceLocale } from "../../../contract/shared-schemas.js";
import type {
  RegistrationStatus,
  WebhookRegistration,
} from "../../../contract/webhook-registration.js";

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
    created_at: new Date(row.created_at).toISOString(),
    updated_at: new Date(row.updated_at).toISOString(),
  };
}
