import { z } from "zod";
import {
  type InvestigationTask,
  reportSchema,
  type TaskStage,
  taskIdSchema,
} from "../../contract/investigation.js";
import { LIMITS } from "../../contract/limits.js";
import { API_PREFIX, OPERATIONS } from "../../contract/operations.js";
import type { ServiceLocale } from "../../contract/shared-schemas.js";
import { controlOperation } from "../control/control-operation.js";
import type { EmulatorCore } from "../instance/core.js";
import { randomUuid } from "../instance/random-source.js";
import { ServiceError } from "../operations/service-error.js";
import { dateTime } from "../time/emulator-clock.js";
import { buildReport } from "./build-report.js";
import { findSubject } from "./report-subject.js";

/** The promotion investigations of all accounts (service document, Promotion investigations). */
export type Investigations = ReturnType<typeof createInvestigations>;

/** The request of a client. */
type InvestigationInput = Pick<InvestigationRow, "slug" | "locale" | "idempotency_key">;

/**
 * A task as the control API lists it: with its owner and its input, which the service's own answer
 * leaves out.
 */
type ListedInvestigation = Pick<InvestigationRow, "account_id" | "slug" | "locale"> &
  InvestigationTask;

export function createInvestigations(core: EmulatorCore) {
  const { database, clock, scheduler, assumptions } = core;
  const byId = (taskId: string): InvestigationRow | undefined =>
    database.row("SELECT * FROM investigation WHERE task_id = ?", taskId);
  const byKey = (accountId: number, input: InvestigationInput): InvestigationRow | undefined =>
    database.row(
      "SELECT * FROM investigation WHERE account_id = ? AND idempotency_key = ?",
      accountId,
      keyOf(input),
    );
  function save(row: InvestigationRow): InvestigationTask {
    database.put("investigation", row);
    return investigationTask(row);
  }
  const finish = (
    task: InvestigationRow,
    atMs: number,
    end: Partial<InvestigationRow>,
  ): InvestigationTask =>
    save({ ...task, updated_at: atMs, completed_at: atMs, due_at: null, ...end });

  const stageMs = (share: number): number =>
    Math.round(share * assumptions.investigationSeconds * 1000);

  const start = database.transaction(
    (account_id: number, input: InvestigationInput): InvestigationTask => {
      const { slug, locale } = input;
      const earlier = byKey(account_id, input);
      if (earlier !== undefined) return existingTask(earlier, input);
      if (findSubject(database, slug) === null) {
        throw new ServiceError(
          "PRODUCT_NOT_FOUND",
          "This is not the slug of a product or category. The rankings have the slugs.",
        );
      }
      const sql = "SELECT count(*) FROM investigation WHERE account_id = ? AND due_at IS NOT NULL";
      if ((database.value<number>(sql, account_id) ?? 0) >= LIMITS.activeInvestigations) {
        throw new ServiceError(
          "ACTIVE_INVESTIGATIONS_EXCEEDED",
          `The account has ${LIMITS.activeInvestigations} pending investigations. Wait until one of them is finished.`,
          { details: { limit: LIMITS.activeInvestigations } },
        );
      }
      const now = clock.now();
      return save({
        task_id: `task_${randomUuid(core.random)}`,
        account_id,
        idempotency_key: keyOf(input),
        slug,
        locale,
        status: "queued",
        stage: "queued",
        created_at: now,
        updated_at: now,
        completed_at: null,
        due_at: now + stageMs(STAGE_SHARES.queued),
        error_code: null,
        error_message: null,
        report: null,
      });
    },
  );

  /**
   * Runs the next step of a task (service document, States and transitions).
   *
   * ```
   * queued/queued → running/investigating → running/generating_report → succeeded/complete
   * ```
   */
  const runStep = database.transaction((task: InvestigationRow, dueAt: number): void => {
    const next = NEXT_STAGE[task.stage];
    if (next !== undefined) {
      const due_at = dueAt + stageMs(STAGE_SHARES[next]);
      save({ ...task, status: "running", stage: next, updated_at: dueAt, due_at });
      return;
    }
    const report = buildReport(database, { ...task, generatedAtMs: dueAt });
    const end: Partial<InvestigationRow> =
      report === null
        ? { status: "failed", ...TOO_LITTLE }
        : { status: "succeeded", stage: "complete", report: JSON.stringify(report) };
    finish(task, dueAt, end);
  });

  scheduler.add({
    nextDueAt: () => database.value<number | null>("SELECT min(due_at) FROM investigation") ?? null,
    async runDue(nowMs) {
      // If the clock has skipped several steps of a task, they all run, each with its own time.
      const due = () =>
        database.row<InvestigationRow & { due_at: number }>(
          "SELECT * FROM investigation WHERE due_at <= ? ORDER BY due_at, task_id LIMIT 1",
          nowMs,
        );
      for (let row = due(); row !== undefined; row = due()) runStep(row, row.due_at);
    },
  });

  return {
    /**
     * Starts a task, or returns the task that the same idempotency key started.
     *
     * @throws ServiceError `PRODUCT_NOT_FOUND`, `IDEMPOTENCY_KEY_CONFLICT`,
     * `ACTIVE_INVESTIGATIONS_EXCEEDED`
     */
    start(accountId: number, input: InvestigationInput): InvestigationTask {
      const task = start(accountId, input);
      scheduler.wake();
      return task;
    },
    /** Whether `start` would return an existing task. */
    isRepeat(accountId: number, input: InvestigationInput): boolean {
      const earlier = byKey(accountId, input);
      return earlier !== undefined && isSame(earlier, input);
    },
    /** @throws ServiceError `TASK_NOT_FOUND` if the account has no such task */
    read(accountId: number, taskId: string): InvestigationTask {
      const row = byId(taskId);
      if (row === undefined || row.account_id !== accountId) {
        throw new ServiceError("TASK_NOT_FOUND", "The account has no investigation with this id.");
      }
      return investigationTask(row);
    },
    /**
     * For the control API. @throws ServiceError `TASK_NOT_FOUND` if the task is unknown or finished
     */
    end(taskId: string, how: Partial<InvestigationRow>): InvestigationTask {
      const row = byId(taskId);
      if (row === undefined || row.due_at === null) {
        throw new ServiceError("TASK_NOT_FOUND", "There is no pending investigation with this id.");
      }
      return finish(row, clock.now(), how);
    },
    list: (accountId: number | null = null): ListedInvestigation[] =>
      database
        .rows<InvestigationRow>(
          "SELECT * FROM investigation WHERE @accountId IS NULL OR account_id = @accountId ORDER BY created_at, task_id",
          { accountId },
        )
        .map((row) => {
          const { account_id, slug, locale } = row;
          return { account_id, slug, locale, ...investigationTask(row) };
        }),
  };
}

