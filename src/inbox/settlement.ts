import { isSignalboxError } from "../errors.js";
import type { Backoff } from "./backoff.js";
import type { RetryLater } from "./failures.js";
import type { ClaimedEvent, Settlement } from "./store.js";

// Each settlement names every property in the same order, and none is made by object spread: V8 gives each spread object a
// separate hidden class, which makes its properties slow to read.

/** The callback resolved. */
export function doneAfter({ seq, token, possiblyRepeated }: ClaimedEvent, attempts: number, now: number): Settlement {
  return { seq, token, state: "done", dueAt: now, settledAt: now, attempts, possiblyRepeated, lastError: null };
}

/** The event becomes `ready` again without using up an attempt. */
export function asIfNeverClaimed(event: ClaimedEvent, mayHaveBegun: boolean, now: number): Settlement {
  const { seq, token, attempts } = event;
  const possiblyRepeated = event.possiblyRepeated || mayHaveBegun;
  return { seq, token, state: "ready", dueAt: now, settledAt: now, attempts, possiblyRepeated, lastError: null };
}

/** The consequences of a failed hand-off. */
export interface Judgement {
  /** `permanent` and `later` were asked for by the callback. The breaker does not count them. */
  kind: "rejected" | "timeout" | "permanent" | "later";
  settlement: Settlement;
  /** Why the event is dead; null when it will be handed off again. */
  deadReason: "permanent_failure" | "attempts_exhausted" | null;
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
  const { event, attempt, error, timedOut, now, maxAttempts, backoff } = input;
  const kind = timedOut ? "timeout" : kindOf(error);
  const isLater = kind === "later";
  const isLast = !isLater && attempt >= maxAttempts;
  const deadReason = kind === "permanent" ? "permanent_failure" : isLast ? "attempts_exhausted" : null;
  const delayMs = (): number | undefined =>
    isLater ? (error as Partial<RetryLater>).delayMs : delayBy(backoff, attempt);
  const settlement: Settlement = {
    seq: event.seq,
    token: event.token,
    state: deadReason === null ? "ready" : "dead",
    dueAt: deadReason === null ? now + wholeDelay(delayMs()) : now,
    settledAt: now,
    attempts: isLater ? event.attempts : attempt,
    // A callback that timed out may still succeed, so the next hand-off may repeat its work.
    possiblyRepeated: event.possiblyRepeated || timedOut,
    lastError: describeError(error),
  };
  return { kind, settlement, deadReason };
}

function kindOf(error: unknown): "rejected" | "permanent" | "later" {
  const code = isSignalboxError(error) ? error.code : null;
  return code === "retry_later" ? "later" : code === "permanent_failure" ? "permanent" : "rejected";
}

const LONGEST_DELAY_MS = 365 * 24 * 60 * 60 * 1000;
const FALLBACK_DELAY_MS = 60_000;

function delayBy(backoff: Backoff, attempt: number): number {
  try {
    return backoff(attempt);
  } catch {
    // An error in the user's function must not stop the retry, so the retry gets a default delay.
    return FALLBACK_DELAY_MS;
  }
}

/** Converts a delay from the user's code to whole milliseconds of at most a year, which any store can keep. */
function wholeDelay(delayMs: number | undefined): number {
  if (typeof delayMs !== "number" || Number.isNaN(delayMs)) return FALLBACK_DELAY_MS;
  return Math.round(Math.min(LONGEST_DELAY_MS, Math.max(0, delayMs)));
}

/** Longest error text that is stored with an event. */
const MAX_ERROR_LENGTH = 1000;

/** Name and message of an error. This text is stored, but not logged, because it may quote the payload. */
function describeError(error: unknown): string {
  let text: string;
  try {
    text = error instanceof Error ? `${error.name}: ${error.message}` : `thrown: ${String(error)}`;
  } catch {
    text = "thrown: a value without text";
  }
  return text.slice(0, MAX_ERROR_LENGTH).toWellFormed();
}
