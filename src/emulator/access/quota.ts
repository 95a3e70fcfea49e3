import { LIMITS } from "../../api/limits.js";
import type { EmulatorCore } from "../instance/core.js";
import { monthOf, monthStart } from "../time/month.js";
import { ServiceError } from "../operations/service-error.js";
import type { AccountView } from "./accounts.js";

/** Counts the calls of Developer Access in a UTC month, over all keys of an account (service document, Limits). */
export function createQuota({ database, clock }: Pick<EmulatorCore, "database" | "clock">) {
  const limit = LIMITS.developerCallsPerMonth;
  const select = database
    .prepare<[number, number], number>("SELECT calls FROM quota_use WHERE account_id = ? AND month = ?")
    .pluck();
  const add = database.prepare(
    `INSERT INTO quota_use (account_id, month, calls) VALUES (?, ?, ?)
     ON CONFLICT (account_id, month) DO UPDATE SET calls = calls + excluded.calls`,
  );
  const used = (accountId: number): number => select.get(accountId, monthOf(clock.now())) ?? 0;
  const nextMonth = (): string => new Date(monthStart(monthOf(clock.now()) + 1)).toISOString();
  const remaining = (accountId: number): number => Math.max(0, limit - used(accountId));

  return {
    /** The counted calls of this month. */
    used,
    /** Uses one unit of the quota. `refund` returns that unit. @throws ServiceError PRO_API_QUOTA_EXHAUSTED */
    take({ accountId, hasQuota }: AccountView): { refund(): void } | null {
      if (!hasQuota) return null;
      const month = monthOf(clock.now());
      if (remaining(accountId) === 0) {
        const message = `The account's ${limit} calls of this month are used up. The next month begins at ${nextMonth()}.`;
        throw new ServiceError("PRO_API_QUOTA_EXHAUSTED", message, { details: { limit, remaining: 0 } });
      }
      add.run(accountId, month, 1);
      // The unit returns to the month in which it was used, even if that month is over.
      return { refund: () => void add.run(accountId, month, -1) };
    },
    /** Returns the quota headers of an answer (service document, Errors); none for an account without a quota. */
    headers({ accountId, hasQuota }: AccountView): Record<string, string> {
      if (!hasQuota) return {};
      return {
        "X-Quota-Limit": String(limit),
        "X-Quota-Remaining": String(remaining(accountId)),
        "X-Quota-Policy": `${limit};month`,
        "X-Quota-Reset": nextMonth(),
      };
    },
  };
}
