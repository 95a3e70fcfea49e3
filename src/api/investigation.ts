import { z } from "zod";
import { dateTimeSchema } from "./date-time.js";
import { localeSchema } from "./locale.js";
import { reportSchema } from "./report.js";

export const TASK_STATUSES = ["queued", "running", "succeeded", "failed", "cancelled"] as const;
/** Where an investigation stands; the last three are final (service document, States and transitions). */
export type TaskStatus = (typeof TASK_STATUSES)[number];

export const TASK_STAGES = ["queued", "investigating", "generating_report", "complete"] as const;
/** What an investigation is busy with. */
export type TaskStage = (typeof TASK_STAGES)[number];

export const taskIdSchema = z.string().regex(/^task_[0-9a-f-]{36}$/, "must be task_ and 36 characters of a UUID");

/** As RFC 9562 has it, in either case; `z.uuid()` takes the one of all f in small letters alone. */
const UUID =
  /^([\da-fA-F]{8}-[\da-fA-F]{4}-[1-8][\da-fA-F]{3}-[89abAB][\da-fA-F]{3}-[\da-fA-F]{12}|0{8}-0{4}-0{4}-0{4}-0{12}|[fF]{8}-[fF]{4}-[fF]{4}-[fF]{4}-[fF]{12})$/;

/** The body of operation 1; unknown keys are refused. */
export const startInvestigationBodySchema = z.strictObject({
  /** A canonical product or category slug. */
  slug: z
    .string()
    .min(1)
    .max(200)
    .regex(/^[a-z0-9][a-z0-9-]*$/, "must be a slug: a to z, 0 to 9 and hyphens, and no hyphen first"),
  locale: localeSchema.default("en"),
  /** Reuse it only to retry the same product and language. */
  idempotency_key: z.stringFormat("uuid", UUID),
  confirm_usage: z.literal(true),
});

export type StartInvestigationBody = z.input<typeof startInvestigationBodySchema>;

/** The investigation task (service document, Investigation task); all twelve fields are always there. */
export const investigationTaskSchema = z.looseObject({
  task_id: taskIdSchema,
  type: z.literal("promotion_investigation"),
  status: z.enum(TASK_STATUSES),
  stage: z.enum(TASK_STAGES),
  /** The path of operation 2 for this task, with the API prefix. */
  status_url: z.string(),
  result_url: z.string().nullable(),
  /** Seconds. */
  poll_after_seconds: z.int().nullable(),
  created_at: dateTimeSchema,
  updated_at: dateTimeSchema,
  completed_at: dateTimeSchema.nullable(),
  error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
  report: reportSchema.nullable(),
});

/** One investigation, with its report once it succeeded. */
export type InvestigationTask = z.infer<typeof investigationTaskSchema>;
