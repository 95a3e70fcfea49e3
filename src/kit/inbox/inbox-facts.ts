// What people ask when something is wrong. Types alone, which the pages use too.

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
  /** What they are about, the most frequent first; at most 5. */
  subjects: string[];
  /** How many different subjects there are. */
  subjectCount: number;
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
