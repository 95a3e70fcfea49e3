import type { Clock } from "../time/clock.js";
import { SignalboxError } from "../errors.js";

/** A {@link Clock} that a test moves. */
export interface ManualClock extends Clock {
  /**
   * Moves time on and runs each timer that comes due at its own moment, in order, letting what it set off go on
   * before the next one. A day takes a receiver about a second of real time, since it looks at its store every second of
   * the clock: to get to what is due in weeks, as retention is, `setNow` first and then advance by an hour.
   *
   * @throws SignalboxError `option_invalid` for what is no time, or would go back
   */
  advance(ms: number): Promise<void>;
  /** Sets the wall clock, forward or back, as somebody setting the machine's clock does: no timer runs. */
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
  let timers: { at: number; callback: () => void }[] = [];

  return {
    now: () => now,
    elapsed: () => elapsed,
    setTimeout(callback, delayMs) {
      const timer = { at: elapsed + Math.max(0, delayMs), callback };
      timers.push(timer);
      return { cancel: () => (timers = timers.filter((other) => other !== timer)) };
    },
    async advance(ms) {
      assertMs("clock.advance", ms, 0);
      const end = elapsed + ms;
      await settle();
      for (;;) {
        const next = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        timers = timers.filter((timer) => timer !== next);
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
    pendingTimers: () => timers.length,
  };
}

async function settle(): Promise<void> {
  // A few turns: a timer's work may itself wait for a turn (a batch, a pump) before it sets the next timer.
  for (let turn = 0; turn < 4; turn++) await new Promise((resume) => setImmediate(resume));
}

/** With NaN every timer would be late and none due. */
function assertMs(of: string, ms: unknown, least: number): void {
  if (typeof ms === "number" && Number.isFinite(ms) && ms >= least) return;
  const wanted = least === 0 ? "of at least 0; to set the clock back there is clock.setNow" : "since 1970";
  throw new SignalboxError(
    "option_invalid",
    `${of} was given ${String(ms)}.`,
    `Give it a number of milliseconds ${wanted}.`,
  );
}
