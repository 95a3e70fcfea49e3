import { SignalboxError } from "../../base/errors.js";
import type { Clock } from "../../base/time/clock.js";

/** A {@link Clock} that a test advances. */
export interface ManualClock extends Clock {
  /**
   * Advances the clock. Each timer runs at its time, in order, and its promises are handled before
   * the next timer runs. A day takes about a second of real time, because a receiver polls its
   * store every second of the clock. To reach events that are due in weeks, such as retention, call
   * `setNow` first, then advance by a minute.
   *
   * @throws SignalboxError `option_invalid` for a negative or invalid number
   */
  advance(ms: number): Promise<void>;
  /**
   * Sets the wall clock, forward or back, without running timers, like a change of the machine's
   * clock.
   */
  setNow(ms: number): void;
  /** The number of timers that wait. */
  pendingTimers(): number;
}

/**
 * Makes a clock that stands still until the test advances it.
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
  // Several turns, because the work of a timer (a batch, for example) may wait for a turn before it
  // sets the next timer.
  for (let turn = 0; turn < 4; turn++) await new Promise((resume) => setImmediate(resume));
}

function assertMs(of: string, ms: unknown, least: number): void {
  if (typeof ms === "number" && Number.isFinite(ms) && ms >= least) return;
  const wanted =
    least === 0 ? "of at least 0, or set the clock back with clock.setNow" : "since 1970";
  const help = `Give it a number of milliseconds ${wanted}.`;
  throw new SignalboxError("option_invalid", `${of} was given ${String(ms)}.`, help);
}
