import { RANKING_SORTS } from "../../api/rankings.js";
import { SCOPES } from "../../api/access.js";
import {
  listOf,
  listOfSeconds,
  NAME,
  numberFrom,
  oneOf,
  PRINTABLE,
  TRUE_OR_FALSE,
  wholeNumber,
} from "./allowed-values.js";
import { assume, type Assumption } from "./assumption.js";

/** A signal is sent within a day, so no longer wait between two attempts means anything. */
const DAY_SECONDS = 86_400;
const LONGEST_STAGE_SECONDS = 30 * DAY_SECONDS;

/**
 * How the emulator behaves where the service's document says "not shown", or nothing: the one place for it. Each entry has
 * its default, all that it can be, why it is so, and is switched by `createEmulator({ assumptions: { name: value } })` or,
 * on the command line, `signalbox emulator --assume name=value`. What cannot be switched is in `fixed-assumptions.ts`.
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
    about: "What a category, market or keyword_id that does not exist gets: 404, or an answer that found nothing.",
    reason: "Both research operations list 404, and nothing else of theirs could be missing.",
  }),
  zeroThresholdsFilter: assume<boolean>({
    default: false,
    allowed: TRUE_OR_FALSE,
    about: "Whether a minimum of 0 in the rankings filters, so that what shrinks or has no domain rating is left out.",
    reason: "Domain ratings may be null in rankings, and a ranking by traffic without what shrinks would be odd.",
  }),
  categoryIncludesSecondary: assume<boolean>({
    default: true,
    allowed: TRUE_OR_FALSE,
    about: "Whether a category of the rankings has the products that name it second.",
    reason: "A profile lists several categories, of which one is called primary.",
  }),
  rankingsMethodologyVersion: assume<string>({
    default: "2026-01",
    allowed: NAME,
    about: "The methodology version in the dataset of the rankings.",
    reason: "The document names the key and no value.",
  }),
  trafficDataSource: assume<string>({
    default: "emulated_traffic_panel",
    allowed: NAME,
    about: "The constant that names the provider of the traffic data.",
    reason: "The document does not name the provider; this one says that the figures are made up.",
  }),
  mixedKeywordsAre: assume<"brand" | "non_brand">({
    default: "brand",
    allowed: oneOf("brand", "non_brand"),
    about: "Whether type=brand or type=non_brand has the keywords of brand type mixed.",
    reason: "A part of those who search for it mean a brand, so a list without brands is better off without it.",
  }),
  unknownKeywordsAre: assume<"brand" | "non_brand">({
    default: "non_brand",
    allowed: oneOf("brand", "non_brand"),
    about: "Whether type=brand or type=non_brand has the keywords of brand type unknown.",
    reason: "Nothing is known that would make it a brand's.",
  }),
  concentratedFromCr3: assume<number>({
    default: 0.9,
    allowed: numberFrom(0, 1),
    about: "The CR3 from which a keyword's traffic is called concentrated.",
    reason: "The three largest have nearly all.",
  }),
  balancedFromCr3: assume<number>({
    default: 0.7,
    allowed: numberFrom(0, 1),
    about: "The CR3 from which it is called balanced; below it is distributed.",
    reason: "The three largest have most, and others are left.",
  }),
  comparisonBaselineTraffic: assume<number>({
    default: 50,
    allowed: numberFrom(0),
    about: "The traffic that a keyword had to have a month ago for a comparison.",
    reason: "A change against a handful of visits says nothing.",
  }),
  distributionProducts: assume<number>({
    default: 5,
    allowed: wholeNumber(1, 1000),
    about: "How many products a row's traffic distribution lists before it sums up the others.",
    reason: "Rows have other_products, so not all are listed.",
  }),
  detailRows: assume<number>({
    default: 50,
    allowed: wholeNumber(1, 1000),
    about: "How many rows a list in a keyword's detail has at most.",
    reason: "As many as the largest page.",
  }),
  keywordHistoryMonths: assume<number>({
    default: 12,
    allowed: wholeNumber(1, 120),
    about: "How many months of history a keyword's detail has.",
    reason: "A year shows the season.",
  }),
  queuedSeconds: assume<number>({
    default: 20,
    allowed: numberFrom(0, LONGEST_STAGE_SECONDS),
    about: "How long an investigation is queued before it runs.",
    reason: "A client that polls once a minute sees it run at its first look.",
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
    reason: "As above. A task that fails or is cancelled keeps the stage that it was in.",
  }),
  fourthInvestigationStatus: assume<429 | 409>({
    default: 429,
    allowed: oneOf(429, 409),
    about: "The status of a start while three investigations are active; its code is ACTIVE_INVESTIGATIONS_EXCEEDED.",
    reason: "It is a limit of the account; 409 is said of the idempotency key alone.",
  }),
  investigationsPerMonth: assume<number>({
    default: 0,
    allowed: wholeNumber(0, 1_000_000),
    about: "An account's research allowance in a UTC month; past it a start is a quota's 429. 0: no limit.",
    reason: "The document says that a start consumes it, and not how large it is.",
  }),
  accessForEveryOperation: assume<boolean>({
    default: true,
    allowed: TRUE_OR_FALSE,
    about: "Whether investigations and webhooks, too, require the entitlement `api.access`.",
    reason: "The document names it for search demand and rankings, and says that it also gates access in general.",
  }),
  gatedRankingSorts: assume<string>({
    default: "dr_growth,organic,ai,paid",
    allowed: listOf(RANKING_SORTS),
    about:
      "Which sort values of the rankings are extra dimensions with an account feature (`market.sort.<value>`) each.",
    reason:
      "Growth, gain and traffic are what every ranking item shows; accounts have all features unless told otherwise.",
  }),
  quotaHeadersOnEveryAnswer: assume<boolean>({
    default: true,
    allowed: TRUE_OR_FALSE,
    about:
      "Whether Developer Access gets the quota headers with every answer to its keys, or with the 429 of the quota alone.",
    reason: "A client can then see what is left before it is used up.",
  }),
  refusedCallsCount: assume<boolean>({
    default: false,
    allowed: TRUE_OR_FALSE,
    about: "Whether a call that is refused takes a unit of the monthly quota.",
    reason: "Nothing was delivered; a call that is answered with a success counts.",
  }),
  repeatedStartCounts: assume<boolean>({
    default: false,
    allowed: TRUE_OR_FALSE,
    about: "Whether starting an investigation again with the same idempotency key and inputs takes a unit.",
    reason: "It recovers the same task, and must work for whoever lost the first answer with the last call of a month.",
  }),
  developerTotals: assume<"reachable" | "all">({
    default: "reachable",
    allowed: oneOf("reachable", "all"),
    about: "Whether total, total_pages and has_more count the rows that Developer Access can reach, or all there are.",
    reason: "Nobody is sent to a second page that cannot be had.",
  }),
  profileLocale: assume<boolean>({
    default: true,
    allowed: TRUE_OR_FALSE,
    about: "Whether the product profile takes a query parameter `locale`; any other is ignored.",
    reason: "A profile tells which locale was requested, and its only error is 404.",
  }),
  rateWindow: assume<"rolling" | "fixed">({
    default: "rolling",
    allowed: oneOf("rolling", "fixed"),
    about: "Whether the 60 seconds of the request rate are those before each request, or begin with each minute.",
    reason: "A rolling window is the stricter reading: no 60 seconds hold more than 120 requests.",
  }),
  rateLimitRetryAfter: assume<boolean>({
    default: true,
    allowed: TRUE_OR_FALSE,
    about: "Whether a 429 of the request rate has a Retry-After, in seconds.",
    reason: "A client is told to look at the headers, and this is the common one.",
  }),
  sessionScopes: assume<string>({
    default: "research:read",
    allowed: listOf(SCOPES),
    about: "The scopes of a session token.",
    reason: "The two operations that accept one require no other.",
  }),
  wrongMethodStatus: assume<404 | 405>({
    default: 404,
    allowed: oneOf(404, 405),
    about: "The status of a path that is there with a method that is not.",
    reason: "The document has no other error for what is not there.",
  }),
  allowLoopbackHttp: assume<boolean>({
    default: false,
    allowed: TRUE_OR_FALSE,
    about: "Whether endpoints may be plain HTTP, on this machine's loopback addresses alone.",
    reason: "The document wants HTTPS; a receiver under development listens on plain HTTP.",
  }),
  retrySeconds: assume<string>({
    default: "10,60,300,1800,7200,21600,43200",
    allowed: listOfSeconds(DAY_SECONDS),
    about: "Seconds after each failed attempt until the next one; after the last of them the delivery has failed.",
    reason: "Quick at first, then patient, and all within the 24 hours in which a signal may be sent.",
  }),
  deliveriesInFlight: assume<number>({
    default: 4,
    allowed: wholeNumber(1, 100),
    about: "How many deliveries go to one registration at once.",
    reason: "Enough that one slow answer does not hold all others, few enough not to flood a small receiver.",
  }),
  deliveryUserAgent: assume<string>({
    default: "signalbox-emulator",
    allowed: PRINTABLE,
    about: "The User-Agent of deliveries.",
    reason: "Senders say who they are; a firewall before a receiver may look at it.",
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
    about: "What a registration is once the last attempt at its verification has failed.",
    reason: "A person can mend the receiver and have the verification sent again.",
  }),
  testEventsGoTo: assume<"active" | "active_or_pending">({
    default: "active",
    allowed: oneOf("active", "active_or_pending"),
    about: "Which registrations can be sent a test event, by the control API.",
    reason: "An endpoint that did not answer the challenge may be nobody's who wants it.",
  }),
  registrationDay: assume<"utc_day" | "rolling">({
    default: "utc_day",
    allowed: oneOf("utc_day", "rolling"),
    about: "Whether the ten registrations of a day are counted in the UTC day or in the last 24 hours.",
    reason: "The month of the quota is a UTC month.",
  }),
  longestRetryAfterSeconds: assume<number>({
    default: 3600,
    allowed: numberFrom(0, DAY_SECONDS),
    about: "How long a receiver's Retry-After, with 429 or 503, can put off the next attempt at most; 0: not at all.",
    reason: "A receiver that says when it is ready is best asked then; one that asks for days is not waited for.",
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
    reason: "All times are the service's. A receiver that goes by the machine's refuses what is 300 seconds off.",
  }),
  firstSignalId: assume<number>({
    default: 880_001,
    allowed: wholeNumber(1, 1_000_000_000),
    about: "The id of the first signal; later ones count on.",
    reason: "The document says that it is an integer.",
  }),
  monthObservedOnDay: assume<number>({
    default: 2,
    allowed: wholeNumber(1, 28),
    about: "On which day of a month, at 06:00 UTC, the month before is observed and its signals are published.",
    reason: "Traffic data of a month is there a few days into the next one.",
  }),
  minutesBetweenSignalTypes: assume<number>({
    default: 10,
    allowed: numberFrom(0, 720),
    about: "How many minutes after the signals of one type those of the next are published, once a month was observed.",
    reason: "Publishing takes hours rather than a moment. 0 publishes all at once.",
  }),
} as const satisfies Record<string, Assumption<unknown>>;

/** The value in force of each assumption. */
export type Assumptions = { [Name in keyof typeof ASSUMPTIONS]: (typeof ASSUMPTIONS)[Name]["default"] };
