import type { EmulatorCore } from "../instance/core.js";
import { createAccounts, type Accounts } from "./accounts.js";
import { createApiKeys, type ApiKeys } from "./api-keys.js";
import { createQuota, type Quota } from "./quota.js";
import { createRateLimiter, type RateLimiter } from "./rate-limiter.js";
import { createSessions, type Sessions } from "./sessions.js";

/** The accounts with their keys and sessions, and how often each may call. */
export interface Access {
  accounts: Accounts;
  keys: ApiKeys;
  sessions: Sessions;
  quota: Quota;
  rateLimiter: RateLimiter;
}

export function createAccess(core: EmulatorCore): Access {
  return {
    accounts: createAccounts(core),
    keys: createApiKeys(core),
    sessions: createSessions(core),
    quota: createQuota(core),
    rateLimiter: createRateLimiter(core),
  };
}
