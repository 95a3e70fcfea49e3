import { describeError, ignore, safely, signalboxCode } from "../../../base/errors.js";
import type { Backoff } from "./backoff.js";
import type { RetryLater } from "../failures.js";
import { DAY_MS } from "../../../base/time/units.js";
import type { ClaimedEvent, Settlement, SettleResult } from "../batch.js";

/**
 * Writes a settlement. @param ended called with each result, of which those before the last are
 * `locked`
 */
export type Settle = (
  event: ClaimedEvent,
  settlement: Settlement,
  ended: (result: SettleResult | null) => void,
) => void;

/** The callback resolved. */
export function doneAfter(event: ClaimedEvent, attempts: number): Settlement {
  return settlementOf(event, "done", 0, attempts, false, null);
}

/**
 * The event becomes `ready` again without using up an attempt.
 *
 * @param mayHaveBegun whether its callback may have run
 * @param dueForMs for how long it has been due, so that it keeps its place in the queue
 */
export function released(event: ClaimedEvent, mayHaveBegun: boolean, dueForMs: number): Settlement {
  return settlementOf(event, "ready", -Math.round(dueForMs), event.attempts, mayHaveBegun, null);
}

/**
 * No settlement is made by object spread: V8 gives each spread object a separate hidden class, which
 * makes its properties slow to read.
 */
function settlementOf(
  { seq, token, possiblyRepeated }: ClaimedEvent,
  state: Settlement["state"],
  delayMs: number,
  attempts: number,
  mayHaveBegun: boolean,
  lastError: string | null,
): Settlement {
  return {
    seq,
    token,
    state,
    delayMs,
    attempts,
    possiblyRepeated: possiblyRepeated || mayHaveBegun,
    lastError,
    mayBeCompleted: false,
  };
}

/** The consequences of an attempt that did not succeed. */
export interface Judgement {
  /** `permanent` and `later` were asked for by the callback. */
  kind: "rejected" | "timeout" | "permanent" | "later" | "shutdown";
  settlement: Settlement;
  /** Why the event is dead; null when it will be handed off again. */
  deadReason: "permanent_failure" | "attempts_exhausted" | null;
}

/** The receiver closed while the callback ran. */
export function shutDown(event: ClaimedEvent, dueForMs: number): Judgement {
  return { kind: "shutdown", settlement: released(event, true, dueForMs), deadReason: null };
}

export function judgeFailure(input: {
  event: ClaimedEvent;
  attempt: number;
  error: unknown;
  timedOut: boolean;
  maxAttempts: number;
  backoff: Backoff;
  observe: { backoffFailed(error: unknown): void };
}): Judgement {
  const { event, attempt, error, timedOut, maxAttempts, backoff, observe } = input;
  const kind = timedOut ? "timeout" : kindOf(error);
  const isLater = kind === "later";
  const isLast = !isLater && attempt >= maxAttempts;
  const deadReason =
    kind === "permanent" ? "permanent_failure" : isLast ? "attempts_exhausted" : null;
  const delayMs = (): number | undefined =>
    isLater
      ? safely(() => (error as Partial<RetryLater>).delayMs, undefined)
      : delayBy(backoff, attempt, observe.backoffFailed);
  const settlement = settlementOf(
    event,
    deadReason === null ? "ready" : "dead",
    deadReason === null ? wholeDelay(delayMs()) : 0,
    isLater ? event.attempts : attempt,
    // A callback that timed out may still succeed, so the next hand-off may repeat its work.
    timedOut,
    describeError(error),
  );
  return { kind, settlement, deadReason };
}

function kindOf(error: unknown): "rejected" | "permanent" | "later" {
  const code = signalboxCode(error);
  return code === "retry_later" ? "later" : code === "permanent_failure" ? "permanent" : "rejected";
}

const YEAR_MS = 365 * DAY_MS;
const FALLBACK_DELAY_MS = 60_000;

/** An error in the user's function must not stop the retry, so the retry gets a default delay. */
function delayBy(backoff: Backoff, attempt: number, onError: (error: unknown) => void): number {
  try {
    const delayMs: unknown = backoff(attempt);
    if (typeof delayMs === "number" && !Number.isNaN(delayMs)) return delayMs;
    // The rejection of an async function would end the process.
    if (delayMs instanceof Promise) delayMs.catch(ignore);
    throw new TypeError(
      `handoff.backoff returned ${delayMs instanceof Promise ? "a promise" : "no number"}`,
    );
  } catch (error) {
    onError(error);
    return FALLBACK_DELAY_MS;
  }
}

/**
 * Converts a delay from the user's code to whole milliseconds of at most a year, which any store
 * can keep.
 */
function wholeDelay(delayMs: number | undefined): number {
  if (typeof delayMs !== "number" || Number.isNaN(delayMs)) return FALLBACK_DELAY_MS;
  return Math.round(Math.min(YEAR_MS, Math.max(0, delayMs)));
}
