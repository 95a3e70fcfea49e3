import { ignore } from "../../../base/errors.js";
import type { Clock, ClockTimer } from "../../../base/time/clock.js";
import type { ClaimedEvent } from "../batch.js";

/** An event that this process has leased. */
export interface LeasedEvent {
  event: ClaimedEvent;
  /**
   * When the lease was asked for, by `clock.elapsed()`: before it began in the store, so that a
   * lease counted from here is not too long.
   */
  leasedAt: number;
  /**
   * The event as parsed at its delivery; `undefined` when it was claimed from the store: then
   * `handOff` parses it.
   */
  parsed: unknown;
}

export interface AttemptsConfig {
  clock: Clock;
  timeoutMs: number;
  /**
   * Calls the user's callback. `abort.signal` is aborted at the time-out, and when the grace of a
   * close is over.
   */
  handOff: (leased: LeasedEvent, attempt: number, abort: Pick<AbortHandle, "signal">) => unknown;
}

/**
 * How an attempt ended: by its callback, by its time-out, or by `receiver.close` at the end of its
 * `graceMs`.
 */
export type AttemptEnd =
  | { how: "resolved" }
  | { how: "rejected" | "timed out"; error: unknown }
  | { how: "shutdown"; error: unknown; dueForMs: number };

/** The pace is counted anew after this time. */
const PACE_MS = 1000;

/** One object for all, because most attempts end so. */
const RESOLVED: AttemptEnd = { how: "resolved" };

interface Attempt {
  leased: LeasedEvent;
  number: number;
  abort: AbortHandle;
  timeout: ClockTimer | null;
}

/**
 * Runs attempts. One that timed out or was aborted has ended, although its callback may go on, also
 * beside the event's next attempt. How that callback ends is ignored.
 *
 * @param ended called exactly once for each attempt, perhaps before `run` returns. Must not throw.
 */
export function createAttempts(
  { clock, timeoutMs, handOff }: AttemptsConfig,
  ended: (event: ClaimedEvent, attempt: number, end: AttemptEnd) => void,
) {
  /**
   * Attempts, not a map by `seq`: after another process has reclaimed an event and released it, it
   * can be leased here again.
   */
  const running = new Set<Attempt>();
  /** Callbacks of ordered events that go on after their time-out. */
  const overdue = new Map<ClaimedEvent, Promise<unknown>>();
  let endedCount = 0;
  let countedSince = clock.elapsed();
  let pace = 0;

  function run(leased: LeasedEvent): void {
    const attempt: Attempt = {
      leased,
      number: leased.event.attempts + 1,
      abort: new AbortHandle(),
      timeout: null,
    };
    // Before the callback is called, which can throw at once, or read `handoff.completeSql`, which
    // asks `isRunning`.
    running.add(attempt);
    attempt.timeout = clock.setTimeout(() => {
      const message = `the callback did not settle within ${timeoutMs} ms`;
      const error = Object.assign(new Error(message), { name: "TimeoutError" });
      attempt.abort.abort(error);
      if (leased.event.lane != null && returned !== undefined)
        overdue.set(leased.event, returned.then(ignore, ignore));
      finish(attempt, { how: "timed out", error });
      overdue.delete(leased.event);
    }, timeoutMs);
    let returned: Promise<unknown> | undefined;
    try {
      returned = Promise.resolve(handOff(leased, attempt.number, attempt.abort));
    } catch (error) {
      finish(attempt, { how: "rejected", error });
      return;
    }
    returned.then(
      () => finish(attempt, RESOLVED),
      (error: unknown) => finish(attempt, { how: "rejected", error }),
    );
  }

  function finish(attempt: Attempt, end: AttemptEnd): void {
    // False for one that has ended already.
    if (!running.delete(attempt)) return;
    attempt.timeout?.cancel();
    endedCount += 1;
    ended(attempt.leased.event, attempt.number, end);
  }

  return {
    run,
    count: () => running.size,
    /** How many lately ended in a second. */
    pace(): number {
      const elapsed = clock.elapsed() - countedSince;
      if (elapsed < PACE_MS) return pace;
      pace = Math.ceil((endedCount * PACE_MS) / elapsed);
      endedCount = 0;
      countedSince += elapsed;
      return pace;
    },
    /** While the end of an attempt is told: its callback, if the next event must wait for it. */
    overdue: (event: ClaimedEvent) => overdue.get(event),
    /** Whether an attempt of this lease runs. Each lease has an object of its own. */
    isRunning: (event: ClaimedEvent) => [...running].some(({ leased }) => leased.event === event),
    abortAll(): void {
      const error = Object.assign(new Error("the receiver is closing"), { name: "AbortError" });
      for (const attempt of running) {
        attempt.abort.abort(error);
        finish(attempt, { how: "shutdown", error, dueForMs: dueForMs(attempt.leased, clock) });
      }
    },
  };
}

/**
 * For how many milliseconds the event has been due by now; `event.dueForMs` is that at the begin of
 * its lease.
 */
export function dueForMs({ event, leasedAt }: LeasedEvent, clock: Clock): number {
  return event.dueForMs + clock.elapsed() - leasedAt;
}

/**
 * Aborts the callback of one attempt, with a reason whose name is that of Node's own aborts, so
 * that callbacks can check for it. The abort signal is made when the callback first reads it,
 * because most never do. A class, because an object literal with a getter takes several times as
 * long to make.
 */
export class AbortHandle {
  #controller: AbortController | null = null;
  #aborted: Error | null = null;

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#aborted !== null) this.#controller.abort(this.#aborted);
    }
    return this.#controller.signal;
  }

  abort(reason: Error): void {
    this.#aborted = reason;
    this.#controller?.abort(reason);
  }
}
