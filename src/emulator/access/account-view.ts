import type { RankingSort } from "../../api/rankings.js";
import type { Entitlement, Tier } from "../../api/access.js";

/** The account feature that an extra dimension of the rankings requires (service document, Authentication 5). */
export type RankingFeature = `market.sort.${RankingSort}`;

/** What an account may hold beside its tier. */
export type AccountFeature = Entitlement | RankingFeature;

/** What an operation may know of the account that calls it. */
export interface AccountView {
  accountId: number;
  tier: Tier;
  entitlements: ReadonlySet<AccountFeature>;
  /** Whether it has a monthly quota, and fewer rows in each answer: Developer Access. */
  hasQuota: boolean;
}
