import { DAY_MS } from "../../base/time/units.js";

/** Asks how much happened in each span of time. */
export interface ActivityQuery {
  /** The length of a span, in whole minutes. */
  minutes: number;
  /** How many spans, the last of which is the present one. */
  spans: number;
}

/**
 * What happened in a span of time, by the store's clock. For people: after a failed commit or a
 * crash something may be counted twice, or not at all.
 */
export interface Activity {
  /** The start of the span, in milliseconds since 1970: a multiple of its length. */
  at: number;
  accepted: number;
  /** Of these, the events that were `done` at once, because no callback takes their type. */
  ignored: number;
  /** Hand-offs that completed their event. */
  handedOff: number;
  /** Attempts that failed. */
  failed: number;
  /**
   * The hand-offs that completed their event, by the time from received to done: how many took at
   * most `DURATION_BOUNDS_MS[0]`, how many more at most the next bound, and last how many took
   * longer than all bounds.
   */
  durations: readonly number[];
}

/** What a commit counts, and sums of it. */
export type ActivityCounts = Omit<Activity, "at" | "durations"> & { durations: number[] };

/** See `durations` of {@link Activity}. A store has a column for each, and for what is above. */
export const DURATION_BOUNDS_MS: readonly number[] = [
  5, 10, 25, 50, 100, 250, 500, 1000, 2500, 10_000, 60_000, 600_000, 3_600_000,
];

export function noActivity(): ActivityCounts {
  const durations = Array.from({ length: DURATION_BOUNDS_MS.length + 1 }, () => 0);
  return { accepted: 0, ignored: 0, handedOff: 0, failed: 0, durations };
}

/** Counts an event that is done, this long after it was received. */
export function countDone(counts: ActivityCounts, durationMs: number): void {
  let index = 0;
  while (durationMs > (DURATION_BOUNDS_MS[index] ?? Infinity)) index += 1;
  counts.durations[index]! += 1;
  counts.handedOff += 1;
}

export function addActivity<Sum extends ActivityCounts>(sum: Sum, more: Omit<Activity, "at">): Sum {
  for (const name of ["accepted", "ignored", "handedOff", "failed"] as const)
    sum[name] += more[name];
  more.durations.forEach((count, index) => (sum.durations[index]! += count));
  return sum;
}

/**
 * @param percent 50 for the median
 * @returns within how many milliseconds so many of the events were done: a bound, so at least as
 * long as it took. Infinity above all bounds; null when nothing was counted
 */
export function percentileOf(durations: Activity["durations"], percent: number): number | null {
  let left = (durations.reduce((sum, count) => sum + count) * percent) / 100;
  if (left === 0) return null;
  return DURATION_BOUNDS_MS[durations.findIndex((count) => (left -= count) <= 0)] ?? Infinity;
}

/** For how long activity is kept. */
export const ACTIVITY_KEPT_MS = 8 * DAY_MS;
