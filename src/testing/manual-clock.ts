import type { Clock } from "../time/clock.js";
import { SignalboxError } from "../errors.js";

/** A {@link Clock} that a test moves. */
export interface ManualClock extends Clock {
  /**
   * Moves time on. Each timer runs at its own moment, in order, and the promises it settled go on before the next timer
   * runs. A day takes a receiver about a second of real time, since it polls its store every second of the clock. To get
   * to what is due in weeks, such as retention: `setNow` first, then advance by an hour.
   *
   * @throws SignalboxError `option_invalid` for what is no time, or would go back
   */
  advance(ms: number): Promise<void>;
  /** Sets the wall clock, forward or back, as a person sets the machine's clock: no timer runs. */
  setNow(ms: number): void;
  /** How many timers wait. */
  pendingTimers(): number;
}

/**
 * A clock that stands still until it is moved.
 *
 * @param startMs milliseconds since 1970. @default the time of the call
 * @throws SignalboxError `option_invalid`
 * @example
 * const clock = createManualClock();
 * const receiver = createReceiver({ secrets, store: memoryStore(), onSignal, clock });
 * await clock.advance(60_000);
 */
export function createManualClock(startMs: number = Date.now()): ManualClock {
  assertMs("createManualClock", startMs, -Infinity);
  let now = startMs;
  let elapsed = 0;
  const timers = new Set<{ at: number; callback: () => void }>();

  return {
    now: () => now,
    elapsed: () => elapsed,
    setTimeout(callback, delayMs) {
      const timer = { at: elapsed + Math.max(0, delayMs), callback };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
    async advance(ms) {
      assertMs("clock.advance", ms, 0);
      const end = elapsed + ms;
      await settle();
      for (;;) {
        const next = [...timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        timers.delete(next);
        now += next.at - elapsed;
        elapsed = next.at;
        next.callback();
        await settle();
      }
      now += end - elapsed;
      elapsed = end;
      await settle();
    },
    setNow(ms) {
      assertMs("clock.setNow", ms, -Infinity);
      now = ms;
    },
    pendingTimers: () => timers.size,
  };
}

async function settle(): Promise<void> {
  // A few turns: the work of a timer may wait for a turn (a batch, a pump) before it sets the next timer.
  for (let turn = 0; turn < 4; turn++) await new Promise((resume) => setImmediate(resume));
}

/** With NaN no timer would ever be due. */
function assertMs(of: string, ms: unknown, least: number): void {
  if (typeof ms === "number" && Number.isFinite(ms) && ms >= least) return;
  const wanted = least === 0 ? "of at least 0; to set the clock back there is clock.setNow" : "since 1970";
  throw new SignalboxError(
    "option_invalid",
    `${of} was given ${String(ms)}.`,
    `Give it a number of milliseconds ${wanted}.`,
  );
}
