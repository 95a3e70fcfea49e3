import { type AllowedValues, listOfSeconds, numberFrom, oneOf, TRUE_OR_FALSE, wholeNumber } from "./allowed-values.js";

/** One entry of the table below: a behaviour that a user can switch. */
export interface Assumption<Value> {
  default: Value;
  allowed: AllowedValues<Value>;
  /** What the document leaves open. */
  about: string;
  reason: string;
}

const assume = <Value>(assumption: Assumption<Value>): Assumption<Value> => assumption;

/** A signal is sent within a day, so a longer wait between two attempts has no effect. */
const DAY_SECONDS = 86_400;
const LONGEST_STAGE_SECONDS = 30 * DAY_SECONDS;

/**
 * How the emulator behaves where the service's document says "not shown", or nothing, and a user could want to test the other
 * way. Each entry is switched by `createEmulator({ assumptions: { name: value } })` or, on the command line, by
 * `signalbox emulator --assume name=value`. `fixed-assumptions.ts` has what cannot be switched.
 */
export const ASSUMPTIONS = {
  deliveryTimeoutMs: assume<number>({
    default: 10_000,
    allowed: wholeNumber(1, 600_000),
    about: "How long, in real time, a receiver may take to answer (half a second if it hung while the clock is moved).",
    reason: "Senders of webhooks commonly wait between 5 and 30 seconds.",
  }),
  unknownNames: assume<"not_found" | "empty">({
    default: "not_found",
    allowed: oneOf("not_found", "empty"),
    about: "The answer for a category, market or keyword_id that does not exist: 404, or one that found nothing.",
    reason: "Both research operations list 404, and nothing else of theirs could be missing.",
  }),
  queuedSeconds: assume<number>({
    default: 20,
    allowed: numberFrom(0, LONGEST_STAGE_SECONDS),
    about: "How long an investigation is queued before it runs.",
    reason: "A client that polls once a minute sees it run at its first poll.",
  }),
  investigatingSeconds: assume<number>({
    default: 240,
    allowed: numberFrom(0, LONGEST_STAGE_SECONDS),
    about: "How long an investigation stays in the stage investigating; its status is running then.",
    reason: "With polls a minute apart a client sees every stage.",
  }),
  generatingReportSeconds: assume<number>({
    default: 80,
    allowed: numberFrom(0, LONGEST_STAGE_SECONDS),
    about: "How long it stays in the stage generating_report; its status is running then. After it, it is complete.",
    reason: "With polls a minute apart a client sees every stage. A task that fails or is cancelled keeps its stage.",
  }),
  fourthInvestigationStatus: assume<429 | 409>({
    default: 429,
    allowed: oneOf(429, 409),
    about: "The status of a start while three investigations are active; its code is ACTIVE_INVESTIGATIONS_EXCEEDED.",
    reason: "It is a limit of the account; the document has 409 only for the idempotency key.",
  }),
  investigationsPerMonth: assume<number>({
    default: 0,
    allowed: wholeNumber(0, 1_000_000),
    about:
      "How many investigations an account may start in a UTC month; the next start gets the 429 of a quota. 0: no limit.",
    reason: "The document says that a start consumes the research allowance, and not how large it is.",
  }),
  quotaHeadersOnEveryAnswer: assume<boolean>({
    default: true,
    allowed: TRUE_OR_FALSE,
    about:
      "Whether Developer Access gets the quota headers with every answer to its keys, or only with the 429 of the quota.",
    reason: "A client can then see what is left before it is used up.",
  }),
  developerTotals: assume<"reachable" | "all">({
    default: "reachable",
    allowed: oneOf("reachable", "all"),
    about: "Whether total, total_pages and has_more count the rows that Developer Access can reach, or all there are.",
    reason: "A client asks for no second page that it cannot get.",
  }),
  rateLimitRetryAfter: assume<boolean>({
    default: true,
    allowed: TRUE_OR_FALSE,
    about: "Whether a 429 of the request rate has a Retry-After, in seconds.",
    reason: "The document tells clients to inspect the headers, and this is the common one.",
  }),
  allowLoopbackHttp: assume<boolean>({
    default: false,
    allowed: TRUE_OR_FALSE,
    about: "Whether endpoints may be plain HTTP, on loopback addresses of this machine only.",
    reason: "The document wants HTTPS; a receiver under development listens on plain HTTP.",
  }),
  retrySeconds: assume<string>({
    default: "10,60,300,1800,7200,21600,43200",
    allowed: listOfSeconds(DAY_SECONDS),
    about:
      "The seconds between a failed attempt and the next one, for each attempt; after the last attempt the delivery has failed.",
    reason: "Quick at first, then patient, and all within the 24 hours in which a signal may be sent.",
  }),
  deliveriesInFlight: assume<number>({
    default: 4,
    allowed: wholeNumber(1, 100),
    about: "How many deliveries go to one registration at once.",
    reason: "One slow answer does not delay all others, and a small receiver is not flooded.",
  }),
  pauseAfterFailures: assume<number>({
    default: 20,
    allowed: wholeNumber(1, 1_000_000),
    about: "The failure count at which an active registration is paused; every answer that is 2xx sets it to 0.",
    reason: "More than the attempts of one event, so that no single event pauses a registration.",
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
    about: "The longest delay of the next attempt by a Retry-After of the receiver, with 429 or 503; 0: it is ignored.",
    reason: "A receiver that says when it is ready is tried then, but not days later.",
  }),
  redeliversOldSignals: assume<boolean>({
    default: false,
    allowed: TRUE_OR_FALSE,
    about: "Whether a person can have a signal sent again that was published more than 24 hours ago.",
    reason: "A signal is never backfilled after 24 hours.",
  }),
  signatureClock: assume<"service" | "machine">({
    default: "service",
    allowed: oneOf("service", "machine"),
    about: "Whether the time of a signature is the service's, or the machine's when the service's was moved.",
    reason:
      "All times are the service's. A receiver that uses the machine's clock refuses a signature that is 300 seconds off.",
  }),
  firstSignalId: assume<number>({
    default: 880_001,
    allowed: wholeNumber(1, 1_000_000_000),
    about: "The id of the first signal; each later signal has the next number.",
    reason: "The document says that it is an integer.",
  }),
  monthObservedOnDay: assume<number>({
    default: 2,
    allowed: wholeNumber(1, 28),
    about: "On which day of a month, at 06:00 UTC, the month before is observed and its signals are published.",
    reason: "Traffic data of a month is complete a few days into the next one.",
  }),
  minutesBetweenSignalTypes: assume<number>({
    default: 10,
    allowed: numberFrom(0, 720),
    about: "How many minutes lie between the signals of two types, after a month was observed.",
    reason: "Publishing takes hours rather than a moment. 0 publishes all at once.",
  }),
} as const satisfies Record<string, Assumption<unknown>>;

/** The value in force of each assumption. */
export type Assumptions = { [Name in keyof typeof ASSUMPTIONS]: (typeof ASSUMPTIONS)[Name]["default"] };
