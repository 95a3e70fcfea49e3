/** The service's limits (service document, Limits). Those of single parameters stand in their schemas. */
export const LIMITS = {
  /** Requests of one key in `requestWindowSeconds`; free operations count too. */
  requestsPerWindow: 120,
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
  /** A signal that is later than this is not sent any more. */
  signalDelayHours: 24,
  signatureAgeSeconds: 300,
  pollAfterSeconds: 60,
} as const;
