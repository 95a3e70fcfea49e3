import type { Tier } from "../../api/access.js";
import { LIMITS } from "../../api/limits.js";
import type { EmulatorCore } from "../instance/core.js";
import { ServiceError } from "../operations/service-error.js";

/** Bounds the requests of each key in 60 seconds, free operations too (service document, Limits). */
export interface RateLimiter {
  /**
   * Counts a request of `holder`, a key or a session. A refused request is not counted.
   *
   * @throws ServiceError RATE_LIMITED
   */
  admit(holder: string, tier: Tier): void;
}

const WINDOW_MS = LIMITS.requestWindowSeconds * 1000;
/** Holders that may be remembered before those without a request in the window are forgotten. */
const TIDY_AT = 1000;

/** Kept in memory: after a restart the windows begin anew. */
export function createRateLimiter({ clock, assumptions }: Pick<EmulatorCore, "clock" | "assumptions">): RateLimiter {
  /** When the requests of each holder were admitted, oldest first; for a fixed window those of the current one. */
  const admitted = new Map<string, number[]>();

  const windowStart = (now: number): number =>
    // A rolling window is open at its old end: a request is forgotten when 60 seconds have passed.
    assumptions.rateWindow === "fixed" ? Math.floor(now / WINDOW_MS) * WINDOW_MS : now - WINDOW_MS + 1;

  function tidy(since: number): void {
    if (admitted.size < TIDY_AT) return;
    for (const [holder, times] of admitted) if ((times.at(-1) ?? 0) < since) admitted.delete(holder);
  }

  return {
    admit(holder, tier) {
      const limit = LIMITS.requestsPerWindow[tier];
      const now = clock.now();
      const since = windowStart(now);
      // Those of a time to come are of a clock that was set back since: they would hold for as long as that.
      const times = (admitted.get(holder) ?? []).filter((at) => at >= since && at <= now);
      if (times.length >= limit) {
        const freeAt = assumptions.rateWindow === "fixed" ? since + WINDOW_MS : (times[0] ?? now) + WINDOW_MS;
        const waitSeconds = Math.max(1, Math.ceil((freeAt - now) / 1000));
        throw new ServiceError(
          "RATE_LIMITED",
          `Too many requests; a key has ${limit} in ${LIMITS.requestWindowSeconds} seconds.`,
          assumptions.rateLimitRetryAfter ? { headers: { "Retry-After": String(waitSeconds) } } : {},
        );
      }
      tidy(since);
      admitted.set(holder, [...times, now]);
    },
  };
}
