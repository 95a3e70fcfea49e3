import type { EmulatorCore } from "../instance/core.js";
import { createAccounts } from "./accounts.js";
import { createApiKeys } from "./api-keys.js";
import { createQuota } from "./quota.js";
import { createRateLimiter } from "./rate-limiter.js";

/** The accounts with their keys and limits. */
export type Access = ReturnType<typeof createAccess>;

export function createAccess(core: EmulatorCore) {
  return {
    accounts: createAccounts(core),
    keys: createApiKeys(core),
    quota: createQuota(core),
    rateLimiter: createRateLimiter(core),
  };
}
