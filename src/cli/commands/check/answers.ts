import { answerTimes, describeTimes, type AnswerTimes } from "../../deliveries/answer-times.js";
import { isSuccess } from "../../deliveries/answer.js";
import type { Exchange } from "../../deliveries/send-cases.js";
import type { CheckContext, Observation, Probe } from "./check.js";
import { probeOf } from "./describe-delivery.js";

const SAMPLE = ["new-signal", "verification", "signature-missing", "wrong-secret"];

export async function checkContentType(context: CheckContext): Promise<Observation> {
  const probes: Probe[] = [];
  for (const name of SAMPLE) {
    const exchange = await context.send(context.build(name), 0);
    const { answer } = exchange;
    if (answer.kind !== "answer" || answer.body === "") continue;
    const type = answer.headers["content-type"] ?? "(none)";
    probes.push({
      ...probeOf(exchange, "status"),
      expected: "Content-Type: application/json",
      actual: `Content-Type: ${type}`,
      ok: /^application\/json\b/i.test(type),
    });
  }
  return probes.length === 0 ? { probes, inconclusive: "no answer has a body" } : { probes };
}

const LEAST_SAMPLES = 20;

/** How long the acknowledgements took, without held requests, whose delay is intended; `null` if nothing was acknowledged. */
export function acknowledgementTimes(exchanges: readonly Exchange[]): AnswerTimes | null {
  return answerTimes(exchanges.flatMap(({ answer, isHeld }) => (isHeld || !isSuccess(answer) ? [] : [answer.ms])));
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
