import { z } from "zod";
import { taskIdSchema } from "../../contract/investigation.js";
import { controlOperation } from "../control/control-operation.js";
import type { Investigations } from "./create-investigations.js";

/** The control operations for investigations. */
export function investigationsControl(investigations: Investigations) {
  return {
    listInvestigations: controlOperation({
      method: "GET",
      path: "/investigations",
      about:
        "Lists the investigations of all accounts, or of one account, each with its account, slug and locale.",
      input: z.strictObject({ account_id: z.int().min(1).optional() }),
      run: ({ account_id }) => ({ items: investigations.list({ accountId: account_id }) }),
    }),
    cancelInvestigation: controlOperation({
      method: "POST",
      path: "/investigations/{task_id}/cancel",
      about: "Cancels a pending investigation.",
      input: z.strictObject({ task_id: taskIdSchema }),
      run: ({ task_id }) => investigations.end(task_id, { status: "cancelled" }),
    }),
    failInvestigation: controlOperation({
      method: "POST",
      path: "/investigations/{task_id}/fail",
      about: "Ends a pending investigation with a failure.",
      input: z.strictObject({
        task_id: taskIdSchema,
        code: z.string().min(1).max(100).default("INVESTIGATION_FAILED"),
        message: z.string().min(1).max(1000).default("The investigation failed."),
      }),
      run: ({ task_id, code, message }) =>
        investigations.end(task_id, { status: "failed", code, message }),
    }),
  };
}
