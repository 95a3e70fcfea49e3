/** A pending call of {@link Clock.setTimeout}. */
export interface ClockTimer {
  /** Idempotent; without effect once the call was made. */
  cancel(): void;
}

/** Where all time comes from, so that a test can move it (`createManualClock` of `signalbox/testing`). */
export interface Clock {
  /** Milliseconds since 1970. Jumps when the machine's clock is set. */
  now(): number;
  /** Milliseconds since any moment; never jumps. */
  elapsed(): number;
  /** Runs on elapsed time and never keeps a process alive. */
  setTimeout(callback: () => void, delayMs: number): ClockTimer;
}

/** Node's `setTimeout` fires at once for a longer delay than this. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: Date.now,
  elapsed: () => performance.now(),
  setTimeout(callback, delayMs) {
    const timer = setTimeout(callback, Math.min(delayMs, LONGEST_DELAY_MS));
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
};
