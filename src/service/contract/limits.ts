import type { Tier } from "./access.js";

const requestsPerWindow: Readonly<Record<Tier, number>> = {
  developer: 120,
  pro: 120,
  enterprise: 120,
};

/** The service's limits (service document, Limits). The limits of a parameter are in its schema. */
export const LIMITS = {
  /** The number of requests of one key in `requestWindowSeconds`, including free operations. */
  requestsPerWindow,
  requestWindowSeconds: 60,
  /**
   * The number of counted calls of a Developer Access account in a UTC month, by all of its keys,
   * over REST and MCP.
   */
  developerCallsPerMonth: 50,
  developerRows: 10,
  developerHistoryMonths: 1,
  developerSectorOptions: 5,
  /** The number of investigations of an account that can be queued or running. */
  activeInvestigations: 3,
  /** The number of new registrations of an account in a day. */
  registrationsPerDay: 10,
  /** The number of signal types of a registration. */
  typesPerRegistration: 30,
  /** The number of signals to an account in any 24 hours. */
  signalsPerDay: 1000,
  /** A signal that is older than this is not sent any more. */
  signalDelayHours: 24,
  /** The largest difference between a signature's timestamp and the receiver's clock. */
  signatureAgeSeconds: 300,
  pollAfterSeconds: 60,
} as const;

/**
 * The rate limit as text: one number if it is the same for all tiers, otherwise the number of each
 * tier.
 */
export function rateLimitText(): string {
  const rates = new Set(Object.values(requestsPerWindow));
  const each = Object.entries(requestsPerWindow).map(([tier, count]) => `${count} (${tier})`);
  return `${rates.size === 1 ? [...rates].join("") : each.join(", ")} requests in ${LIMITS.requestWindowSeconds} seconds`;
}
