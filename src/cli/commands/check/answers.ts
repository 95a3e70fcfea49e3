import { describeAnswer, isRefusal, isSuccess, type Answered } from "../../deliveries/answer.js";
import type { Exchange } from "../../deliveries/send-cases.js";
import type { CheckContext, Observation, Probe } from "./check.js";
import { describeDelivery } from "./describe-delivery.js";

/** What is sent when the other checks got too few answers, or none of the kind in question. */
const SAMPLE = ["new-signal", "verification", "signature-missing", "wrong-secret"];

type AnsweredExchange = Exchange & { answer: Answered };

/** A manner of answering. */
interface Manner {
  /** The exchanges that it is about. */
  concerns(exchange: AnsweredExchange): boolean;
  expected: string;
  isKept(exchange: AnsweredExchange): boolean;
  /** What the answer had instead. */
  came(exchange: AnsweredExchange): string;
}

/** Lists all answers so far that the manner concerns, and whether each one keeps it. */
export async function checkManner(manner: Manner, context: CheckContext): Promise<Observation> {
  const concernedSoFar = (): AnsweredExchange[] =>
    context.exchanges.filter(isAnswered).filter((exchange) => manner.concerns(exchange));
  if (context.exchanges.length < SAMPLE.length || concernedSoFar().length === 0) {
    for (const name of SAMPLE) await context.send(context.build(name), 0);
  }
  const concerned = concernedSoFar();
  if (concerned.length === 0) return { probes: [], unseen: "no such answer came" };
  const probes = concerned.map((exchange): Probe => {
    const { name } = exchange.delivery;
    return {
      name,
      sent: describeDelivery(exchange.delivery, 1),
      expected: manner.expected,
      came: manner.came(exchange),
      ok: manner.isKept(exchange),
    };
  });
  return { probes: firstOfEach(probes), note: `${concerned.length} answers` };
}

export const MANNERS = {
  unauthorized: {
    concerns: ({ delivery, answer }) => delivery.expect.status === 401 && isRefusal(answer),
    expected: "401",
    isKept: ({ answer }) => answer.status === 401,
    came: ({ answer }) => describeAnswer(answer, true),
  },
  json: {
    concerns: ({ answer }) => answer.body !== "",
    expected: "Content-Type: application/json",
    isKept: ({ answer }) => /^application\/json\b/i.test(answer.headers["content-type"] ?? ""),
    came: ({ answer }) => `Content-Type: ${answer.headers["content-type"] ?? "(none)"}`,
  },
} as const satisfies Record<string, Manner>;

function isAnswered(exchange: Exchange): exchange is AnsweredExchange {
  return exchange.answer.kind === "answer";
}

/** Several checks may have sent the same case. */
function firstOfEach(probes: readonly Probe[]): Probe[] {
  return [...new Map(probes.toReversed().map((probe) => [`${probe.name} ${probe.ok}`, probe])).values()].toReversed();
}

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
