import type { RankingSort } from "../../contract/rankings.js";
import type { OperationName } from "../../contract/operations.js";
import type { Entitlement, Scope } from "../../contract/access.js";
import { ServiceError } from "../operations/service-error.js";
import type { AccountFeature, AccountInfo } from "./accounts.js";
import type { Caller } from "./authenticate.js";

/**
 * The entitlements that an account without Developer Access needs (service document, Authentication
 * 5).
 */
const RESEARCH_ENTITLEMENTS = new Map<OperationName, readonly Entitlement[]>([
  ["searchDemand", ["search_demand.full_database"]],
  ["rankings", ["market.rankings", "market.advanced_filters"]],
]);

/**
 * @param required the scopes that the call needs
 * @throws ServiceError 403
 */
export function authorize(
  operation: OperationName,
  required: readonly Scope[],
  { account, scopes }: Caller,
): void {
  const missing = required.find((scope) => !scopes.includes(scope));
  if (missing !== undefined) {
    throw new ServiceError("SCOPE_INSUFFICIENT", `The key does not have the scope ${missing}.`);
  }
  requireFeature(account, "api.access");
  if (account.tier === "developer") return;
  for (const entitlement of RESEARCH_ENTITLEMENTS.get(operation) ?? [])
    requireFeature(account, entitlement);
}

/**
 * The sorts of the rankings that require a feature of the account (service document, Authentication
 * 5).
 */
const GATED_RANKING_SORTS: ReadonlySet<RankingSort> = new Set([
  "dr_growth",
  "organic",
  "ai",
  "paid",
]);

/** @throws ServiceError 403 */
export function authorizeRankingSort(account: AccountInfo, sort: RankingSort): void {
  if (GATED_RANKING_SORTS.has(sort)) requireFeature(account, `market.sort.${sort}`);
}

function requireFeature({ entitlements }: AccountInfo, feature: AccountFeature): void {
  if (entitlements.includes(feature)) return;
  throw new ServiceError("ACCESS_INSUFFICIENT", `The account is not entitled to ${feature}.`);
}