/** How much of the assumption `investigationSeconds` each stage takes. */
const STAGE_SHARES = {
  queued: 20 / 340,
  investigating: 240 / 340,
  generating_report: 80 / 340,
} as const;

/** The stage after a stage. After the last one there is a report. */
const NEXT_STAGE: { [stage in TaskStage]?: keyof typeof STAGE_SHARES } = {
  queued: "investigating",
  investigating: "generating_report",
};

const TOO_LITTLE = {
  error_code: "INSUFFICIENT_EVIDENCE",
  error_message: "Fewer than two months were observed, which is too short for a report.",
};

/** Returns the key in lower case, because a UUID in upper case is the same UUID. */
const keyOf = ({ idempotency_key }: InvestigationInput): string => idempotency_key.toLowerCase();

const isSame = (earlier: InvestigationRow, { slug, locale }: InvestigationInput): boolean =>
  earlier.slug === slug && earlier.locale === locale;

/** @throws ServiceError `IDEMPOTENCY_KEY_CONFLICT` */
function existingTask(earlier: InvestigationRow, input: InvestigationInput): InvestigationTask {
  if (isSame(earlier, input)) return investigationTask(earlier);
  throw new ServiceError(
    "IDEMPOTENCY_KEY_CONFLICT",
    "The idempotency_key was used for another product or language. Use a new key for a new investigation.",
  );
}

/**
 * The tasks of all accounts. The report of a finished task is stored, so it never changes. Times
 * are in ms since 1970.
 */
export const INVESTIGATION_SCHEMA = [
  // `due_at`: the time of the next stage; null for a finished task.
  `CREATE TABLE investigation (
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
  due_at INTEGER,
  error_code TEXT,
  error_message TEXT,
  report TEXT,
  UNIQUE (account_id, idempotency_key)
) STRICT;
CREATE INDEX investigation_by_due ON investigation (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX investigation_by_account ON investigation (account_id, created_at);`,
].join("\n");

/** A stored task. */
type InvestigationRow = Pick<InvestigationTask, "task_id" | "status" | "stage"> &
  Record<"idempotency_key" | "slug", string> &
  Record<"account_id" | "created_at" | "updated_at", number> &
  Record<"completed_at" | "due_at", number | null> &
  Record<"error_code" | "error_message" | "report", string | null> & { locale: ServiceLocale };

/** Converts a stored task to the API's form (service document, Investigation task). */
function investigationTask(row: InvestigationRow): InvestigationTask {
  const { task_id, status, stage } = row;
  const path = API_PREFIX + OPERATIONS.readInvestigation.path.replace("{task_id}", task_id);
  const isPending = status === "queued" || status === "running";
  return {
    task_id,
    type: "promotion_investigation",
    status,
    stage,
    status_url: path,
    result_url: status === "succeeded" ? path : null,
    poll_after_seconds: isPending ? LIMITS.pollAfterSeconds : null,
    created_at: dateTime(row.created_at),
    updated_at: dateTime(row.updated_at),
    completed_at: row.completed_at === null ? null : dateTime(row.completed_at),
    error:
      row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? "" },
    report: row.report === null ? null : reportSchema.parse(JSON.parse(row.report)),
  };
}

/** The control operations for investigations. */
export function investigationsControl(investigations: Investigations) {
  return {
    listInvestigations: controlOperation(
      "GET /investigations",
      "Lists the investigations of all accounts, or of one account, each with its account, slug and locale.",
      { account_id: z.int().min(1).optional() },
      ({ account_id }) => ({ items: investigations.list(account_id) }),
    ),
    cancelInvestigation: controlOperation(
      "POST /investigations/{task_id}/cancel",
      "Cancels a pending investigation.",
      { task_id: taskIdSchema },
      ({ task_id }) => investigations.end(task_id, { status: "cancelled" }),
    ),
    failInvestigation: controlOperation(
      "POST /investigations/{task_id}/fail",
      "Ends a pending investigation with a failure.",
      {
        task_id: taskIdSchema,
        code: z.string().min(1).max(100).default("INVESTIGATION_FAILED"),
        message: z.string().min(1).max(1000).default("The investigation failed."),
      },
      ({ task_id, code, message }) =>
        investigations.end(task_id, { status: "failed", error_code: code, error_message: message }),
    ),
  };
}
