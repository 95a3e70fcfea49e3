import { throwIfInterrupted } from "../../options/define-command.js";
import { describeAnswer, type Answer } from "../../deliveries/answer.js";
import { describeWanted, isAsWanted, type Wanted } from "../../deliveries/judge-answer.js";
import type { Exchange } from "../../deliveries/send-cases.js";
import type { CheckContext, Observation, Probe } from "./check.js";

export type Bound = readonly [skewSeconds: number, wanted: Wanted];

const EVENT = "signals/price_increased";
/** Into the second: room for clocks that differ a little, in either direction, and for the way to the receiver. */
const EARLIEST_MS = 100;
const LATEST_MS = 400;
const TRIES = 10;

/**
 * Sends deliveries whose age is exact to the second: they are signed and answered within one second of the clock. Where that
 * fails, or the clocks differ, nothing is concluded.
 */
export async function checkBounds(bounds: readonly Bound[], context: CheckContext): Promise<Observation> {
  const probes: Probe[] = [];
  let unseen: string | undefined;
  for (const [skewSeconds, wanted] of bounds) {
    const { answer, isExact, event } = await sendWithinOneSecond(skewSeconds, wanted, context);
    const offset = receiverClockOffset(context.exchanges);
    const ok = isAsWanted(wanted, answer, { status: 200 });
    if (!ok && offset !== 0) {
      unseen = describeOffset(offset);
    } else if (!ok && !isExact) {
      unseen = "no answer came within the second in which the delivery was signed, so its age is not known exactly";
    } else {
      const side = skewSeconds < 0 ? "ago" : "ahead";
      probes.push({
        name: `${skewSeconds > 0 ? "+" : ""}${skewSeconds}`,
        sent: `POST ${event}, correctly signed, exactly ${Math.abs(skewSeconds)} s ${side}`,
        expected: describeWanted(wanted, { status: 200 }),
        came: describeAnswer(answer, true),
        ok,
      });
    }
  }
  return { probes, ...(unseen !== undefined && { unseen }) };
}

async function sendWithinOneSecond(
  skewSeconds: number,
  wanted: Wanted,
  context: CheckContext,
): Promise<{ answer: Answer; isExact: boolean; event: string }> {
  const built = context.build({ name: "age", event: EVENT, skewSeconds, expect: { status: 200 } });
  for (let tried = 1; ; tried++) {
    await untilEarlyInSecond(context.signal);
    const second = Math.floor(Date.now() / 1000);
    const { answer } = await context.send(built, 0);
    const isExact = Math.floor(Date.now() / 1000) === second;
    if (isExact || tried === TRIES || isAsWanted(wanted, answer, { status: 200 })) {
      return { answer, isExact, event: built.delivery.event ?? EVENT };
    }
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

/** A `Date` header has whole seconds, so less than half a second cannot be seen. */
const NOTICEABLE_MS = 500;

/**
 * How far the receiver's clock is ahead of this machine's (negative: behind), in milliseconds; 0 when they may agree, or nothing
 * is known. Each `Date` header names the receiver's second at some moment between sending and answer.
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
