import { jsonOf } from "../../deliveries/compare-answer.js";
import { isJsonObject } from "../../deliveries/restamp.js";
import type { Observation, Probe } from "./check.js";
import type { CheckContext, Exchange } from "./check-context.js";
import { describeDelivery } from "./describe-delivery.js";
import { isRefusal } from "./judge-answer.js";
import { wordsOf } from "./run-cases.js";

/** What is looked at when other checks have sent too little, or nothing that it is about. */
const SAMPLE = ["new-signal", "verification", "signature-missing", "wrong-secret"];

type Answered = Exchange & { answer: { kind: "answer" } };

/** A manner of answering. */
interface Manner {
  /** The exchanges that it is about. */
  concerns(exchange: Answered): boolean;
  expected: string;
  isKept(exchange: Answered): boolean;
  /** What the answer had instead. */
  came(exchange: Answered, context: CheckContext): string;
}

/** Looks through all answers that came so far, and lists those that lack the manner. */
export async function checkManner(manner: Manner, context: CheckContext): Promise<Observation> {
  const concernedSoFar = (): Answered[] =>
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
      came: manner.came(exchange, context),
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
    came: ({ answer }, context) => wordsOf(answer, context),
  },
  errorEnvelope: {
    concerns: ({ answer }) => isRefusal(answer),
    expected: '{"error":{"code","message"},"request_id"}',
    isKept: ({ answer }) => isErrorEnvelope(jsonOf(answer.body)),
    came: ({ answer }, context) => wordsOf(answer, context),
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

function isAnswered(exchange: Exchange): exchange is Answered {
  return exchange.answer.kind === "answer";
}

function isErrorEnvelope(body: unknown): boolean {
  if (!isJsonObject(body) || typeof body["request_id"] !== "string") return false;
  const { error } = body;
  return isJsonObject(error) && typeof error["code"] === "string" && typeof error["message"] === "string";
}

/** A case may have been sent by several checks. */
function firstOfEach(probes: readonly Probe[]): Probe[] {
  return [...new Map(probes.toReversed().map((probe) => [`${probe.name} ${probe.ok}`, probe])).values()].toReversed();
}
