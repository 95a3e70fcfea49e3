import { isSignalboxError, type RetryLater } from "../errors.js";
import type { Backoff } from "./backoff.js";
import type { ClaimedEvent, Settlement } from "./store.js";

// How a lease ends, as values: nothing is done here. Each settlement names every property, in one order, and spreads no
// other object: V8 gives each object that was spread a hidden class of its own, and reading those is slow.

/** The user's system owns it now. */
export function doneAfter({ seq, token, possiblyRepeated }: ClaimedEvent, attempts: number, now: number): Settlement {
  return { seq, token, state: "done", dueAt: now, settledAt: now, attempts, possiblyRepeated, lastError: null };
}

/** Back to `ready`, with no attempt used up. */
export function asIfNeverClaimed(event: ClaimedEvent, mayHaveBegun: boolean, now: number): Settlement {
  const { seq, token, attempts } = event;
  const possiblyRepeated = event.possiblyRepeated || mayHaveBegun;
  return { seq, token, state: "ready", dueAt: now, settledAt: now, attempts, possiblyRepeated, lastError: null };
}

/** What follows from a hand-off that failed. */
export interface Judgement {
  kind: "rejected" | "timeout" | "permanent" | "later";
  settlement: Settlement;
  /** Why the event is dead now; null when it is handed off again. */
  deadReason: "permanent_failure" | "attempts_exhausted" | null;
  /** Whether the user's system may be down. */
  countsForBreaker: boolean;
}

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
      // A callback that ran out of time may still succeed.
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
    // The user's function is at fault, not the event.
    return FALLBACK_DELAY_MS;
  }
}

/** A delay from the user as a number that any store can keep. */
function wholeDelay(delayMs: number | undefined): number {
  if (typeof delayMs !== "number" || Number.isNaN(delayMs)) return FALLBACK_DELAY_MS;
  return Math.round(Math.min(LONGEST_DELAY_MS, Math.max(0, delayMs)));
}

/** Longest text of an error that is kept with an event. */
const MAX_ERROR_LENGTH = 1000;

/** Name and message of whatever was thrown. The inbox keeps it. No log line has it: it may quote the payload. */
function describeError(error: unknown): string {
  let text: string;
  try {
    text = error instanceof Error ? `${error.name}: ${error.message}` : `thrown: ${String(error)}`;
  } catch {
    text = "thrown: a value without text";
  }
  return text.slice(0, MAX_ERROR_LENGTH).toWellFormed();
}
