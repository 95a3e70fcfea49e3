import { z } from "zod";
import {
  type InvestigationTask,
  reportSchema,
  type TaskStage,
  type TaskStatus,
  taskIdSchema,
} from "../../contract/investigation.js";
import { LIMITS } from "../../contract/limits.js";
import { API_PREFIX, OPERATIONS } from "../../contract/operations.js";
import type { ServiceLocale } from "../../contract/shared-schemas.js";
import { controlOperation } from "../control/control-operation.js";
import type { EmulatorCore } from "../instance/core.js";
import { randomUuid } from "../instance/random-source.js";
import { ServiceError } from "../operations/service-error.js";
import { buildReport } from "./build-report.js";
import { findSubject } from "./report-subject.js";

/** The promotion investigations of all accounts (service document, Promotion investigations). */
export type Investigations = ReturnType<typeof createInvestigations>;

/** The request of a client. */
interface InvestigationInput {
  slug: string;
  locale: ServiceLocale;
  idempotency_key: string;
}

/**
 * A task as the control API lists it: with its owner and its input, which the service's own answer
 * leaves out.
 */
type ListedInvestigation = Pick<InvestigationRow, "account_id" | "slug" | "locale"> &
  InvestigationTask;

/** How the control API ends a pending task. */
type InvestigationEnd =
  { status: "cancelled" } | { status: "failed"; code: string; message: string };

export function createInvestigations(core: EmulatorCore) {
  const { database, clock, scheduler, assumptions } = core;
  const byKey = database.prepare<[number, string], InvestigationRow>(
    "SELECT * FROM investigation WHERE account_id = ? AND idempotency_key = ?",
  );
  const countActive = database
    .prepare<[number], number>(
      "SELECT count(*) FROM investigation WHERE account_id = ? AND due_at IS NOT NULL",
    )
    .pluck();
  const byId = database.prepare<[string], InvestigationRow>(
    "SELECT * FROM investigation WHERE task_id = ?",
  );
  const save = database.prepare<[InvestigationRow]>(
    `REPLACE INTO investigation (task_id, account_id, idempotency_key, slug, locale, status, stage, created_at, updated_at,
       completed_at, due_at, error_code, error_message, report)
     VALUES (@task_id, @account_id, @idempotency_key, @slug, @locale, @status, @stage, @created_at, @updated_at,
       @completed_at, @due_at, @error_code, @error_message, @report)`,
  );
  const finish = (
    task: InvestigationRow,
    atMs: number,
    end: Partial<InvestigationRow>,
  ): InvestigationTask => {
    const finished = { ...task, updated_at: atMs, completed_at: atMs, due_at: null, ...end };
    save.run(finished);
    return investigationTask(finished);
  };

  const stageMs = (share: number): number =>
    Math.round(share * assumptions.investigationSeconds * 1000);

  const start = database.transaction(
    (accountId: number, input: InvestigationInput): InvestigationTask => {
      const key = keyOf(input);
      const earlier = byKey.get(accountId, key);
      if (earlier !== undefined) return existingTask(earlier, input);
      if (findSubject(database, input.slug) === null) {
        throw new ServiceError(
          "PRODUCT_NOT_FOUND",
          "This is not the slug of a product or category. The rankings have the slugs.",
        );
      }
      if ((countActive.get(accountId) ?? 0) >= LIMITS.activeInvestigations) {
        throw new ServiceError(
          "ACTIVE_INVESTIGATIONS_EXCEEDED",
          `The account has ${LIMITS.activeInvestigations} pending investigations. Wait until one of them is finished.`,
          { details: { limit: LIMITS.activeInvestigations } },
        );
      }
      const now = clock.now();
      const row: InvestigationRow = {
        task_id: `task_${randomUuid(core.random)}`,
        account_id: accountId,
        idempotency_key: key,
        slug: input.slug,
        locale: input.locale,
        status: "queued",
        stage: "queued",
        created_at: now,
        updated_at: now,
        completed_at: null,
        due_at: now + stageMs(STAGE_SHARES.queued),
        error_code: null,
        error_message: null,
        report: null,
      };
      save.run(row);
      return investigationTask(row);
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
    const run = (stage: keyof typeof STAGE_SHARES): void => {
      const due_at = dueAt + stageMs(STAGE_SHARES[stage]);
      save.run({ ...task, status: "running", stage, updated_at: dueAt, due_at });
    };
    if (task.stage === "queued") return run("investigating");
    if (task.stage === "investigating") return run("generating_report");
    const report = buildReport(database, {
      slug: task.slug,
      locale: task.locale,
      generatedAtMs: dueAt,
    });
    if (report === null) finish(task, dueAt, { status: "failed", ...TOO_LITTLE });
    else
      finish(task, dueAt, {
        status: "succeeded",
        stage: "complete",
        report: JSON.stringify(report),
      });
  });

  const nextDue = database.prepare<[], { due: number | null }>(
    "SELECT min(due_at) AS due FROM investigation",
  );
  const due = database.prepare<[number], InvestigationRow & { due_at: number }>(
    "SELECT * FROM investigation WHERE due_at <= ? ORDER BY due_at, task_id LIMIT 1",
  );
  scheduler.add({
    nextDueAt: () => nextDue.get()?.due ?? null,
    async runDue(nowMs) {
      // If the clock has skipped several steps of a task, they all run, each with its own time.
      for (let row = due.get(nowMs); row !== undefined; row = due.get(nowMs))
        runStep(row, row.due_at);
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
      const task = start.immediate(accountId, input);
      scheduler.wake();
      return task;
    },
    /** Whether `start` would return an existing task. */
    isRepeat(accountId: number, input: InvestigationInput): boolean {
      const earlier = byKey.get(accountId, keyOf(input));
      return earlier !== undefined && isSame(earlier, input);
    },
    /** @throws ServiceError `TASK_NOT_FOUND` if the account has no such task */
    read(accountId: number, taskId: string): InvestigationTask {
      const row = byId.get(taskId);
      if (row === undefined || row.account_id !== accountId) {
        throw new ServiceError("TASK_NOT_FOUND", "The account has no investigation with this id.");
      }
      return investigationTask(row);
    },
    /**
     * For the control API. @throws ServiceError `TASK_NOT_FOUND` if the task is unknown or finished
     */
    end(taskId: string, how: InvestigationEnd): InvestigationTask {
      const row = byId.get(taskId);
      if (row === undefined || row.due_at === null) {
        throw new ServiceError("TASK_NOT_FOUND", "There is no pending investigation with this id.");
      }
      const error =
        how.status === "failed" ? { error_code: how.code, error_message: how.message } : {};
      return finish(row, clock.now(), { status: how.status, ...error });
    },
    list({ accountId }: { accountId?: number | undefined }): ListedInvestigation[] {
      return database
        .prepare<[{ accountId: number | null }], InvestigationRow>(
          "SELECT * FROM investigation WHERE @accountId IS NULL OR account_id = @accountId ORDER BY created_at, task_id",
        )
        .all({ accountId: accountId ?? null })
        .map((row) => {
          const { account_id, slug, locale } = row;
          return { account_id, slug, locale, ...investigationTask(row) };
        });
    },
  };
}

/** How much of the assumption `investigationSeconds` each stage takes. */
const STAGE_SHARES = {
  queued: 20 / 340,
  investigating: 240 / 340,
  generating_report: 80 / 340,
} as const;

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
function investigationTask(row: InvestigationRow): InvestigationTask {
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
