import type { Clock, ClockTimer } from "../../time/clock.js";
import { AbortHandle, namedError } from "./abort-handle.js";
import type { ClaimedEvent } from "../batch.js";

/** An event that this process has leased. */
export interface LeasedEvent {
  event: ClaimedEvent;
  /** When the lease was asked for, by `clock.elapsed()`: before it began in the store, so it ends here no later than there. */
  leasedAt: number;
  /** The event as parsed at its delivery; `undefined` when it was claimed from the store: then `handOff` parses it. */
  parsed: unknown;
}

export interface AttemptsConfig {
  clock: Clock;
  timeoutMs: number;
  /** Calls the user's callback. `abort.signal` is aborted at the time-out, and when the grace of a close is over. */
  handOff: (leased: LeasedEvent, attempt: number, abort: Pick<AbortHandle, "signal">) => unknown;
}

/** How an attempt ended: its callback, its time-out or the end of a close's grace came first. */
export type AttemptEnd =
  | { how: "resolved" }
  | { how: "rejected" | "timed out"; error: unknown }
  | { how: "shutdown"; error: unknown; dueForMs: number };

interface Attempt {
  leased: LeasedEvent;
  number: number;
  abort: AbortHandle;
  timeout: ClockTimer | null;
}

/**
 * Runs attempts. One that timed out or was aborted has ended, although its callback may go on; what that does later is ignored.
 *
 * @param ended called exactly once for each, perhaps before `run` returns. Must not throw.
 */
export function createAttempts(
  { clock, timeoutMs, handOff }: AttemptsConfig,
  ended: (event: ClaimedEvent, attempt: number, end: AttemptEnd) => void,
) {
  /** By object: an event that another process reclaimed and released can be leased here again beside its first attempt. */
  const running = new Set<Attempt>();
  let endedCount = 0;

  function run(leased: LeasedEvent): void {
    const attempt: Attempt = {
      leased,
      number: leased.event.attempts + 1,
      abort: new AbortHandle(),
      timeout: null,
    };
    // Before the callback, which can throw or read `completeSql` at once.
    running.add(attempt);
    attempt.timeout = clock.setTimeout(() => {
      const error = namedError("TimeoutError", `the callback did not settle within ${timeoutMs} ms`);
      attempt.abort.abort(error);
      finish(attempt, { how: "timed out", error });
    }, timeoutMs);
    let returned: Promise<unknown>;
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
    /** How many have ended since the last call. */
    takeEnded(): number {
      const taken = endedCount;
      endedCount = 0;
      return taken;
    },
    /** Whether an attempt of this lease runs. Each lease has an object of its own. */
    isRunning: (event: ClaimedEvent) => [...running].some(({ leased }) => leased.event === event),
    abortAll(): void {
      const error = namedError("AbortError", "the receiver is closing");
      for (const attempt of running) {
        attempt.abort.abort(error);
        finish(attempt, { how: "shutdown", error, dueForMs: dueForMs(attempt.leased, clock) });
      }
    },
  };
}

/** For how many milliseconds the event has been due. */
export function dueForMs({ event, leasedAt }: LeasedEvent, clock: Clock): number {
  return event.dueForMs + clock.elapsed() - leasedAt;
}

/** One object for all, because most attempts end so. */
const RESOLVED: AttemptEnd = { how: "resolved" };
