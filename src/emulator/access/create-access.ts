import { SCOPES, type Scope } from "../../api/access.js";
import { itemsOf } from "../instance/allowed-values.js";
import type { EmulatorCore } from "../instance/core.js";
import { createAccounts, type Accounts } from "./accounts.js";
import { createApiKeys, type ApiKeys } from "./api-keys.js";
import { createQuota, type Quota } from "./quota.js";
import { createRateLimiter, type RateLimiter } from "./rate-limiter.js";
import { createSessions, type Sessions } from "./sessions.js";

/** Who may call, and how often. */
export interface Access {
  accounts: Accounts;
  keys: ApiKeys;
  sessions: Sessions;
  quota: Quota;
  rateLimiter: RateLimiter;
  sessionScopes: ReadonlySet<Scope>;
}

export function createAccess(core: EmulatorCore): Access {
  const named = itemsOf(core.assumptions.sessionScopes);
  return {
    accounts: createAccounts(core),
    keys: createApiKeys(core),
    sessions: createSessions(core),
    quota: createQuota(core),
    rateLimiter: createRateLimiter(core),
    sessionScopes: new Set(SCOPES.filter((scope) => named.includes(scope))),
  };
}
