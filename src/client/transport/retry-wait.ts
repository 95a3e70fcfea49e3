import { LIMITS } from "../../api/limits.js";
import type { ClientError } from "../client-error.js";
import type { ClientConfig } from "../client-options.js";

/** The document shows no header with a rate limit's 429: three waits from this on span the window of the limit. */
const RATE_BASE_MS = (LIMITS.requestWindowSeconds * 1000) / 6;

/**
 * Milliseconds to wait before the next attempt; null when there is to be none: it would do harm or no good, there were
 * enough, or the service wants to be left alone for longer than `maxWaitMs`.
 */
export function planRetry(
  error: ClientError,
  { retry, random }: Pick<ClientConfig, "retry" | "random">,
  maxAttempts: number,
): number | null {
  if (!error.retryable || error.attempts >= maxAttempts) return null;
  const isUnknownRate = error.kind === "rate" && error.retryAfterMs === null;
  const baseMs = isUnknownRate ? Math.max(RATE_BASE_MS, retry.baseMs) : retry.baseMs;
  const boundMs = Math.min(retry.maxMs, baseMs * 2 ** (error.attempts - 1));
  const jitterMs = Math.round(random() * (boundMs / 2));
  // At least half of the bound: what is overloaded is never asked again at once, whatever its own clock makes of it.
  if (error.retryAfterMs === null) return Math.round(boundMs / 2) + jitterMs;
  if (error.retryAfterMs > retry.maxWaitMs) return null;
  // A little more, at random: all who were told the same moment would come at once.
  return Math.max(error.retryAfterMs, Math.round(boundMs / 2)) + jitterMs;
}
