import { LIMITS } from "../../contract/limits.js";
import type { ServiceLocale } from "../../contract/locale.js";
import { reportSchema } from "../../contract/report.js";
import type { InvestigationTask, TaskStage, TaskStatus } from "../../contract/investigation.js";
import { API_PREFIX, OPERATIONS } from "../../contract/operations.js";

/**
 * The tasks of all accounts. The report of a finished task is stored, so it never changes. Times
 * are in ms since 1970.
 */
export const INVESTIGATION_SCHEMA = `
CREATE TABLE investigation (
  task_id TEXT PRIMARY KEY,
  account_id INTEGER NOT NULL,
  idempotency_key TEXT NOT NULL,
  slug TEXT NOT NULL,
  locale TEXT NOT NULL,
  status TEXT NOT NULL,
  stage TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  completed_at INTEGER,
  -- The time of the next stage; null for a finished task.
  due_at INTEGER,
  error_code TEXT,
  error_message TEXT,
  report TEXT,
  UNIQUE (account_id, idempotency_key)
) STRICT;
CREATE INDEX investigation_by_due ON investigation (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX investigation_by_account ON investigation (account_id, created_at);
`;

/** A stored task. */
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

/** Converts a stored task to the API's form (service document, Investigation task). */
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
    error:
      row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? "" },
    report: row.report === null ? null : reportSchema.parse(JSON.parse(row.report)),
  };
}
