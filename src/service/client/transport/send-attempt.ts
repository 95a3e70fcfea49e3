import { OPERATIONS } from "../../contract/operations.js";
import { ClientError } from "../client-error.js";
import type { ClientConfig } from "../client-options.js";
import { openAbortScope, raceAbort } from "./platform.js";
import { apiKeyProblem, withoutKey } from "./api-key.js";
import type { PlainRequest } from "./build-request.js";
import { lostCall, neverArrived, quoted, type Attempt } from "./failed-call.js";
import { readAnswer, type AttemptResult } from "./read-answer.js";
import { type Quota, type RawAnswer, readAnswerBody, readQuota } from "./raw-answer.js";

/**
 * Sends one request and reads its answer, within `timeoutMs`.
 *
 * @throws only the reason of the caller's signal, as soon as the signal is aborted
 */
export async function sendAttempt(
  config: ClientConfig,
  of: Attempt,
  request: PlainRequest,
  onQuota: (quota: Quota) => void,
): Promise<AttemptResult> {
  const timeUp = new Error("The request took too long.");
  // It is not closed, because the call's signal is not kept longer than the call.
  const { controller, signal } = openAbortScope(of.call.signal);
  const state: { key: string | null; answer: RawAnswer | null; isSent: boolean } = {
    key: null,
    answer: null,
    isSent: false,
  };

  async function exchange(): Promise<RawAnswer> {
    const key = await readKey(config, of);
    state.key = key;
    // The function apiKey may have ended after the call.
    signal.throwIfAborted();
    const { method, url, headers, body } = request;
    state.isSent = true;
    const response = await config.fetch(url, {
      method,
      headers: key === null ? headers : { ...headers, Authorization: `Bearer ${key}` },
      body,
      signal,
      redirect: "manual",
      credentials: "omit",
    });
    const answer: RawAnswer = { status: response.status, headers: response.headers, body: null };
    state.answer = answer;
    const quota = readQuota(response.headers);
    if (quota !== null) onQuota(quota);
    answer.body = await readAnswerBody(response, config.answerLimitBytes, signal);
    return answer;
  }

  const timer = config.clock.setTimeout(() => controller.abort(timeUp), config.timeoutMs);
  let answer: RawAnswer;
  try {
    signal.throwIfAborted();
    answer = await raceAbort(exchange(), signal);
  } catch (error) {
    if (of.call.signal?.aborted === true) throw of.call.signal.reason;
    if (error instanceof ClientError) return { ok: false, error };
    if (!state.isSent)
      return {
        ok: false,
        error: notSent(of, `the function apiKey took over ${config.timeoutMs} ms`),
      };
    // If the body of a refusal was lost, its status is enough. A success needs its body.
    if (state.answer === null || state.answer.status < 400) {
      if (error === timeUp) {
        return {
          ok: false,
          error: lostCall(of, "timeout", `had no answer after ${config.timeoutMs} ms`),
        };
      }
      const cause = plainCause(error, (text) => withoutKey(text, state.key));
      const problem = neverArrived(of, cause)
        ? "did not reach the service"
        : "got no complete answer";
      return { ok: false, error: lostCall(of, "network", `${problem}: ${cause.message}`, cause) };
    }
    answer = state.answer;
  } finally {
    timer.cancel();
  }
  return readAnswer(of, answer, state.key, config.clock.now());
}

async function readKey(config: ClientConfig, { call }: Attempt): Promise<string | null> {
  const refuse = (problem: string, help: string): ClientError => notSent({ call }, problem, help);
  if (config.readApiKey === null) {
    if (OPERATIONS[call.operation].scope === null) return null;
    throw refuse("it needs an API key", "Give createClient an apiKey.");
  }
  let key: unknown;
  try {
    key = await config.readApiKey();
  } catch {
    // The cause is left out, because its text may hold secrets, such as the password of a vault.
    throw refuse("the function apiKey failed", "Call the function yourself to find out why.");
  }
  const problem = apiKeyProblem(key);
  if (problem !== null) throw refuse(`the function apiKey returned no key: ${problem}`, "");
  return key as string;
}

function notSent(
  { call: { operation } }: Pick<Attempt, "call">,
  problem: string,
  help = "",
): ClientError {
  return new ClientError(`${operation} was not sent: ${problem}.`, {
    kind: "api_key",
    operation,
    help,
  });
}

/**
 * Copies the error that `fetch` threw, without the API key: a custom `fetch` may put the request's
 * headers into its error. The innermost cause is the most specific; Node's fetch itself says only
 * "fetch failed".
 */
function plainCause(error: unknown, clean: (text: string) => string): Error & { code?: string } {
  let innermost: unknown = error;
  for (
    let depth = 0;
    depth < 8 && innermost instanceof Error && innermost.cause instanceof Error;
    depth++
  ) {
    innermost = innermost.cause;
  }
  if (!(innermost instanceof Error)) return new Error("the thrown value is not an Error");
  const { name, message, code } = innermost as Error & { code?: unknown };
  // If a host has several addresses and all failed, the error has no message, only a code.
  const text = message !== "" ? message : typeof code === "string" ? code : name;
  const plain: Error & { code?: string } = new Error(quoted(clean(text)));
  plain.name = clean(name);
  if (typeof code === "string") plain.code = clean(code);
  return plain;
}
