import type { Exchange } from "../../deliveries/send-cases.js";

/** A `Date` header has whole seconds, so less than half a second cannot be seen. */
const NOTICEABLE_MS = 500;

/**
 * How far the receiver's clock is ahead of ours (negative: behind), in milliseconds; 0 when they may well agree, or
 * nothing is known. By the `Date` headers: each says that the receiver's second was this one at some moment between
 * sending and answer.
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
  // The dates contradict each other: several machines answer, or a clock was set.
  if (least > most || !Number.isFinite(least)) return 0;
  if (least > NOTICEABLE_MS) return least;
  return most < -NOTICEABLE_MS ? most : 0;
}

export function describeOffset(offsetMs: number): string {
  const seconds = Math.abs(offsetMs / 1000).toFixed(1);
  return `the receiver's clock is ${seconds} s ${offsetMs > 0 ? "ahead of" : "behind"} this machine's, by its Date header`;
}
