import { describeError, ignore, safely, signalboxCode } from "../../../base/errors.js";
import { DAY_MS } from "../../../base/time/units.js";
import type { ClaimedEvent, CrashedEvent, Settlement, SettleResult } from "../batch.js";
import type { RetryLater } from "../failures.js";
import type { AttemptEnd } from "./attempts.js";
import type { Breaker } from "./breaker.js";

/** Is told how hand-offs end. Writes log lines and calls listeners, and must not throw. */
export interface HandoffObserver {
  /** The callback has settled, or is no longer waited for. */
  attemptEnded(event: ClaimedEvent): void;
  /** The event is durably `done`. */
  handedOff(event: ClaimedEvent, attempt: number): void;
  handoffFailed(event: ClaimedEvent, attempt: number, failure: HandoffFailure): void;
  /**
   * The user's function for the delay threw, or returned no number. The delay is a minute instead.
   */
  backoffFailed(error: unknown): void;
  /** The event is durably `dead`. */
  dead(event: CrashedEvent, attempt: number, reason: string): void;
  /**
   * The settlement was too late, because another process had reclaimed the lease while the callback
   * ran.
   */
  leaseLost(event: ClaimedEvent): void;
  /** The callback of an ordered event goes on after its time-out, so what follows must wait. */
  overdue(event: ClaimedEvent): void;
  /**
   * The settlement was not written: the store refused it, or was down until the close. The event
   * stays leased.
   */
  notSettled(event: ClaimedEvent): void;
  /** `open`: hand-offs pause. `closed`: hand-offs continue. */
  breaker(state: "closed" | "open"): void;
  /**
   * `unsure`: other processes may have reclaimed our leases, so hand-offs pause. `sure`: hand-offs
   * continue.
   */
  leases(state: "sure" | "unsure"): void;
}

export interface HandoffFailure {
  kind: Judgement["kind"];
  error: unknown;
  /**
   * Whether another attempt follows. With `completeSql` and an open transaction: whether one
   * follows if it rolls back.
   */
  willRetry: boolean;
  /**
   * In how many milliseconds the next attempt is due; null when there is none, or when it is not
   * known.
   */
  retryInMs: number | null;
}

export interface OutcomesConfig {
  maxAttempts: number;
  backoff: Backoff;
  /** Writes log lines and calls listeners. Must not throw. */
  observe: HandoffObserver;
}

/**
 * What follows from the end of an attempt: its settlement, the report, and what the breaker learns.
 */
