import { LIMITS } from "../../api/limits.js";
import { type AllowedValues, listOfSeconds, numberFrom, oneOf, TRUE_OR_FALSE, wholeNumber } from "./allowed-values.js";

/** A behaviour that the service's document does not define and that a user can change. */
export interface Assumption<Value> {
  default: Value;
  allowed: AllowedValues<Value>;
  about: string;
  /** Why the default is as it is. */
  reason: string;
}

const assume = <Value>(assumption: Assumption<Value>): Assumption<Value> => assumption;

/** A signal is sent within a day, so a longer wait between two attempts has no effect. */
const DAY_SECONDS = 86_400;
const LONGEST_STAGE_SECONDS = 30 * DAY_SECONDS;

/**
 * The behaviours that the service's document does not define and that a user could want to test with another value. Change one
 * with `createEmulator({ assumptions: { name: value } })` or `signalbox emulator --assume name=value`.
 * `fixed-assumptions.ts` has those that cannot be changed.
 */
export const ASSUMPTIONS = {
  deliveryTimeoutMs: assume<number>({
    default: 10_000,
    allowed: wholeNumber(1, 600_000),
    about:
      "How long, in real time, the emulator waits for the answer to a delivery. While the clock is advanced, it waits 500 ms for an endpoint that timed out before.",
    reason: "Senders of webhooks commonly wait between 5 and 30 seconds.",
  }),
  unknownNames: assume<"not_found" | "empty">({
    default: "not_found",
    allowed: oneOf("not_found", "empty"),
    about: "Whether a category, market or keyword_id that does not exist is answered with 404 or with an empty result.",
    reason:
      "The document lists 404 for both research operations, and only an unknown category, market or keyword_id can cause it.",
  }),
  queuedSeconds: assume<number>({
    default: 20,
    allowed: numberFrom(0, LONGEST_STAGE_SECONDS),
    about: "How long an investigation is queued before it runs.",
    reason: "A client that polls once a minute sees the status running at its first poll.",
  }),
  investigatingSeconds: assume<number>({
    default: 240,
    allowed: numberFrom(0, LONGEST_STAGE_SECONDS),
    about: "How long an investigation stays in the stage investigating, with the status running.",
    reason: "A client that polls once a minute sees every stage.",
  }),
  generatingReportSeconds: assume<number>({
    default: 80,
    allowed: numberFrom(0, LONGEST_STAGE_SECONDS),
    about:
      "How long an investigation stays in the stage generating_report, with the status running. After that it is complete.",
    reason: "A client that polls once a minute sees every stage.",
  }),
  fourthInvestigationStatus: assume<429 | 409>({
    default: 429,
    allowed: oneOf(429, 409),
    about:
      "The HTTP status of the answer to a start while the account has three active investigations. The code is ACTIVE_INVESTIGATIONS_EXCEEDED.",
    reason: "It is a limit of the account. The document uses 409 only for the idempotency key.",
  }),
  investigationsPerMonth: assume<number>({
    default: 0,
    allowed: wholeNumber(0, 1_000_000),
    about:
      "How many investigations an account can start in a UTC month. Further starts get the 429 of a quota. 0: no limit.",
    reason: "The document says that a start uses the research allowance, but not how large the allowance is.",
  }),
  quotaHeadersOnEveryAnswer: assume<boolean>({
    default: true,
    allowed: TRUE_OR_FALSE,
    about:
      "Whether Developer Access gets the quota headers with every answer to its keys, or only with the 429 of the quota.",
    reason: "A client then knows how many calls are left before the quota is used up.",
  }),
  developerTotals: assume<"reachable" | "all">({
    default: "reachable",
    allowed: oneOf("reachable", "all"),
    about: "Whether total, total_pages and has_more count only the rows that Developer Access can get, or all rows.",
    reason: "Otherwise a client would ask for a second page that it cannot get.",
  }),
  rateLimitRetryAfter: assume<boolean>({
    default: true,
    allowed: TRUE_OR_FALSE,
    about: "Whether a 429 of the request rate has a Retry-After, in seconds.",
    reason: "The document tells clients to inspect the headers. Retry-After is the usual header for this.",
  }),
  allowLoopbackHttp: assume<boolean>({
    default: false,
    allowed: TRUE_OR_FALSE,
    about: "Whether endpoints can be on loopback addresses of this machine, also with plain HTTP.",
    reason: "The document requires HTTPS, but a receiver under development usually listens on plain HTTP.",
  }),
  retrySeconds: assume<string>({
    default: "10,60,300,1800,7200,21600,43200",
    allowed: listOfSeconds(DAY_SECONDS),
    about:
      "The seconds to wait after the first failed attempt, after the second, and so on. The end of the list ends the attempts.",
    reason:
      "The first retries are quick, the later ones slow, and all are within the 24 hours in which a signal can be sent.",
  }),
  deliveriesInFlight: assume<number>({
    default: 4,
    allowed: wholeNumber(1, 100),
    about: "How many deliveries are sent to one registration at the same time.",
    reason: "One slow answer does not delay all other deliveries, and a small receiver is not overloaded.",
  }),
  pauseAfterFailures: assume<number>({
    default: 20,
    allowed: wholeNumber(1, 1_000_000),
    about: "The failure count at which an active registration is paused. Every 2xx answer sets the count to 0.",
    reason: "With the default of retrySeconds one event has 8 attempts, so it cannot pause a registration alone.",
  }),
  unverifiedBecome: assume<"pending" | "deleted">({
    default: "pending",
    allowed: oneOf("pending", "deleted"),
    about: "The status of a registration after the last attempt at its verification has failed.",
    reason: "A person can fix the receiver and have the verification sent again.",
  }),
  longestRetryAfterSeconds: assume<number>({
    default: 3600,
    allowed: numberFrom(0, DAY_SECONDS),
    about: "The longest wait that a receiver can ask for with Retry-After in a 429 or 503. 0: the header is ignored.",
    reason: "A receiver knows best when it is ready again, but it cannot delay a retry for days.",
  }),
  redeliversOldSignals: assume<boolean>({
    default: false,
    allowed: TRUE_OR_FALSE,
    about: "Whether a signal can be redelivered more than 24 hours after it was published.",
    reason: "The document says that a signal is never backfilled after 24 hours.",
  }),
  signatureClock: assume<"service" | "machine">({
    default: "service",
    allowed: oneOf("service", "machine"),
    about: "Whether the time in signatures is that of the emulator's clock or of the machine's clock.",
    reason: `All other times are by the emulator's clock. A receiver that uses the machine's clock refuses signatures that are off by more than ${LIMITS.signatureAgeSeconds} seconds.`,
  }),
  firstSignalId: assume<number>({
    default: 880_001,
    allowed: wholeNumber(1, 1_000_000_000),
    about: "The id of the first signal. Each later signal has the next number.",
    reason: "The document says only that the id is an integer.",
  }),
  monthObservedOnDay: assume<number>({
    default: 2,
    allowed: wholeNumber(1, 28),
    about: "On which day of a month, at 06:00 UTC, the month before is observed and its signals are published.",
    reason: "Traffic data of a month are complete a few days into the next month.",
  }),
  minutesBetweenSignalTypes: assume<number>({
    default: 10,
    allowed: numberFrom(0, 720),
    about:
      "When a month was observed, its signals are published one type after another. This is the number of minutes between two types.",
    reason: "Publishing takes hours rather than a moment. With 0, all signals are published at the same time.",
  }),
} as const satisfies Record<string, Assumption<unknown>>;

/** The value of each assumption. */
export type Assumptions = { [Name in keyof typeof ASSUMPTIONS]: (typeof ASSUMPTIONS)[Name]["default"] };
