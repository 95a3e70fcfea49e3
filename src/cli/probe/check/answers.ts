import { answerTimes, describeTimes, type AnswerTimes } from "../../deliveries/answer-times.js";
import { isRefusal, isSuccess, type Answered } from "../../deliveries/answer.js";
import type { Exchange } from "../../deliveries/send-cases.js";
import type { CheckContext, Observation, Probe } from "./check-context.js";
import { probeOf } from "./describe-delivery.js";

/**
 * A check of answers sends these cases if earlier checks sent too few deliveries, or got no answer
 * that its rule applies to.
 */
const SAMPLE = ["new-signal", "verification", "signature-missing", "wrong-secret"];

type AnsweredExchange = Exchange & { answer: Answered };

/** @returns null for an exchange that the rule does not apply to */
type Rule = (exchange: AnsweredExchange) => Probe | null;

export function checkUnauthorized(context: CheckContext): Promise<Observation> {
  return checkAnswers(context, (exchange) => {
    const applies = exchange.delivery.expect.status === 401 && isRefusal(exchange.answer);
    return applies ? probeOf(exchange, "status") : null;
  });
}

export function checkContentType(context: CheckContext): Promise<Observation> {
  return checkAnswers(context, (exchange) => {
    const { body, headers } = exchange.answer;
    if (body === "") return null;
    const type = headers["content-type"] ?? "(none)";
    return {
      ...probeOf(exchange, "status"),
      expected: "Content-Type: application/json",
      actual: `Content-Type: ${type}`,
      ok: /^application\/json\b/i.test(type),
    };
  });
}

async function checkAnswers(context: CheckContext, rule: Rule): Promise<Observation> {
  const applyToAll = (): Probe[] =>
    context.exchanges.filter(isAnswered).flatMap((exchange) => rule(exchange) ?? []);
  if (context.exchanges.length < SAMPLE.length || applyToAll().length === 0) {
    for (const name of SAMPLE) await context.send(context.build(name), 0);
  }
  const probes = applyToAll();
  if (probes.length === 0) return { probes, inconclusive: "no answer of this kind was received" };
  // Several checks may have sent the same case. Each case is reported once for each result.
  const distinct = new Map(probes.map((probe) => [`${probe.name} ${probe.ok}`, probe]));
  return { probes: [...distinct.values()], note: `${probes.length} answers` };
}

function isAnswered(exchange: Exchange): exchange is AnsweredExchange {
  return exchange.answer.kind === "answer";
}

const LEAST_SAMPLES = 20;

/**
 * How long the acknowledgements took, without held requests, whose delay is intended; `null` if
 * nothing was acknowledged.
 */
export function acknowledgementTimes(exchanges: readonly Exchange[]): AnswerTimes | null {
  return answerTimes(
    exchanges.flatMap(({ answer, isHeld }) => (isHeld || !isSuccess(answer) ? [] : [answer.ms])),
  );
}

export async function checkAnswerTimes(context: CheckContext): Promise<Observation> {
  for (let sent = 0; sent < LEAST_SAMPLES; sent++) {
    if ((acknowledgementTimes(context.exchanges)?.count ?? 0) >= LEAST_SAMPLES) break;
    await context.send(context.build("new-signal"), 0);
  }
  const times = acknowledgementTimes(context.exchanges);
  if (times === null) return { probes: [], inconclusive: "nothing was answered 2xx" };
  const probe = {
    name: "acknowledgements",
    sent: `${times.count} deliveries that were answered 2xx`,
    expected: `an answer within ${context.ackLimitMs} ms each`,
    actual: describeTimes(times),
    ok: times.maxMs <= context.ackLimitMs,
  };
  return { probes: [probe], note: `${times.count} acknowledgements: ${describeTimes(times)}` };
}
