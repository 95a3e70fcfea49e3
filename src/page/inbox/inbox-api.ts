import type { PauseReason } from "../../kit/inbox/dispatch/dispatcher.js";
import type { SituationFacts } from "../../kit/inbox/situation/situation.js";
import type { Activity } from "../../kit/inbox/activity.js";
import type { Failure, Refusals } from "../../kit/inbox/situation/trouble.js";
import type {
  InboxEntry,
  MoveOutcome,
  PastStep,
  ReplayOutcome,
  StateCounts,
} from "../../kit/inbox/stored-events.js";

// The data of the inbox page, as JSON. All paths are relative to the page. Times are in
// milliseconds since 1970.

/**
 * `GET api/overview`; `GET api/live` sends it by SSE as the message `overview` when it has changed.
 */
export interface Overview {
  /** What is known of each endpoint. */
  endpoints: { endpoint: string; facts: Omit<SituationFacts, "now">; counts: Counts }[];
  /** Of all endpoints. */
  counts: Counts;
  /** What fails, the largest group of each endpoint first. */
  failures: FailureRow[];
  /** Of all endpoints, in the last 24 hours; `text` says what the code means. */
  refusals: Pick<Refusals, "examples"> & {
    byCode: { code: string; count: number; text: string }[];
  };
  /** As `GET api/events?titles=yes` answers. */
  newest: EventsAnswer;
  /**
   * As in `health()`, of the first receiver of this process that pauses; null also when the page
   * has no receiver.
   */
  paused: PauseReason | null;
  /** As in `health()`; null also when the page has no receiver. */
  shortage: string | null;
  /**
   * Changes with every change of an event that this process knows of, and at least every few
   * seconds while events change.
   */
  revision: number;
  now: number;
}

type Counts = StateCounts & { total: number };

/** A {@link Failure} without the ids of its events. */
export interface FailureRow extends Omit<Failure, "eventIds"> {
  endpoint: string;
}

/** `GET api/activity?range=hour|day|week&endpoint=NAME` */
export interface ActivityAnswer {
  /** The length of a span. Spans in which nothing happened are left out. */
  minutes: number;
  spans: number;
  activity: Activity[];
  now: number;
}

/** An event of a list. */
export interface ListedEvent extends InboxEntry {
  /**
   * `data.title` of a signal's payload; null when it has none, or when the query does not ask for
   * titles.
   */
  title: string | null;
}

/**
 * `GET api/events?q=SEARCH&before=SEQ&limit=N&titles=yes`. A search that cannot be read is answered
 * with 400 and an {@link ApiError}.
 */
export interface EventsAnswer {
  /** `lastError` is its first line. */
  events: ListedEvent[];
  /** Where the next page begins; null at the end. */
  nextBeforeSeq: number | null;
}

/** `GET api/event?id=EVENT_ID`. `GET api/bytes?id=EVENT_ID` is its body as a download. */
export interface EventAnswer extends InboxEntry {
  /** `data.title` of the payload; null when it has none, or is too large to be parsed. */
  title: string | null;
  /** Without the signature. */
  headers: Readonly<Record<string, string>>;
  history: PastStep[];
  waitsBehind: string | null;
  heldCount: number;
  earlierCount: number;
  /** Whether `receiver.accept` stored it, so that no signature was verified. */
  backfilled: boolean;
  /** SHA-256 of the body, as hex. */
  bodyHash: string;
  /** The size of the body; null once it is deleted. */
  bytes: number | null;
  /** The body as text; null when it is deleted, or is not UTF-8. */
  payload: string | null;
  /**
   * Whether `payload` is only the beginning of the body, because the body is larger than 100 KiB.
   */
  isCut: boolean;
  /** The event on its sender's own page; empty when none is known. */
  senderUrl: string;
  now: number;
}

/**
 * `POST api/replay`, `POST api/discard` and `POST api/retry`, with the header `X-Signalbox: 1` and
 * the body `{ eventIds }`, which has at most 1,000 ids. `api/retry` makes waiting events due now;
 * also without ids it tries one event of each receiver whose hand-offs are paused.
 */
export interface MoveAnswer {
  /** What became of each event, in order. */
  outcomes: (MoveOutcome | ReplayOutcome)[];
  /** Of `api/retry`: as `api/ends`, before it. */
  ends?: End[];
}

/**
 * `GET api/ends?ids=IDS` answers a list of what the hand-offs of at most 200 events came to; null
 * while nothing has. NUL is between the ids. A number: it waits, and failed last at this time of
 * the store; after a retry another number is another failure. `gone`: it is not known.
 */
export type End = "done" | "failed" | "gone" | number | null;

/** Every answer that is not 2xx. */
export interface ApiError {
  error: { code: string; message: string };
}
