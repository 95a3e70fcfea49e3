import { throwIfInterrupted } from "../../options/define-command.js";
import type { Wanted } from "../../deliveries/answer.js";
import type { BuiltDelivery } from "../../deliveries/build-delivery.js";
import type { Exchange } from "../../deliveries/send-cases.js";
import type { CheckContext, Observation, Probe } from "./check.js";
import { probeOf } from "./describe-delivery.js";

export type Bound = readonly [skewSeconds: number, wanted: Wanted];

/** Deliveries are sent this long after a second begins, so that small clock differences and network delay do not matter. */
const EARLIEST_MS = 100;
const LATEST_MS = 400;
const TRIES = 10;

/**
 * Sends deliveries whose age is exact to the second: they are signed and answered while the clock shows the same second. An
 * unexpected answer counts only if that succeeded and the two clocks agree.
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

/** A `Date` header has whole seconds, so a smaller difference cannot be measured. */
const NOTICEABLE_MS = 500;

/**
 * How far the receiver's clock is ahead of this machine's clock (negative: behind), in milliseconds. It is 0 when the clocks
 * may agree, and when the `Date` headers do not show a difference. Each header has the receiver's time at a moment between
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
  // The headers contradict each other: several machines answer, or a clock was changed during the run.
  if (least > most || !Number.isFinite(least)) return 0;
  if (least > NOTICEABLE_MS) return least;
  return most < -NOTICEABLE_MS ? most : 0;
}

export function describeOffset(offsetMs: number): string {
  const seconds = Math.abs(offsetMs / 1000).toFixed(1);
  const side = offsetMs > 0 ? "ahead of" : "behind";
  return `the receiver's clock is ${seconds} s ${side} this machine's clock, according to its Date header`;
}
