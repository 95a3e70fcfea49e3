import type { z } from "zod";
import { LIMITS } from "../../contract/limits.js";
import type { OPERATIONS, OperationName } from "../../contract/operations.js";
import type { ClientError } from "../client-error.js";
import type { ClientConfig } from "../client-options.js";
import { openAbortScope, pauseUntil } from "./platform.js";
import { buildRequest, type OperationCall } from "./build-request.js";
import type { Quota } from "./raw-answer.js";
import { sendAttempt } from "./send-attempt.js";

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
        const result = await sendAttempt(config, { call, attempt }, request, onQuota);
        if (result.ok) return result.value as AnswerOf<typeof call.operation>;
        const waitMs = retryWait(result.error, config, call.maxAttempts ?? retry.maxAttempts);
        if (waitMs === null) throw result.error;
        await pauseUntil(clock, clock.elapsed() + waitMs, scope.signal);
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
