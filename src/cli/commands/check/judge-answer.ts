import { jsonOf } from "../../deliveries/compare-answer.js";
import type { Expectation } from "../../deliveries/delivery-schema.js";
import { isJsonObject } from "../../deliveries/restamp.js";
import type { Answer } from "../../deliveries/send-delivery.js";

/**
 * What an answer must be. The service's document knows a 2xx, a refusal and the challenge; `listed` is the very status
 * that `deliveries.json` has, which is signalbox's own.
 */
export type Wanted = "accepted" | "refused" | "challenge" | "listed";

const JUDGES: Readonly<Record<Wanted, (answer: Answer, listed: Expectation) => boolean>> = {
  accepted: isSuccess,
  refused: isRefusal,
  challenge: (answer, { body }) => isSuccess(answer) && challengeIn(answer.body) === challengeIn(body),
  listed: (answer, { status }) => answer.kind === "answer" && answer.status === status,
};

export function isWanted(wanted: Wanted, answer: Answer, listed: Expectation): boolean {
  return JUDGES[wanted](answer, listed);
}

export function describeWanted(wanted: Wanted, listed: Expectation): string {
  const words = { accepted: "2xx", refused: "4xx", challenge: "2xx with the challenge", listed: String(listed.status) };
  return words[wanted];
}

export function isSuccess(answer: Answer): answer is Answer & { kind: "answer" } {
  return answer.kind === "answer" && answer.status >= 200 && answer.status < 300;
}

export function isRefusal(answer: Answer): answer is Answer & { kind: "answer" } {
  return answer.kind === "answer" && answer.status >= 400 && answer.status < 500;
}

/** `{"duplicate":true}` among whatever else there is. */
export function tellsDuplicate(answer: Answer): boolean {
  const body = answer.kind === "answer" ? jsonOf(answer.body) : undefined;
  return isJsonObject(body) && body["duplicate"] === true;
}

function challengeIn(body: unknown): unknown {
  const value = typeof body === "string" ? jsonOf(body) : body;
  return isJsonObject(value) ? value["challenge"] : undefined;
}
