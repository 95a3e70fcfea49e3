import { isSignalboxError, type RetryLater } from "../errors.js";
import type { Backoff } from "./backoff.js";
import type { ClaimedEvent, Settlement } from "./store.js";

/** What follows from a hand-off that failed. */
export interface Judgement {
  kind: "rejected" | "timeout" | "permanent" | "later";
  settlement: Settlement;
  /** Why the event is dead now; null when it comes again. */
  deadReason: "permanent_failure" | "attempts_exhausted" | null;
  /** Whether it hints that the user's system is down. */
  countsForBreaker: boolean;
}

/** The rules of DESIGN's states for one failed attempt, as values: nothing is done here. */
export function judgeFailure(input: {
  event: ClaimedEvent;
  attempt: number;
  error: unknown;
  timedOut: boolean;
  now: number;
  maxAttempts: number;
  backoff: Backoff;
}): Judgement {
  const { event, attempt, error, timedOut, now, maxAttempts } = input;
  const lastError = describeError(error);
  const code = isSignalboxError(error) ? error.code : null;
  if (code === "retry_later") {
    return {
      kind: "later",
      settlement: {
        seq: event.seq,
        token: event.token,
        state: "ready",
        dueAt: now + wholeDelay((error as Partial<RetryLater>).delayMs),
        settledAt: now,
        attempts: event.attempts,
        possiblyRepeated: event.possiblyRepeated,
        lastError,
      },
      deadReason: null,
      countsForBreaker: false,
    };
  }
  const isPermanent = code === "permanent_failure";
  const deadReason = isPermanent ? "permanent_failure" : attempt >= maxAttempts ? "attempts_exhausted" : null;
  return {
    kind: isPermanent ? "permanent" : timedOut ? "timeout" : "rejected",
    settlement: {
      seq: event.seq,
      token: event.token,
      state: deadReason === null ? "ready" : "dead",
      dueAt: deadReason === null ? now + wholeDelay(delayBy(input.backoff, attempt)) : now,
      settledAt: now,
      attempts: attempt,
      // A callback that ran out of time may still come to its end.
      possiblyRepeated: event.possiblyRepeated || timedOut,
      lastError,
    },
    deadReason,
    // One event that can never work says nothing about the system behind the callback.
    countsForBreaker: !isPermanent,
  };
}

const LONGEST_DELAY_MS = 365 * 24 * 60 * 60 * 1000;
const FALLBACK_DELAY_MS = 60_000;

function delayBy(backoff: Backoff, attempt: number): number {
  try {
    return backoff(attempt);
  } catch {
    // The user's function is at fault, not the event: it must not be lost for it.
    return FALLBACK_DELAY_MS;
  }
}

/** A delay of the user's making as one that any store can keep. */
function wholeDelay(delayMs: number | undefined): number {
  if (typeof delayMs !== "number" || Number.isNaN(delayMs)) return FALLBACK_DELAY_MS;
  return Math.round(Math.min(LONGEST_DELAY_MS, Math.max(0, delayMs)));
}

/** Longest text of an error that is kept with an event. */
const MAX_ERROR_LENGTH = 1000;

/** Name and message of whatever was thrown. Kept in the inbox, never logged: it may quote the payload. */
function describeError(error: unknown): string {
  let text: string;
  try {
    text = error instanceof Error ? `${error.name}: ${error.message}` : `thrown: ${String(error)}`;
  } catch {
    text = "thrown: a value without text";
  }
  return text.slice(0, MAX_ERROR_LENGTH).toWellFormed();
}
