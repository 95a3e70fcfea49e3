import type { Tier } from "./access.js";

const requestsPerWindow: Readonly<Record<Tier, number>> = { developer: 120, pro: 120, enterprise: 120 };

/** The service's limits (service document, Limits). The limits of single parameters are in their schemas. */
export const LIMITS = {
  /** Requests of one key in `requestWindowSeconds`, free operations included. */
  requestsPerWindow,
  requestWindowSeconds: 60,
  /** Counted calls of a Developer Access account in a UTC month, over all of its keys, REST and MCP together. */
  developerCallsPerMonth: 50,
  developerRows: 10,
  developerHistoryMonths: 1,
  developerSectorOptions: 5,
  /** Per account. */
  activeInvestigations: 3,
  /** Per account and day. */
  registrationsPerDay: 10,
  /** Per account in a rolling 24 hours. */
  signalsPerDay: 1000,
  /** A signal that is delayed for longer is not sent. */
  signalDelayHours: 24,
  /** The largest difference between a signature's timestamp and the receiver's clock. */
  signatureAgeSeconds: 300,
  pollAfterSeconds: 60,
} as const;
