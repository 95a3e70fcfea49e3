import { OPERATIONS, type Operation } from "../../contract/operations.js";
import { parseJson } from "../../../base/text/parse-json.js";
import type { ClientError } from "../client-error.js";
import { requestIdOf, withoutKey } from "./api-key.js";
import { failedCall, helpWhenUnknown, type Attempt } from "./failed-call.js";
import type { AnswerHeaders, RawAnswer } from "./raw-answer.js";
import { readRefusal } from "./read-refusal.js";

/** The result of one request. */
export type AttemptResult = { ok: true; value: unknown } | { ok: false; error: ClientError };

/**
 * @param key the API key, which must not be in an error
 * @param nowMs the time of the client's clock: milliseconds since 1970
 */
export function readAnswer(
  of: Attempt,
  answer: RawAnswer,
  key: string | null,
  nowMs: number,
): AttemptResult {
  const { status, headers, body } = answer;
  // In a browser, a redirect that was not followed has the status 0.
  if (status === 0 || (status >= 300 && status <= 399)) {
    const help =
      "Redirects are not followed, because the API key would be sent too. Set baseUrl to the address that they redirect to.";
    const problem = `was redirected${status === 0 ? "" : ` (${status})`}`;
    return { ok: false, error: failedCall(of, problem, { kind: "redirect", status, help }) };
  }
  if (status < 200 || status > 299)
    return { ok: false, error: readRefusal(of, answer, key, nowMs) };

  const invalid = (problem: string, help: string, value?: unknown): AttemptResult => ({
    ok: false,
    error: failedCall(of, `was answered ${status}, with ${problem}`, {
      kind: "invalid_answer",
      status,
      requestId: requestIdOf(headers, key),
      help: `${help} ${helpWhenUnknown(of.call.operation)}`.trim(),
      answer: value,
    }),
  });
  if (body === null) return invalid("a body larger than answerLimitBytes", "");
  const json = parseJson(body);
  if (!json.ok)
    return invalid(
      `a body that is not JSON (${withoutKey(describeBody(headers, body), key)})`,
      "Is baseUrl the address of the API?",
    );
  const { schema } = (OPERATIONS[of.call.operation] as Operation).response;
  const parsed = schema.safeParse(json.value);
  if (parsed.success) return { ok: true, value: parsed.data };
  const [issue] = parsed.error.issues;
  const path = issue?.path.join(".") ?? "";
  const part = path === "" ? "a body" : `a body whose "${path}"`;
  return invalid(
    `${part} is not as documented: ${issue?.message ?? "it is not an object"}`,
    "",
    json.value,
  );
}

/** Describes a body by its type and size, because its text may hold secrets. */
function describeBody(headers: AnswerHeaders, body: Uint8Array): string {
  const type = headers.get("content-type")?.split(";")[0]?.trim() ?? "";
  return `${/^[\w.+/-]{1,60}$/.test(type) ? type : "of no type"}, ${body.byteLength} bytes`;
}
