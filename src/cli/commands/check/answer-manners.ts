import { describeAnswer, isRefusal, jsonIn, type Answered } from "../../deliveries/answer.js";
import { isJsonObject } from "../../deliveries/restamp.js";
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
  errorEnvelope: {
    concerns: ({ answer }) => isRefusal(answer),
    expected: '{"error":{"code","message"},"request_id"}',
    isKept: ({ answer }) => isErrorEnvelope(jsonIn(answer)),
    came: ({ answer }) => describeAnswer(answer, true),
  },
  json: {
    concerns: ({ answer }) => answer.body !== "",
    expected: "Content-Type: application/json",
    isKept: ({ answer }) => /^application\/json\b/i.test(answer.headers["content-type"] ?? ""),
    came: ({ answer }) => `Content-Type: ${answer.headers["content-type"] ?? "(none)"}`,
  },
  nosniff: {
    concerns: () => true,
    expected: "X-Content-Type-Options: nosniff",
    isKept: ({ answer }) => answer.headers["x-content-type-options"] === "nosniff",
    came: ({ answer }) => `X-Content-Type-Options: ${String(answer.headers["x-content-type-options"] ?? "(none)")}`,
  },
} as const satisfies Record<string, Manner>;

function isAnswered(exchange: Exchange): exchange is AnsweredExchange {
  return exchange.answer.kind === "answer";
}

function isErrorEnvelope(body: unknown): boolean {
  if (!isJsonObject(body) || typeof body["request_id"] !== "string") return false;
  const { error } = body;
  return isJsonObject(error) && typeof error["code"] === "string" && typeof error["message"] === "string";
}

/** Several checks may have sent the same case. */
function firstOfEach(probes: readonly Probe[]): Probe[] {
  return [...new Map(probes.toReversed().map((probe) => [`${probe.name} ${probe.ok}`, probe])).values()].toReversed();
}
