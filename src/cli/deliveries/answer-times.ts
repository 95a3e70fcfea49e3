export type AnswerTimes = NonNullable<ReturnType<typeof answerTimes>>;

/** @returns null when there is no duration */
export function answerTimes(durations: readonly number[]) {
  if (durations.length === 0) return null;
  const sorted = durations.toSorted((a, b) => a - b);
  const quantile = (part: number): number =>
    rounded(sorted[Math.floor(part * (sorted.length - 1))] ?? 0);
  return { count: sorted.length, p50Ms: quantile(0.5), p99Ms: quantile(0.99), maxMs: quantile(1) };
}

export function describeTimes({ p50Ms, p99Ms, maxMs }: AnswerTimes): string {
  return `median ${p50Ms} ms, 99th percentile ${p99Ms} ms, slowest ${maxMs} ms`;
}

export function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
