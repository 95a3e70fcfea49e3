import type { Database } from "better-sqlite3";
import { authorizeRankingSort } from "../access/authorize.js";
import type { Assumptions } from "../assumptions.js";
import type { Investigations } from "../investigations/create-investigations.js";
import { readRankings } from "../research/read-rankings.js";
import { readSearchDemand } from "../research/read-search-demand.js";
import type { OperationBindings } from "./operation-handler.js";

/** The parts that answer operations. */
export interface BoundParts {
  database: Database;
  assumptions: Assumptions;
  investigations: Investigations;
}

/** Which part answers which operation. */
export function bindOperations({ database, assumptions, investigations }: BoundParts): OperationBindings {
  return {
    startInvestigation: {
      handle: ({ account, parameters }) => investigations.start(account.accountId, parameters),
      isFree: ({ account, parameters }) =>
        !assumptions.repeatedStartCounts && investigations.isRepeat(account.accountId, parameters),
    },
    readInvestigation: {
      handle: ({ account, path }) => investigations.read(account.accountId, path["task_id"] ?? ""),
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
