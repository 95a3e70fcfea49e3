import { LONGEST_DELAY_MS } from "./units.js";

/** A pending call of {@link Clock.setTimeout}. */
export interface ClockTimer {
  /** Idempotent. Has no effect once the callback was called. */
  cancel(): void;
}

/** The source of time, which tests replace (`createManualClock` of `signalbox/testing`). */
export interface Clock {
  /** Milliseconds since 1970. Jumps when the machine's clock is set. */
  now(): number;
  /** Milliseconds since an arbitrary moment that stays the same. Never jumps. */
  elapsed(): number;
  /** Measures elapsed time, and does not keep the process alive. */
  setTimeout(callback: () => void, delayMs: number): ClockTimer;
}

export const systemClock: Clock = {
  now: Date.now,
  elapsed: () => performance.now(),
  setTimeout(callback, delayMs) {
    const timer = setTimeout(callback, Math.min(delayMs, LONGEST_DELAY_MS));
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
};
