import { DAY_MS } from "../../../base/time/units.js";
import type { InboxEntry } from "../stored-events.js";

// What people ask when something is wrong.

/** Why and since when hand-offs are paused, because the callback keeps failing. */
export interface Pause {
  /** In milliseconds since 1970. */
  since: number;
  /** The first line of the last error. */
  error: string;
  /** When one event is tried; in the past while one is. */
  nextTryAt: number;
}

/** Events that fail with the same error. */
export interface Failure {
  /**
   * The error, with `…` for each number, id, and what the event is about. `error:` of a search
   * takes it as it is.
   */
  error: string;
  /** How many events fail so: those that wait for another attempt, and the dead ones. */
  count: number;
  waiting: number;
  dead: number;
  /** When the first and the last of their attempts failed, in milliseconds since 1970. */
  firstSeen: number;
  lastSeen: number;
  /** How many of them first failed in each twelfth of the time from `firstSeen` to `lastSeen`. */
  spans?: number[];
  /** What they are about, the most frequent first; at most 5. */
  subjects: string[];
  /** How many different subjects there are. */
  subjectCount: number;
  /** With the option `order`: how many events wait behind them. */
  heldCount: number;
  /** Those that wait first, and of each state the newest first. */
  eventIds: string[];
}

/** A refused delivery. Nothing in it is proved. */
export interface RefusedDelivery {
  /** In milliseconds since 1970. */
  at: number;
  /** The code of the answer, such as `signature_mismatch`. */
  code: string;
  /** Where it came from; null when that is not known. */
  address: string | null;
  /** The id of the event that it claims to be; null when it cannot be read. */
  eventId: string | null;
}

/** The deliveries that were refused in the last 24 hours. */
export interface Refusals {
  /** The most frequent code first. */
  byCode: { code: string; count: number }[];
  /** The newest first. */
  examples: RefusedDelivery[];
}

/** An event that waits for another attempt after a failed one, or is dead. */
export interface FailedEvent extends Pick<InboxEntry, "seq" | "eventId" | "subject"> {
  state: "ready" | "dead";
  /** The beginning of its last error. */
  lastError: string;
  /** When its first kept attempt failed and when its last one did, in milliseconds since 1970. */
  firstFailedAt: number;
  lastFailedAt: number;
  /** As {@link StoredEvent} has it. */
  heldCount: number;
}

/**
 * A store returns so many of the events that fail at a time, with so many characters of their
 * errors.
 */
export const FAILED_AT_ONCE = 500;
export const FAILED_ERROR_LENGTH = 400;

/**
 * What a receiver says of itself to tools in other processes, such as why its hand-offs are paused.
 */
export interface StoredReport {
  /** When it was saved, in milliseconds since 1970. */
  at: number;
  /** JSON. */
  report: string;
}

/**
 * A report is kept for this long, and an endpoint has at most so many, one from each start of a
 * receiver.
 */
export const REPORT_KEPT_MS = DAY_MS;
export const MOST_REPORTS = 200;

/** What is kept of the last alarm of a kind. */
export interface StoredAlarm {
  kind: string;
  /** JSON. */
  state: string;
}
