import { throwIfInterrupted } from "../../options/define-command.js";
import type { Wanted } from "../../deliveries/answer.js";
import type { BuiltDelivery } from "../../deliveries/build-delivery.js";
import type { Exchange } from "../../deliveries/send-cases.js";
import type { CheckContext, Observation, Probe } from "./check.js";
import { probeOf } from "./describe-delivery.js";

export type Bound = readonly [skewSeconds: number, wanted: Wanted];

/** Deliveries are sent early in a second. A small clock difference or network delay then does not change a delivery's age. */
const EARLIEST_MS = 100;
const LATEST_MS = 400;
const TRIES = 10;

/**
 * Sends deliveries whose age is exact to the second: each is signed and answered while the clock shows the same second. An
 * unexpected answer fails the check only if the age was exact and the clocks of this machine and the receiver agree. Otherwise
 * it proves nothing.
 */
export async function checkBounds(bounds: readonly Bound[], context: CheckContext): Promise<Observation> {
  const probes: Probe[] = [];
  let inconclusive: string | undefined;
  for (const [skewSeconds, wanted] of bounds) {
    const name = `${skewSeconds} s`;
    const built = context.build({ name, event: "signals/price_increased", skewSeconds, expect: { status: 200 } });
    const { probe, isExact } = await sendWithinOneSecond(built, wanted, context);
    const offset = receiverClockOffset(context.exchanges);
    if (probe.ok || (offset === 0 && isExact)) probes.push(probe);
    else if (offset !== 0) inconclusive = describeOffset(offset);
    else inconclusive = "the receiver answered too slowly to know the delivery's age to the second";
  }
  return { probes, ...(inconclusive !== undefined && { inconclusive }) };
}

async function sendWithinOneSecond(
  built: BuiltDelivery,
  wanted: Wanted,
  context: CheckContext,
): Promise<{ probe: Probe; isExact: boolean }> {
  for (let tried = 1; ; tried++) {
    await untilEarlyInSecond(context.signal);
    const second = Math.floor(Date.now() / 1000);
    const probe = probeOf(await context.send(built, 0), wanted);
    const isExact = Math.floor(Date.now() / 1000) === second;
    if (isExact || tried === TRIES || probe.ok) return { probe, isExact };
  }
}

async function untilEarlyInSecond(signal: AbortSignal): Promise<void> {
  for (;;) {
    throwIfInterrupted(signal);
    const phase = Date.now() % 1000;
    if (phase >= EARLIEST_MS && phase <= LATEST_MS) return;
    const wait = phase < EARLIEST_MS ? EARLIEST_MS - phase : 1000 + EARLIEST_MS - phase;
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

/** A `Date` header has whole seconds, so a smaller clock difference cannot be measured and counts as none. */
const NOTICEABLE_MS = 500;

/**
 * The least possible difference between the receiver's clock and this machine's clock, in milliseconds; negative if the
 * receiver's clock is behind. Each `Date` header has the receiver's time at a moment between the sending of a delivery and its
 * answer. The result is 0 when the clocks may agree according to these headers, and when no answer has one.
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
  // The headers contradict each other, so they show nothing: several machines answer, or a clock was changed during the run.
  if (least > most || !Number.isFinite(least)) return 0;
  if (least > NOTICEABLE_MS) return least;
  return most < -NOTICEABLE_MS ? most : 0;
}

export function describeOffset(offsetMs: number): string {
  const seconds = Math.abs(offsetMs / 1000).toFixed(1);
  const side = offsetMs > 0 ? "ahead of" : "behind";
  return `the receiver's clock is ${seconds} s ${side} this machine's clock, according to its Date header`;
}