export function createOutcomes(
  { maxAttempts, backoff, observe }: OutcomesConfig,
  breaker: Pick<Breaker, "succeeded" | "failed">,
  settle: Settle,
  /** The event is due again after this delay. */
  retryIn: (delayMs: number) => void,
) {
  /**
   * Attempts whose callback has read `completeSql`. A transaction of the callback may have made the
   * event `done`, may still be open, or may have rolled back: only the settlement shows which. So
   * each is settled as a failure, and its result tells the truth.
   */
  const withSql = new WeakSet<ClaimedEvent>();

  function ended(event: ClaimedEvent, attempt: number, end: AttemptEnd): void {
    observe.attemptEnded(event);
    const resolved = end.how === "resolved";
    if (resolved && !withSql.has(event)) return succeeded(event, attempt);
    const error = resolved ? NOT_COMPLETED : end.error;
    const judgement: Judgement =
      end.how === "shutdown"
        ? { kind: "shutdown", settlement: released(event, true, end.dueForMs), deadReason: null }
        : judgeFailure(event, attempt, error, end.how === "timed out");
    // A callback that resolved has failed only if its settlement says so.
    if (!resolved && isCounted(judgement)) breaker.failed(event, judgement.settlement.lastError);
    failed(event, attempt, judgement, error, resolved);
  }

  function succeeded(event: ClaimedEvent, attempt: number): void {
    breaker.succeeded();
    settle(event, settlementOf(event, "done", 0, attempt, false, null), (result) => {
      if (result === true) observe.handedOff(event, attempt);
    });
  }

  /** @param resolved the callback resolved, so it has failed only if nothing completed the event */
  function failed(
    event: ClaimedEvent,
    attempt: number,
    { kind, settlement, deadReason }: Judgement,
    error: unknown,
    resolved: boolean,
  ): void {
    settlement.mayBeCompleted = withSql.has(event);
    let isReported = false;
    const report = (result: SettleResult | null): void => {
      if (isReported) return;
      isReported = true;
      const willRetry = deadReason === null && result !== "completed";
      const retryInMs = willRetry && result === true ? settlement.delayMs : null;
      observe.handoffFailed(event, attempt, { kind, error, willRetry, retryInMs });
    };
    // What a transaction may have completed is reported with the first result; if its callback
    // resolved, only when it is certain that it failed.
    if (!settlement.mayBeCompleted) report(true);
    settle(event, settlement, (result) => {
      if (!resolved || result === true) report(result);
      if (result === "completed") {
        if (resolved) breaker.succeeded();
        observe.handedOff(event, attempt);
      }
      if (result !== true) return;
      if (resolved) breaker.failed(event, settlement.lastError);
      // The delay has begun with the commit.
      if (deadReason === null) retryIn(settlement.delayMs);
      else observe.dead(event, attempt, deadReason);
    });
  }

  function judgeFailure(
    event: ClaimedEvent,
    attempt: number,
    error: unknown,
    timedOut: boolean,
  ): Judgement {
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

  return {
    ended,
    /** The callback of a running attempt has read `completeSql`. */
    sqlRead: (event: ClaimedEvent) => void withSql.add(event),
  };
}

/** `permanent` and `later` were asked for by the callback. */
function isCounted({ kind }: Judgement): boolean {
  return kind === "rejected" || kind === "timeout";
}

/**
 * Writes a settlement. @param ended called with each result, of which those before the last are
 * `locked`
 */
type Settle = (
  event: ClaimedEvent,
  settlement: Settlement,
  ended: (result: SettleResult | null) => void,
) => void;

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
  { seq, token, possiblyRepeated, received, lane = null }: ClaimedEvent,
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
    receivedAt: received.at,
    lane,
  };
}

/** The consequences of an attempt that did not succeed. */
interface Judgement {
  /** `permanent` and `later` were asked for by the callback. */
  kind: "rejected" | "timeout" | "permanent" | "later" | "shutdown";
  settlement: Settlement;
  /** Why the event is dead; null when it will be handed off again. */
  deadReason: "permanent_failure" | "attempts_exhausted" | null;
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

/**
 * The error of a callback that read `completeSql` and resolved without completing. Shared and
 * stackless: most are discarded when the transaction turns out to have committed.
 */
const NOT_COMPLETED = new Error(
  "The callback read handoff.completeSql and resolved, but no transaction has completed the event. " +
    "Await the transaction and let its errors through; or do not read completeSql.",
);
NOT_COMPLETED.stack = `Error: ${NOT_COMPLETED.message}`;

/**
 * Returns the delay before the next attempt, in milliseconds, after `attempt` failed attempts (1 or
 * more).
 */
export type Backoff = (attempt: number) => number;

/** The bounds of the random delay between attempts. */
export interface BackoffOptions {
  /** Upper bound of the first delay. @default 10000 */
  baseMs?: number | undefined;
  /** After each attempt the upper bound is multiplied by this. @default 3 */
  factor?: number | undefined;
  /** Upper bound of any delay. @default 21600000 (6 h) */
  maxMs?: number | undefined;
}

/** Full jitter: a random delay between 0 and an upper bound that grows with each attempt. */
export function fullJitter(
  options: BackoffOptions = {},
  random: () => number = Math.random,
): Backoff {
  const { baseMs = 10_000, factor = 3, maxMs = 6 * 60 * 60 * 1000 } = options;
  // `factor ** …` can be Infinity, and Infinity times a `baseMs` of 0 is NaN. So the power is
  // limited first.
  return (attempt) =>
    Math.round(
      random() * Math.min(maxMs, baseMs * Math.min(factor ** (attempt - 1), Number.MAX_VALUE)),
    );
}
