import type { RankingSort } from "../../api/rankings.js";
import type { Entitlement, Tier } from "../../api/access.js";

/** The account feature that an extra dimension of the rankings requires (service document, Authentication 5). */
export type RankingFeature = `market.sort.${RankingSort}`;

/** An entitlement or a feature that an account can have. */
export type AccountFeature = Entitlement | RankingFeature;

/** The account of a caller, as operations see it. */
export interface AccountView {
  accountId: number;
  tier: Tier;
  entitlements: ReadonlySet<AccountFeature>;
  /** Whether it has a monthly quota, and fewer rows in each answer: Developer Access. */
  hasQuota: boolean;
}
