import type { TaskStage, TaskStatus } from "../../api/investigation.js";
import type { Assumptions } from "../instance/assumptions.js";

/** Where a task is, and when it goes on; null when it stays there. */
export interface StageChange {
  status: TaskStatus;
  stage: TaskStage;
  dueAt: number | null;
}

/**
 * How a task goes on (service document, States and transitions; when and how is not shown there):
 *
 * ```
 * queued/queued → running/investigating → running/generating_report → succeeded/complete
 * ```
 *
 * @returns null when the task is finished
 */
export function nextStage(stage: TaskStage, nowMs: number, assumptions: Assumptions): StageChange | null {
  const { investigatingSeconds, generatingReportSeconds } = assumptions;
  if (stage === "queued") {
    return { status: "running", stage: "investigating", dueAt: nowMs + Math.round(investigatingSeconds * 1000) };
  }
  if (stage === "investigating") {
    return { status: "running", stage: "generating_report", dueAt: nowMs + Math.round(generatingReportSeconds * 1000) };
  }
  return stage === "generating_report" ? { status: "succeeded", stage: "complete", dueAt: null } : null;
}
