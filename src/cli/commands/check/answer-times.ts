import { isSuccess } from "../../deliveries/answer.js";
import type { Exchange } from "../../deliveries/send-cases.js";
import type { CheckContext, Observation } from "./check.js";

export interface AnswerTimes {
  count: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
}

const LEAST_SAMPLES = 20;

/** How long acknowledgements took; `null` when there was none. */
export function answerTimes(exchanges: readonly Exchange[]): AnswerTimes | null {
  const times = exchanges
    .flatMap(({ answer, isHeld }) => (isHeld || !isSuccess(answer) ? [] : [answer.ms]))
    .sort((a, b) => a - b);
  if (times.length === 0) return null;
  const quantile = (part: number): number => rounded(times[Math.floor(part * (times.length - 1))] ?? 0);
  return { count: times.length, p50Ms: quantile(0.5), p99Ms: quantile(0.99), maxMs: quantile(1) };
}

export function describeTimes({ count, p50Ms, p99Ms, maxMs }: AnswerTimes): string {
  return `half of ${count} within ${p50Ms} ms, 99% within ${p99Ms} ms, the slowest ${maxMs} ms`;
}

export async function checkAnswerTimes(context: CheckContext): Promise<Observation> {
  for (let tried = 0; tried < LEAST_SAMPLES; tried++) {
    if ((answerTimes(context.exchanges)?.count ?? 0) >= LEAST_SAMPLES) break;
    await context.send(context.build("new-signal"), 0);
  }
  const times = answerTimes(context.exchanges);
  if (times === null) return { probes: [], unseen: "nothing was answered 2xx" };
  const probe = {
    name: "acknowledgements",
    sent: `${times.count} deliveries that were answered 2xx`,
    expected: `an answer within ${context.ackLimitMs} ms each`,
    came: describeTimes(times),
    ok: times.maxMs <= context.ackLimitMs,
  };
  return { probes: [probe], note: describeTimes(times) };
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
