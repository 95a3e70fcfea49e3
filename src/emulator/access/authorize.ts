import type { OperationName } from "../../api/operations.js";
import type { Entitlement, Scope } from "../../api/access.js";
import { itemsOf } from "../instance/allowed-values.js";
import type { Assumptions } from "../instance/assumptions.js";
import { ServiceError } from "../operations/service-error.js";
import type { AccountFeature, AccountView } from "./account-view.js";
import type { Caller } from "./authenticate.js";

/** What an account needs for an operation unless it has Developer Access (service document, Authentication 5). */
const RESEARCH_ENTITLEMENTS = new Map<OperationName, readonly Entitlement[]>([
  ["searchDemand", ["search_demand.full_database"]],
  ["rankings", ["market.rankings", "market.advanced_filters"]],
]);

/**
 * @param scope what the operation requires of a key
 * @throws ServiceError 403
 */
export function authorize(
  operation: OperationName,
  scope: Scope,
  { account, scopes }: Caller,
  { accessForEveryOperation }: Pick<Assumptions, "accessForEveryOperation">,
): void {
  if (!scopes.has(scope)) {
    throw new ServiceError("SCOPE_INSUFFICIENT", `The key has not the scope ${scope}.`);
  }
  const research = RESEARCH_ENTITLEMENTS.get(operation);
  if (research !== undefined || accessForEveryOperation) requireFeature(account, "api.access");
  if (research === undefined || account.tier === "developer") return;
  for (const entitlement of research) requireFeature(account, entitlement);
}

/**
 * The extra dimensions of the rankings require a feature each (service document, Authentication 5).
 *
 * @throws ServiceError 403
 */
export function authorizeRankingSort(
  account: AccountView,
  sort: string,
  { gatedRankingSorts }: Pick<Assumptions, "gatedRankingSorts">,
): void {
  if (itemsOf(gatedRankingSorts).includes(sort)) requireFeature(account, `market.sort.${sort}` as AccountFeature);
}

function requireFeature({ entitlements }: AccountView, feature: AccountFeature): void {
  if (entitlements.has(feature)) return;
  throw new ServiceError("ACCESS_INSUFFICIENT", `The account is not entitled to ${feature}.`);
}
