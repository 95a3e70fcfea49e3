/**
 * The smallest value that so many percent of the values do not exceed (nearest rank): always a
 * measured one.
 *
 * @param sorted ascending
 */
export function percentile(sorted: ArrayLike<number>, percent: number): number {
  if (sorted.length === 0) return Number.NaN;
  // Rounded first: 99.9 / 100 * 1000 is a little more than 999.
  const rank = Math.ceil(Number(((percent / 100) * sorted.length).toFixed(6)));
  return sorted[Math.max(0, rank - 1)] ?? Number.NaN;
}

/** The middle one, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  if (sorted.length === 0) return Number.NaN;
  if (Number.isInteger(middle)) return ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
  return sorted[Math.floor(middle)] ?? Number.NaN;
}

/** A figure over several rounds. */
export interface Spread {
  median: number;
  min: number;
  max: number;
}

export function spread(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** Null if a round has no value, because the system does not provide it. */
export function medianOrNull(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === values.length && known.length > 0 ? median(known) : null;
}

/**
 * The longest wait of so many percent of all arrivals at random moments, when an arrival within a
 * gap waits for the gap's end. So a long gap counts by its length, not once.
 *
 * @param idle the length of a gap that makes no arrival wait
 */
export function waitQuantile(gaps: readonly number[], idle: number, percent: number): number {
  const stalls = gaps.map((gap) => Math.max(0, gap - idle)).sort((a, b) => b - a);
  const total = gaps.reduce((sum, gap) => sum + gap, 0);
  // The time in which an arrival waits longer than x is the sum of what each stall has beyond x. It
  // falls from stall to stall in straight lines: find the line that crosses the level.
  const allowed = total * (1 - percent / 100);
  let sum = 0;
  for (const [index, stall] of stalls.entries()) {
    sum += stall;
    const count = index + 1;
    const x = (sum - allowed) / count;
    if (x >= (stalls[count] ?? 0)) return Math.max(0, x);
  }
  return 0;
}
