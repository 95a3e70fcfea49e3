import type { Clock, ClockTimer } from "../time/clock.js";
import { AbortHandle, namedError } from "./abort-handle.js";
import type { Backoff } from "./backoff.js";
import { asIfNeverClaimed, doneAfter, judgeFailure, type Judgement } from "./settlement.js";
import type { ClaimedEvent, CrashedEvent, Settlement, SettleResult } from "./store.js";

export interface AttemptsConfig {
  clock: Clock;
  timeoutMs: number;
  maxAttempts: number;
  backoff: Backoff;
  /** Calls the user's callback. `abort` is aborted when the attempt times out or the receiver closes. */
  handOff: (queued: QueuedEvent, attempt: number, abort: Pick<AbortHandle, "signal">) => unknown;
  /** Writes log lines and calls listeners. Must not throw. */
  observe: AttemptsObserver;
}

export interface AttemptsObserver {
  /** The callback resolved, and the event is durably `done`. */
  handedOff(event: ClaimedEvent, attempt: number): void;
  handoffFailed(event: ClaimedEvent, attempt: number, failure: HandoffFailure): void;
  /** The user's function for the delay threw, or returned no number. The delay is a minute instead. */
  backoffFailed(error: unknown): void;
  /** The event is durably `dead`. */
  dead(event: CrashedEvent, attempt: number, reason: string): void;
}

export interface HandoffFailure {
  kind: Judgement["kind"] | "shutdown";
  error: unknown;
  /** False when the event is dead or, after `completeSql`, done. While a transaction of the callback is open: if it rolls back. */
  willRetry: boolean;
  /** Time of the next attempt, in milliseconds since 1970; null when there is none, or when it is not known. */
  nextAttemptAt: number | null;
}

/** An event that this process has leased. */
export interface QueuedEvent {
  event: ClaimedEvent;
  /** When the lease was asked for, by `clock.elapsed()`. The store's lease began later, so it is never over before ours. */
  leasedAt: number;
  /** The event as parsed at its delivery; `undefined` when it was claimed from the store and must be parsed again. */
  parsed: unknown;
}

/** What the dispatcher does when an attempt ends. */
export interface AttemptEnds {
  succeeded(): void;
  /** The callback rejected or timed out, and did not ask for that. */
  failed(): void;
  /** Writes the settlement. @param ended called with each result, of which those before the last are `locked` */
  settle(event: ClaimedEvent, settlement: Settlement, ended: (result: SettleResult | null) => void): void;
  /** The event is due again after this delay. */
  retryIn(delayMs: number): void;
}

/** The attempts that run. The callback, its timeout or the close of the receiver, whichever is first, ends an attempt. */
export interface Attempts {
  run(queued: QueuedEvent): void;
  running(): number;
  /**
   * Notes that the callback of a running attempt may end the lease in a transaction of its own.
   * @returns false if the attempt has ended
   */
  expectCompletion(event: ClaimedEvent): boolean;
  /** Aborts all and gives back their events, possibly repeated. No attempt is used up. */
  abortAll(): void;
}

/**
 * Made once and without a stack: it goes with the settlement of each callback that has read `completeSql` and resolved, and is
 * dropped if a transaction has completed the event.
 */
const NOT_COMPLETED = new Error(
  "The callback read handoff.completeSql and resolved, but no transaction has completed the event. " +
    "Await the transaction and let its errors through; or do not read completeSql.",
);
NOT_COMPLETED.stack = `Error: ${NOT_COMPLETED.message}`;

interface Running {
  event: ClaimedEvent;
  attempt: number;
  abort: AbortHandle;
  timeout: ClockTimer | null;
}

