/** How long to wait before the next attempt, in milliseconds, after `attempt` attempts (1 and up) were used up. */
export type Backoff = (attempt: number) => number;

/** The bounds of the random delay between attempts. */
export interface BackoffOptions {
  /** Upper bound of the first delay. @default 10000 */
  baseMs?: number | undefined;
  /** By how much the upper bound grows. @default 3 */
  factor?: number | undefined;
  /** Upper bound of any delay. @default 21600000 (6 h) */
  maxMs?: number | undefined;
}

/**
 * Full jitter: a random delay between 0 and an upper bound that grows. With the defaults and 20 attempts the bounds add up
 * to 3.1 days (1.6 on average).
 */
export function fullJitter(options: BackoffOptions = {}, random: () => number = Math.random): Backoff {
  const { baseMs = 10_000, factor = 3, maxMs = 6 * 60 * 60 * 1000 } = options;
  // Bounded before it is multiplied: the growth overflows to Infinity, and Infinity times 0 is NaN.
  return (attempt) =>
    Math.round(random() * Math.min(maxMs, baseMs * Math.min(factor ** (attempt - 1), Number.MAX_VALUE)));
}
