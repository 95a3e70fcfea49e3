import { isDeepStrictEqual } from "node:util";
import { errorCodeIn, isRefusal, isSuccess, jsonIn, propertyIn, summaryOf, type Answer } from "./answer.js";
import type { Expectation } from "./delivery-schema.js";
import { isJsonObject } from "./restamp.js";

/**
 * How an answer is judged.
 * - `exact`: it must have the status, and the code or the body, that the case expects. They are signalbox's own.
 * - `exact-or-duplicate`: like `exact`, but the answer may be marked as a duplicate.
 * - `status`: it must have the status that the case expects.
 * - `accepted` (2xx), `refused` (4xx), `challenge` (2xx and the challenge): as the service's document requires.
 */
export type Wanted = "exact" | "exact-or-duplicate" | "status" | "accepted" | "refused" | "challenge";

const JUDGES: Readonly<Record<Wanted, (answer: Answer, expected: Expectation) => boolean>> = {
  exact: isExact,
  "exact-or-duplicate": (answer, expected) =>
    isExact(answer, expected) ||
    (isJsonObject(expected.body) && isExact(answer, { ...expected, body: { ...expected.body, duplicate: true } })),
  status: hasStatus,
  accepted: isSuccess,
  refused: isRefusal,
  challenge: (answer, { body }) =>
    isSuccess(answer) && isJsonObject(body) && propertyIn(answer, "challenge") === body["challenge"],
};

export function isAsWanted(wanted: Wanted, answer: Answer, expected: Expectation): boolean {
  return JUDGES[wanted](answer, expected);
}

function hasStatus(answer: Answer, { status }: Expectation): boolean {
  return answer.kind === "answer" && answer.status === status;
}

function isExact(answer: Answer, expected: Expectation): boolean {
  if (!hasStatus(answer, expected)) return false;
  if (expected.code !== undefined) return errorCodeIn(answer) === expected.code;
  return expected.body === undefined || isDeepStrictEqual(jsonIn(answer), expected.body);
}

const WORDS: Partial<Record<Wanted, string>> = { accepted: "2xx", refused: "4xx", challenge: "2xx with the challenge" };

/** `2xx`, `401 signature_missing`, `405`. */
export function describeWanted(wanted: Wanted, { status, code, body }: Expectation): string {
  const exact = code ?? summaryOf(body) ?? "";
  return WORDS[wanted] ?? (wanted === "status" ? String(status) : `${status} ${exact}`.trim());
}
