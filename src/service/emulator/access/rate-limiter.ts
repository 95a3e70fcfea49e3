import type { Tier } from "../../contract/access.js";
import { LIMITS } from "../../contract/limits.js";
import type { EmulatorCore } from "../instance/core.js";
import { ServiceError } from "../operations/service-error.js";

const WINDOW_MS = LIMITS.requestWindowSeconds * 1000;

/**
 * Limits the request rate of each key and session, including free operations (service document,
 * Limits). The counts are in memory: after a restart they are 0.
 */
export function createRateLimiter({ clock }: Pick<EmulatorCore, "clock">) {
  /** The times of the counted requests of each key or session, oldest first. */
  const counted = new Map<string, number[]>();

  return {
    /**
     * Counts a request. A refused request is not counted.
     *
     * @param holder the id of a key or a session
     * @throws ServiceError RATE_LIMITED
     */
    admit(holder: string, tier: Tier): void {
      const most = LIMITS.requestsPerWindow[tier];
      const now = clock.now();
      // Times in the future were counted before the clock was set back. They no longer count.
      const times = (counted.get(holder) ?? []).filter((at) => at > now - WINDOW_MS && at <= now);
      if (times.length >= most) {
        const waitSeconds = Math.max(1, Math.ceil(((times[0] ?? now) + WINDOW_MS - now) / 1000));
        throw new ServiceError(
          "RATE_LIMITED",
          `The limit of ${most} requests in ${LIMITS.requestWindowSeconds} seconds for each key is reached. Wait ${waitSeconds} s.`,
          { headers: { "Retry-After": String(waitSeconds) } },
        );
      }
      counted.set(holder, [...times, now]);
    },
  };
}
