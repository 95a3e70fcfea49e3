import type { z } from "zod";
import { LIMITS } from "../../contract/limits.js";
import { OPERATIONS, type OperationName, type Operation } from "../../contract/operations.js";
import { ClientError } from "../client-error.js";
import { type ClientConfig, apiKeyProblem, withoutKey } from "../client-options.js";
import { openAbortScope, pauseUntil, raceAbort } from "./platform.js";
import { type Quota, type RawAnswer, readAnswerBody, readQuota } from "./raw-answer.js";
import {
  lostCall,
  neverArrived,
  quoted,
  type Attempt,
  readAnswer,
  type OperationCall,
} from "./read-answer.js";

export type AnswerOf<Name extends OperationName> = z.infer<
  (typeof OPERATIONS)[Name]["response"]["schema"]
>;

/** Calls an operation, with retries. */
export type CallOperation = <Name extends OperationName>(
  call: OperationCall & { operation: Name },
) => Promise<AnswerOf<Name>>;

/** @throws ClientError, or the reason of the caller's signal */
export function operationCaller(
  config: ClientConfig,
  onQuota: (quota: Quota) => void,
): CallOperation {
  const { clock, retry } = config;
  return async (given) => {
    const scope = openAbortScope(given.signal);
    const call = { ...given, signal: scope.signal };
    const request = buildRequest(call, config.baseUrl, config.userAgent);
    try {
      for (let attempt = 1; ; attempt++) {
        try {
          const answer = await sendAttempt(config, { call, attempt }, request, onQuota);
          return answer as AnswerOf<typeof call.operation>;
        } catch (error) {
          // The reason of the caller's signal can be any error.
          if (scope.signal.aborted || !(error instanceof ClientError)) throw error;
          const waitMs = retryWait(error, config, call.maxAttempts ?? retry.maxAttempts);
          if (waitMs === null) throw error;
          await pauseUntil(clock, clock.elapsed() + waitMs, scope.signal);
        }
      }
    } finally {
      scope.close();
    }
  };
}

/**
 * Bound of the first wait after a 429 without `Retry-After`: 10 s. The next are 20 s and 30 s: 60
 * s, the limit's window.
 */
const RATE_BASE_MS = (LIMITS.requestWindowSeconds * 1000) / 6;

/**
 * Returns the milliseconds to wait before the next attempt. Null when there is no other attempt:
 * the error is not retryable, the attempts are used up, or the service asks for a longer wait than
 * `maxWaitMs`.
 */
function retryWait(
  error: ClientError,
  { retry, random }: Pick<ClientConfig, "retry" | "random">,
  maxAttempts: number,
): number | null {
  if (!error.retryable || error.attempts >= maxAttempts) return null;
  const isUnknownRate = error.kind === "rate" && error.retryAfterMs === null;
  const baseMs = isUnknownRate ? Math.max(RATE_BASE_MS, retry.baseMs) : retry.baseMs;
  const boundMs = Math.min(retry.maxMs, baseMs * 2 ** (error.attempts - 1));
  const jitterMs = Math.round(random() * (boundMs / 2));
  // At least half of the bound, even after `Retry-After: 0`, so that an overloaded service gets a
  // pause.
  if (error.retryAfterMs === null) return Math.round(boundMs / 2) + jitterMs;
  if (error.retryAfterMs > retry.maxWaitMs) return null;
  // The jitter is added, so that clients with the same `Retry-After` do not all call again at the
  // same moment.
  return Math.max(error.retryAfterMs, Math.round(boundMs / 2)) + jitterMs;
}

/**
 * Sends one request and reads its answer, within `timeoutMs`.
 *
 * @throws ClientError, or the reason of the caller's signal, as soon as the signal is aborted
 */
async function sendAttempt(
  config: ClientConfig,
  of: Attempt,
  request: PlainRequest,
  onQuota: (quota: Quota) => void,
): Promise<unknown> {
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
    if (error instanceof ClientError) throw error;
    if (!state.isSent) throw notSent(of, `the function apiKey took over ${config.timeoutMs} ms`);
    // If the body of a refusal was lost, its status is enough. A success needs its body.
    if (state.answer === null || state.answer.status < 400) {
      if (error === timeUp)
        throw lostCall(of, "timeout", `had no answer after ${config.timeoutMs} ms`);
      const cause = plainCause(error, (text) => withoutKey(text, state.key));
      const problem = neverArrived(of, cause)
        ? "did not reach the service"
        : "got no complete answer";
      throw lostCall(of, "network", `${problem}: ${cause.message}`, cause);
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

/** A request without the API key. */
type PlainRequest = ReturnType<typeof buildRequest>;

function buildRequest(call: OperationCall, baseUrl: string, userAgent: string | undefined) {
  const { method, path }: Operation = OPERATIONS[call.operation];
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(call.path?.[name] ?? ""),
  );
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(call.query ?? {})) query.append(name, String(value));
  const headers: Record<string, string> = { Accept: "application/json" };
  if (userAgent !== undefined) headers["User-Agent"] = userAgent;
  if (call.body !== undefined) headers["Content-Type"] = "application/json";
  return {
    method,
    url: `${baseUrl}${filled}${query.size > 0 ? `?${query.toString()}` : ""}`,
    headers,
    body: call.body === undefined ? null : JSON.stringify(call.body),
  };
}
