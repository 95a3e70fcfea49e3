import type { Clock } from "../time/clock.js";

/** `setTimeout` fires at once for a longer delay than this; whoever waits looks at the time again. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/**
 * The system's time where `fetch` runs. Other than the receiver's clock it keeps a process alive: a script that awaits an
 * investigation must not end between two polls.
 */
export const clientClock: Clock = {
  now: Date.now,
  elapsed: () => performance.now(),
  setTimeout(callback, delayMs) {
    const timer = setTimeout(callback, Math.min(delayMs, LONGEST_DELAY_MS));
    return { cancel: () => clearTimeout(timer) };
  },
};
