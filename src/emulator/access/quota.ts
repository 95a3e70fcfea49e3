import { LIMITS } from "../../api/limits.js";
import type { EmulatorCore } from "../instance/core.js";
import { monthOf, monthStart } from "../time/month.js";
import { ServiceError } from "../operations/service-error.js";
import type { AccountView } from "./account-view.js";

const EXEMPT = { refund: () => undefined };

/** The counted calls of Developer Access in a UTC month, shared by all keys of the account (service document, Limits). */
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
  const remaining = (accountId: number): number => Math.max(0, limit - used(accountId));

  return {
    /** Counted calls this month. */
    used,
    /**
     * Takes a unit; `refund` gives it back.
     *
     * @throws ServiceError PRO_API_QUOTA_EXHAUSTED
     */
    take({ accountId, hasQuota }: AccountView): { refund(): void } {
      if (!hasQuota) return EXEMPT;
      const month = monthOf(clock.now());
      if (remaining(accountId) === 0) {
        throw new ServiceError("PRO_API_QUOTA_EXHAUSTED", "The account's calls of this month are used up.", {
          details: { limit, remaining: 0 },
        });
      }
      add.run(accountId, month, 1);
      // Given back to the month that it was taken from, which may be over.
      return { refund: () => void add.run(accountId, month, -1) };
    },
    /** The headers of an answer to this account (service document, Errors); none without a quota. */
    headers({ accountId, hasQuota }: AccountView): Record<string, string> {
      if (!hasQuota) return {};
      return {
        "X-Quota-Limit": String(limit),
        "X-Quota-Remaining": String(remaining(accountId)),
        "X-Quota-Policy": `${limit};month`,
        "X-Quota-Reset": new Date(monthStart(monthOf(clock.now()) + 1)).toISOString(),
      };
    },
  };
}
