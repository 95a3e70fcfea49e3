import type { Exchange } from "../../deliveries/send-cases.js";

/**
 * A `Date` header has whole seconds, so a smaller clock difference cannot be measured and counts as
 * none.
 */
const NOTICEABLE_MS = 500;

/**
 * The least possible difference between the receiver's clock and this machine's clock, in
 * milliseconds; negative if the receiver's clock is behind. Each `Date` header has the receiver's
 * time at a moment between the sending of a delivery and its answer. The result is 0 when the
 * clocks may agree according to these headers, and when no answer has one.
 */
export function receiverClockOffset(exchanges: readonly Exchange[]): number {
  let least = -Infinity;
  let most = Infinity;
  for (const { answer, sentAt, answeredAt } of exchanges) {
    const date = answer.kind === "answer" ? Date.parse(answer.headers.date ?? "") : NaN;
    if (Number.isNaN(date)) continue;
    least = Math.max(least, date - answeredAt);
    most = Math.min(most, date + 1000 - sentAt);
  }
  // The headers contradict each other, so they show nothing: several machines answer, or a clock
  // was changed during the run.
  if (least > most || !Number.isFinite(least)) return 0;
  if (least > NOTICEABLE_MS) return least;
  return most < -NOTICEABLE_MS ? most : 0;
}

export function describeOffset(offsetMs: number): string {
  const seconds = Math.abs(offsetMs / 1000).toFixed(1);
  const side = offsetMs > 0 ? "ahead of" : "behind";
  return `the receiver's clock is ${seconds} s ${side} this machine's clock, according to its Date header`;
}
