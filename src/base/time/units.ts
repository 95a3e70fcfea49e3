export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
/** With a longer delay, Node's `setTimeout` calls back immediately. */
export const LONGEST_DELAY_MS = 2 ** 31 - 1;
