import type { Database } from "../database/database.js";
import { authorizeRankingSort } from "../access/authorize.js";
import type { Assumptions } from "../instance/assumptions.js";
import { readProductProfile } from "../market/read-product-profile.js";
import type { Investigations } from "../investigations/create-investigations.js";
import { readRankings } from "../research/read-rankings.js";
import { readSearchDemand } from "../research/read-search-demand.js";
import { ServiceError } from "./service-error.js";
import type { Webhooks } from "../webhooks/create-webhooks.js";
import type { OperationBindings } from "./operation-binding.js";

/** The parts that answer operations. */
export interface BoundParts {
  database: Database;
  assumptions: Assumptions;
  investigations: Investigations;
  webhooks: Webhooks;
}

/** Which part answers which operation. */
export function bindOperations({ database, assumptions, investigations, webhooks }: BoundParts): OperationBindings {
  return {
    startInvestigation: {
      handle: ({ account, parameters }) => investigations.start(account.accountId, parameters),
      isFree: ({ account, parameters }) =>
        !assumptions.repeatedStartCounts && investigations.isRepeat(account.accountId, parameters),
    },
    readInvestigation: {
      handle: ({ account, path }) => investigations.read(account.accountId, path["task_id"] ?? ""),
    },
    registerWebhook: {
      handle: ({ account, parameters }) => webhooks.register(account.accountId, parameters),
    },
    productProfile: {
      handle({ path, parameters }) {
        const profile = readProductProfile(database, path["slug"] ?? "", parameters.locale);
        if (profile === null) throw new ServiceError("PRODUCT_NOT_FOUND", "There is no product of this slug.");
        return profile;
      },
    },
    searchDemand: {
      handle: ({ account, parameters }) => readSearchDemand(database, parameters, account, assumptions),
    },
    rankings: {
      handle({ account, parameters }) {
        authorizeRankingSort(account, parameters.sort, assumptions);
        return readRankings(database, parameters, account, assumptions);
      },
    },
  };
}
