import { isDeepStrictEqual } from "node:util";
import type { Expectation } from "./delivery-schema.js";
import { shortened } from "../console/printable.js";
import { isJsonObject } from "./restamp.js";
import type { Answer } from "./send-delivery.js";

/** `allowDuplicate`: an id that is sent again may be known already. */
export function isAsExpected(answer: Answer, expected: Expectation, allowDuplicate: boolean): boolean {
  if (answer.kind !== "answer" || answer.status !== expected.status) return false;
  const body = jsonOf(answer.body);
  if (expected.code !== undefined) return errorCodeOf(body) === expected.code;
  if (expected.body === undefined || isDeepStrictEqual(body, expected.body)) return true;
  return (
    allowDuplicate && isJsonObject(expected.body) && isDeepStrictEqual(body, { ...expected.body, duplicate: true })
  );
}

/** `401 signature_missing`, `200 duplicate`. */
export function describeExpectation({ status, code, body }: Expectation): string {
  return `${status} ${code ?? summaryOf(body)}`.trim();
}

/** The same for an answer; `inFull` quotes it. */
export function describeAnswer(answer: Answer, inFull: boolean): string {
  if (answer.kind === "unreachable") return `no connection (${answer.code})`;
  if (answer.kind === "broken") return `no answer (${answer.code})`;
  const body = jsonOf(answer.body);
  const summary = inFull ? undefined : (errorCodeOf(body) ?? summaryOf(body));
  return `${answer.status} ${shortened(summary ?? answer.body.trim(), 60)}`.trim();
}

/** The last property says most: `{"received":true,"duplicate":true}` is "duplicate". */
function summaryOf(body: unknown): string | undefined {
  if (!isJsonObject(body)) return undefined;
  const isOurs = Object.entries(body).every(([name, value]) => value === true || name === "challenge");
  return isOurs ? Object.keys(body).at(-1) : undefined;
}

/** `undefined` for what is no JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function errorCodeOf(body: unknown): string | undefined {
  const error = isJsonObject(body) ? body["error"] : undefined;
  const code = isJsonObject(error) ? error["code"] : undefined;
  return typeof code === "string" ? code : undefined;
}
