import { startInvestigationBodySchema } from "../../api/investigation.js";
import type { Assumptions } from "../assumptions.js";
import type { Investigations } from "../investigations/create-investigations.js";
import type { OperationBindings } from "./operation-handler.js";

/** The parts that answer operations. */
export interface BoundParts {
  assumptions: Assumptions;
  investigations: Investigations;
}

/** Which part answers which operation. */
export function bindOperations({ assumptions, investigations }: BoundParts): OperationBindings {
  return {
    startInvestigation: {
      handle: ({ account, parameters }) =>
        investigations.start(account.accountId, startInvestigationBodySchema.parse(parameters)),
      isFree: ({ account, parameters }) =>
        !assumptions.repeatedStartCounts &&
        investigations.isRepeat(account.accountId, startInvestigationBodySchema.parse(parameters)),
    },
    readInvestigation: {
      handle: ({ account, path }) => investigations.read(account.accountId, path["task_id"] ?? ""),
    },
  };
}
