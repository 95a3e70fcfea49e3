/**
 * Returns the delay before the next attempt, in milliseconds, after `attempt` failed attempts (1 or
 * more).
 */
export type Backoff = (attempt: number) => number;

/** The bounds of the random delay between attempts. */
export interface BackoffOptions {
  /** Upper bound of the first delay. @default 10000 */
  baseMs?: number | undefined;
  /** After each attempt the upper bound is multiplied by this. @default 3 */
  factor?: number | undefined;
  /** Upper bound of any delay. @default 21600000 (6 h) */
  maxMs?: number | undefined;
}

/** Full jitter: a random delay between 0 and an upper bound that grows with each attempt. */
export function fullJitter(
  options: BackoffOptions = {},
  random: () => number = Math.random,
): Backoff {
  const { baseMs = 10_000, factor = 3, maxMs = 6 * 60 * 60 * 1000 } = options;
  // `factor ** …` can be Infinity, and Infinity times a `baseMs` of 0 is NaN. So the power is
  // limited first.
  return (attempt) =>
    Math.round(
      random() * Math.min(maxMs, baseMs * Math.min(factor ** (attempt - 1), Number.MAX_VALUE)),
    );
}
