import { LIMITS } from "../../contract/limits.js";
import type { EmulatorCore } from "../instance/core.js";
import { monthOf, monthStart } from "../time/month.js";
import { ServiceError } from "../operations/service-error.js";
import { hasQuota, type AccountInfo } from "./accounts.js";

/**
 * Counts the calls of Developer Access in a UTC month, over all keys of an account (service
 * document, Limits).
 */
export function createQuota({ database, clock }: Pick<EmulatorCore, "database" | "clock">) {
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
