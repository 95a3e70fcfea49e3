import { LIMITS } from "../../api/limits.js";
import type { ServiceLocale } from "../../api/locale.js";
import { reportSchema } from "../../api/report.js";
import type { InvestigationTask, TaskStage, TaskStatus } from "../../api/investigation.js";
import { API_PREFIX, OPERATIONS } from "../../api/operations.js";

/** A task as it is stored. */
export interface InvestigationRow {
  task_id: string;
  account_id: number;
  idempotency_key: string;
  slug: string;
  locale: ServiceLocale;
  status: TaskStatus;
  stage: TaskStage;
  created_at: number;
  updated_at: number;
  completed_at: number | null;
  due_at: number | null;
  error_code: string | null;
  error_message: string | null;
  report: string | null;
}

/** The task as the API shows it (service document, Investigation task). */
export function investigationTask(row: InvestigationRow): InvestigationTask {
  const path = API_PREFIX + OPERATIONS.readInvestigation.path.replace("{task_id}", row.task_id);
  const isPending = row.status === "queued" || row.status === "running";
  return {
    task_id: row.task_id,
    type: "promotion_investigation",
    status: row.status,
    stage: row.stage,
    status_url: path,
    result_url: row.status === "succeeded" ? path : null,
    poll_after_seconds: isPending ? LIMITS.pollAfterSeconds : null,
    created_at: new Date(row.created_at).toISOString(),
    updated_at: new Date(row.updated_at).toISOString(),
    completed_at: row.completed_at === null ? null : new Date(row.completed_at).toISOString(),
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? "" },
    report: row.report === null ? null : reportSchema.parse(JSON.parse(row.report)),
  };
}
