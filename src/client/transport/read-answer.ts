import { OPERATIONS, type Operation } from "../../api/operations.js";
import { parseJson } from "../../events/parse-json.js";
import type { ClientError } from "../client-error.js";
import { failedCall, helpWhenUnknown, isRepeatable, neverArrived, type AttemptOf } from "./failed-call.js";
import { judgeRefusal } from "./read-refusal.js";
import type { AnswerHeaders } from "./quota.js";
import type { RawAnswer } from "./raw-answer.js";

/** What became of one request. */
export type Judgement = { ok: true; value: unknown } | { ok: false; error: ClientError };

/**
 * @param key not to be quoted
 * @param nowMs milliseconds since 1970
 */
export function judgeAnswer(of: AttemptOf, answer: RawAnswer, key: string | null, nowMs: number): Judgement {
  const { status, headers, body } = answer;
  // A browser tells a redirect that was not followed by the status 0.
  if (status === 0 || (status >= 300 && status <= 399)) {
    const help =
      "Redirects are not followed, since the API key would go along: set baseUrl to the address they lead to.";
    return { ok: false, error: failedCall(of, `was redirected${told(status)}`, { kind: "redirect", status, help }) };
  }
  if (status < 200 || status > 299) return { ok: false, error: judgeRefusal(of, answer, key, nowMs) };

  const invalid = (problem: string, help: string, value?: unknown): Judgement => ({
    ok: false,
    error: failedCall(of, `was answered ${status}, with ${problem}`, {
      kind: "invalid_answer",
      status,
      requestId: headers.get("x-request-id") ?? undefined,
      help: `${help} ${helpWhenUnknown(of.call.operation)}`.trim(),
      answer: value,
    }),
  });
  if (body === null) return invalid("a body larger than answerLimitBytes", "");
  const json = parseJson(body);
  if (!json.ok)
    return invalid(`a body that is no JSON (${describe(headers, body)})`, "Is baseUrl the address of the API?");
  const { schema } = (OPERATIONS[of.call.operation] as Operation).response;
  const parsed = schema.safeParse(json.value);
  if (parsed.success) return { ok: true, value: parsed.data };
  const [issue] = parsed.error.issues;
  const path = issue?.path.join(".") ?? "";
  const what = path === "" ? "a body" : `a body whose "${path}"`;
  return invalid(`${what} is not as documented: ${issue?.message ?? "it is no object"}`, "", json.value);
}

/** Without an answer. Mostly nobody knows whether the request arrived. */
export function lostCall(
  of: AttemptOf,
  kind: "network" | "timeout",
  problem: string,
  cause?: Error & { code?: string },
): Judgement {
  const { operation } = of.call;
  const help = neverArrived(of, cause)
    ? "Is baseUrl the address of the API, and is the service up?"
    : helpWhenUnknown(operation);
  return { ok: false, error: failedCall(of, problem, { kind, help, retryable: isRepeatable(operation), cause }) };
}

function told(status: number): string {
  return status === 0 ? "" : ` (${status})`;
}

/** A body without a word of it. */
function describe(headers: AnswerHeaders, body: Uint8Array): string {
  const type = headers.get("content-type")?.split(";")[0]?.trim() ?? "";
  return `${/^[\w.+/-]{1,60}$/.test(type) ? type : "of no type"}, ${body.byteLength} bytes`;
}