export function createAttempts(config: AttemptsConfig, ends: AttemptEnds): Attempts {
  const { clock, observe } = config;
  /** Attempts, not events: an event that another process took over can return while its old callback still runs. */
  const running = new Set<Running>();
  /** The leases whose callback has read `completeSql`. */
  const completing = new WeakSet<ClaimedEvent>();

  function run(queued: QueuedEvent): void {
    const { event } = queued;
    const attempt = event.attempts + 1;
    const entry: Running = { event, attempt, abort: new AbortHandle(), timeout: null };
    running.add(entry);
    entry.timeout = clock.setTimeout(() => timeOut(entry), config.timeoutMs);
    let outcome: Promise<unknown>;
    try {
      outcome = Promise.resolve(config.handOff(queued, attempt, entry.abort));
    } catch (error) {
      fail(entry, error);
      return;
    }
    outcome.then(
      () => succeed(entry),
      (error: unknown) => fail(entry, error),
    );
  }

  function end(entry: Running): boolean {
    if (!running.delete(entry)) return false;
    entry.timeout?.cancel();
    return true;
  }

  function succeed(entry: Running): void {
    const { event, attempt } = entry;
    if (completing.has(event)) return fail(entry, NOT_COMPLETED, "resolved");
    if (!end(entry)) return;
    ends.succeeded();
    settle(event, doneAfter(event, attempt), (result) => {
      if (result === true) observe.handedOff(event, attempt);
    });
  }

  function timeOut(entry: Running): void {
    const error = namedError("TimeoutError", `the callback did not settle within ${config.timeoutMs} ms`);
    entry.abort.abort(error);
    fail(entry, error, "timed out");
  }

  function fail(entry: Running, error: unknown, how: "rejected" | "timed out" | "resolved" = "rejected"): void {
    if (!end(entry)) return;
    const { event, attempt } = entry;
    const { maxAttempts, backoff } = config;
    const onBackoffError = observe.backoffFailed;
    const judgement = judgeFailure({
      event,
      attempt,
      error,
      timedOut: how === "timed out",
      maxAttempts,
      backoff,
      onBackoffError,
    });
    const { kind, settlement, deadReason } = judgement;
    if (how !== "resolved" && (kind === "rejected" || kind === "timeout")) ends.failed();
    settleFailed(entry, settlement, { kind, error }, deadReason, how === "resolved");
  }

  /**
   * Reports the failure at once. If the event may be done all the same, the result of the settlement is waited for.
   *
   * @param resolved the callback resolved, so it has failed only if no transaction has completed the event
   */
  function settleFailed(
    { event, attempt }: Running,
    settlement: Settlement,
    failure: Pick<HandoffFailure, "kind" | "error">,
    deadReason: string | null,
    resolved: boolean,
  ): void {
    let isReported = false;
    const report = (result: SettleResult | null): void => {
      if (isReported) return;
      isReported = true;
      const willRetry = deadReason === null && result !== "completed" && result !== false;
      const nextAttemptAt = willRetry && result === true ? clock.now() + settlement.delayMs : null;
      observe.handoffFailed(event, attempt, { ...failure, willRetry, nextAttemptAt });
    };
    if (!completing.has(event)) report(true);
    settle(event, settlement, (result) => {
      if (!resolved || result === true) report(result);
      if (resolved && result === "completed") ends.succeeded();
      if (result !== true) return;
      if (resolved) ends.failed();
      // The delay has begun with the commit.
      if (deadReason === null) ends.retryIn(settlement.delayMs);
      else observe.dead(event, attempt, deadReason);
    });
  }

  function settle(event: ClaimedEvent, settlement: Settlement, ended: (result: SettleResult | null) => void): void {
    settlement.mayBeCompleted = completing.has(event);
    ends.settle(event, settlement, ended);
  }

  return {
    run,
    running: () => running.size,
    expectCompletion(event) {
      const isRunning = [...running].some((entry) => entry.event === event);
      if (isRunning) completing.add(event);
      return isRunning;
    },
    abortAll() {
      const error = namedError("AbortError", "the receiver is closing");
      for (const entry of running) {
        end(entry);
        entry.abort.abort(error);
        settleFailed(entry, asIfNeverClaimed(entry.event, true), { kind: "shutdown", error }, null, false);
      }
    },
  };
}
