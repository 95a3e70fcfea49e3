import { OPERATIONS } from "../../api/operations.js";
import { openAbortScope } from "./abort-scope.js";
import { apiKeyProblem, withoutKey } from "./api-key.js";
import type { PlainRequest } from "./build-request.js";
import { ClientError } from "../client-error.js";
import type { ClientConfig } from "../client-options.js";
import { plainCause } from "./plain-cause.js";
import { neverArrived, type AttemptOf } from "./failed-call.js";
import { judgeAnswer, lostCall, type Judgement } from "./read-answer.js";
import type { RawAnswer } from "./raw-answer.js";
import { readAnswerBody } from "./read-answer-body.js";
import { readQuota, type Quota } from "./quota.js";

/**
 * Sends one request and reads its answer, within `timeoutMs`.
 *
 * @throws the reason of the caller's signal, at once when that is aborted, and nothing else
 */
export async function sendAttempt(
  config: ClientConfig,
  of: AttemptOf,
  request: PlainRequest,
  onQuota: (quota: Quota) => void,
): Promise<Judgement> {
  const { signal } = of.call;
  const timeUp = new Error("The request took too long.");
  const scope = openAbortScope({ signal, clock: config.clock, timeoutMs: config.timeoutMs, onTimeout: () => timeUp });
  let key: string | null = null;
  let answer: RawAnswer | null = null;
  let isSent = false;
  try {
    scope.signal.throwIfAborted();
    key = await scope.race(readKey(config, of));
    const { method, url, headers, body } = request;
    isSent = true;
    const response = await scope.race(
      config.fetch(url, {
        method,
        headers: key === null ? headers : { ...headers, Authorization: `Bearer ${key}` },
        body,
        signal: scope.signal,
        redirect: "manual",
        credentials: "omit",
      }),
    );
    answer = { status: response.status, headers: response.headers, body: null };
    const quota = readQuota(response.headers);
    if (quota !== null) onQuota(quota);
    answer.body = await scope.race(readAnswerBody(response, config.answerLimitBytes, scope.signal));
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    if (error instanceof ClientError) return { ok: false, error };
    if (!isSent) return { ok: false, error: notSent(of, `the function apiKey took over ${config.timeoutMs} ms`) };
    // Of what was refused the status says all that is needed.
    if (answer === null || answer.status < 400) {
      if (error === timeUp) return lostCall(of, "timeout", `had no answer after ${config.timeoutMs} ms`);
      const cause = plainCause(error, (text) => withoutKey(text, key));
      const problem = neverArrived(of, cause) ? "did not reach the service" : "got no whole answer";
      return lostCall(of, "network", `${problem}: ${cause.message}`, cause);
    }
  } finally {
    scope.close();
  }
  return judgeAnswer(of, answer, key, config.clock.now());
}

async function readKey(config: ClientConfig, { call }: AttemptOf): Promise<string | null> {
  const refuse = (problem: string, help: string): ClientError => notSent({ call }, problem, help);
  if (config.readApiKey === null) {
    if (OPERATIONS[call.operation].scope === null) return null;
    throw refuse("it needs an API key", "Give createClient an apiKey.");
  }
  let key: unknown;
  try {
    key = await config.readApiKey();
  } catch {
    // Without its cause, whose text may hold anything of where keys come from.
    throw refuse("the function apiKey failed", "Call it yourself to see why.");
  }
  const problem = apiKeyProblem(key);
  if (problem !== null) throw refuse(`what the function apiKey gave is no key: ${problem}`, "");
  return key as string;
}

function notSent({ call: { operation } }: Pick<AttemptOf, "call">, problem: string, help = ""): ClientError {
  return new ClientError(`${operation} was not sent: ${problem}.`, { kind: "api_key", operation, help });
}
