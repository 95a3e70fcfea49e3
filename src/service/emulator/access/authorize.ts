import type { Scope, Entitlement } from "../../contract/access.js";
import type { ServiceErrorCode } from "../../contract/error-envelope.js";
import type { OperationName } from "../../contract/operations.js";
import type { RankingSort } from "../../contract/rankings.js";
import { ServiceError } from "../operations/service-error.js";
import {
  isSessionToken,
  type Access,
  type AccountFeature,
  type AccountInfo,
} from "./create-access.js";

export interface Caller {
  account: AccountInfo;
  /** The scopes of the key or the session. */
  scopes: readonly Scope[];
  /** The id of the key or the session, for the request rate. */
  rateHolder: string;
}

// A token in the characters of RFC 6750, after the scheme `Bearer`. HTTP ignores the case of the
// scheme.
const BEARER = /^bearer +([\w.~+/-]+=*) *$/i;

/**
 * Finds the caller of a request (service document, Authentication).
 *
 * @param authorization each `Authorization` header of the request
 * @throws ServiceError 401
 */
export function authenticate(
  authorization: readonly string[],
  { keys, accounts }: Access,
  { acceptsSession }: { acceptsSession: boolean },
): Caller {
  const [header, ...others] = authorization;
  if (header === undefined)
    throw refusal("API_KEY_MISSING", "The header Authorization: Bearer <API_KEY> is missing.");
  const token = others.length > 0 ? undefined : BEARER.exec(header)?.[1];
  if (token === undefined)
    throw refusal("API_KEY_INVALID", "Send one header Authorization: Bearer <API_KEY>.");
  const isSession = isSessionToken(token);
  if (isSession && !acceptsSession) {
    throw refusal("SESSION_INVALID", "This operation takes an API key, not a session token.");
  }
  const key = keys.find(token);
  if (key === null && isSession)
    throw refusal("SESSION_INVALID", "The session token is invalid or expired.");
  if (key === null) throw refusal("API_KEY_INVALID", "The API key does not exist.");
  if (key.revoked_at !== null) throw refusal("API_KEY_REVOKED", "The API key was revoked.");
  return { account: accounts.read(key.account_id), scopes: key.scopes, rateHolder: key.key_id };
}

const refusal = (code: ServiceErrorCode, message: string): ServiceError =>
  new ServiceError(code, message, { headers: { "WWW-Authenticate": "Bearer" } });

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
