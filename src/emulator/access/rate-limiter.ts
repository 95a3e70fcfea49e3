import type { Tier } from "../../api/access.js";
import { LIMITS } from "../../api/limits.js";
import type { EmulatorCore } from "../instance/core.js";
import { ServiceError } from "../operations/service-error.js";

const WINDOW_MS = LIMITS.requestWindowSeconds * 1000;
/** The number of holders at which those without a request in the window are removed. */
const TIDY_AT = 1000;

/**
 * The request rate of each key, free operations too (service document, Limits). Kept in memory: after a restart the windows are
 * empty.
 */
export function createRateLimiter({ clock, assumptions }: Pick<EmulatorCore, "clock" | "assumptions">) {
  /** The times at which the requests of each holder were admitted, oldest first. */
  const admitted = new Map<string, number[]>();

  function tidy(since: number): void {
    if (admitted.size < TIDY_AT) return;
    for (const [holder, times] of admitted) if ((times.at(-1) ?? 0) < since) admitted.delete(holder);
  }

  return {
    /**
     * Counts a request of `holder`, a key or a session. A refused request is not counted.
     *
     * @throws ServiceError RATE_LIMITED
     */
    admit(holder: string, tier: Tier): void {
      const most = LIMITS.requestsPerWindow[tier];
      const now = clock.now();
      // A request that is exactly one window old no longer counts.
      const since = now - WINDOW_MS + 1;
      // Times in the future are left from before the clock was set back. They would block the holder until then.
      const times = (admitted.get(holder) ?? []).filter((at) => at >= since && at <= now);
      if (times.length >= most) {
        const waitSeconds = Math.max(1, Math.ceil(((times[0] ?? now) + WINDOW_MS - now) / 1000));
        throw new ServiceError(
          "RATE_LIMITED",
          `Too many requests; a key has ${most} in ${LIMITS.requestWindowSeconds} seconds.`,
          assumptions.rateLimitRetryAfter ? { headers: { "Retry-After": String(waitSeconds) } } : {},
        );
      }
      tidy(since);
      admitted.set(holder, [...times, now]);
    },
  };
}
