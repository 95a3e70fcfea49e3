import type { Tier } from "../../contract/access.js";
import { LIMITS } from "../../contract/limits.js";
import type { EmulatorCore } from "../instance/core.js";
import { ServiceError } from "../operations/service-error.js";
import { monthOf, monthStart } from "../time/emulator-clock.js";
import { createAccounts, hasQuota, type AccountInfo } from "./accounts.js";
import { createApiKeys } from "./api-keys.js";

/** The accounts with their keys and limits. */
export type Access = ReturnType<typeof createAccess>;

export function createAccess(core: EmulatorCore) {
  return {
    accounts: createAccounts(core),
    keys: createApiKeys(core),
    quota: createQuota(core),
    rateLimiter: createRateLimiter(core),
  };
}

/**
 * Counts the calls of Developer Access in a UTC month, over all keys of an account (service
 * document, Limits).
 */
function createQuota({ database, clock }: Pick<EmulatorCore, "database" | "clock">) {
  const limit = LIMITS.developerCallsPerMonth;
  const select = database
    .prepare<[number, number], number>(
      "SELECT calls FROM quota_use WHERE account_id = ? AND month = ?",
    )
    .pluck();
  const add = database.prepare(
    "INSERT INTO quota_use VALUES (?, ?, 1) ON CONFLICT (account_id, month) DO UPDATE SET calls = calls + 1",
  );
  const used = (accountId: number): number => select.get(accountId, monthOf(clock.now())) ?? 0;
  const nextMonth = (): string => new Date(monthStart(monthOf(clock.now()) + 1)).toISOString();

  return {
    /** The counted calls of this month. */
    used,
    /**
     * Makes a call that uses one unit of the quota unless it throws. @throws ServiceError
     * PRO_API_QUOTA_EXHAUSTED
     */
    counted<Result>(account: AccountInfo, call: () => Result): Result {
      if (!hasQuota(account)) return call();
      if (used(account.account_id) >= limit) {
        const message = `The account's ${limit} calls of this month are used up. The next month begins at ${nextMonth()}.`;
        throw new ServiceError("PRO_API_QUOTA_EXHAUSTED", message, {
          details: { limit, remaining: 0 },
        });
      }
      const result = call();
      add.run(account.account_id, monthOf(clock.now()));
      return result;
    },
    /**
     * Returns the quota headers of an answer (service document, Errors); none for an account
     * without a quota.
     */
    headers(account: AccountInfo): Record<string, string> {
      if (!hasQuota(account)) return {};
      return {
        "X-Quota-Limit": String(limit),
        "X-Quota-Remaining": String(limit - used(account.account_id)),
        "X-Quota-Policy": `${limit};month`,
        "X-Quota-Reset": nextMonth(),
      };
    },
  };
}

const WINDOW_MS = LIMITS.requestWindowSeconds * 1000;

/**
 * Limits the request rate of each key and session, including free operations (service document,
 * Limits). The counts are in memory: after a restart they are 0.
 */
function createRateLimiter({ clock }: Pick<EmulatorCore, "clock">) {
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
