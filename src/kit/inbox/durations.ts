/** Durations of an operation. */
export interface DurationStats {
  /** The number of operations since the start. */
  count: number;
  /**
   * The median of the last 512 durations, in milliseconds; 0 when there was none. `p99Ms` and
   * `maxMs` are of the same durations.
   */
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
}

export const KEPT = 512;

export function createDurations() {
  const kept = new Float64Array(KEPT);
  let count = 0;
  return {
    add(durationMs: number): void {
      kept[count % KEPT] = durationMs;
      count += 1;
    },
    stats(): DurationStats {
      const sorted = kept.slice(0, Math.min(count, KEPT)).sort();
      // Rounded to microseconds.
      const at = (share: number): number =>
        Math.round((sorted[Math.ceil(share * sorted.length) - 1] ?? 0) * 1000) / 1000;
      return { count, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
    },
  };
}
