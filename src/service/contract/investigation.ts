import { z } from "zod";
import { dateTimeSchema, localeSchema, openObject } from "./shared-schemas.js";

/** Objects whose fields the service's document does not define. */
const objects = z.array(z.looseObject({}));

/** The saved report of a succeeded investigation (service document, Report). */
export const reportSchema = openObject({
  version: z.string().describe("The version of the report's format, as any text."),
  generated_at: dateTimeSchema.nullable(),
  narrative: openObject({
    title: z.string().optional(),
    summary: openObject({ text: z.string(), citations: z.array(z.unknown()) }).optional(),
    sections: z.array(z.unknown()).optional(),
    limitations: z.string().optional(),
  })
    .nullable()
    .describe("The analysis as text, with citations."),
  summary: openObject({
    actionEvidenceCount: z.int(),
    channelCount: z.int(),
    contextLeadCount: z.int(),
    sourceCount: z.int(),
    unresolvedActionCount: z.int(),
  }),
  analysis: openObject({
    overview: z.string(),
    method: z.string(),
    observations: z.array(z.unknown()),
    phases: z.array(z.unknown()),
    channels: z.array(z.unknown()),
    openQuestions: z.array(z.unknown()),
  }),
  timeline: objects,
  strategies: objects,
  sources: objects,
  context_leads: objects,
  conclusion: z.string(),
  limitations: z.array(z.string()),
  caveat: z.string(),
  reliability: openObject({
    actorAttribution: z.string(),
    coverageLevel: z.string(),
    growthCausality: z.string(),
    growthImpact: z.string(),
  }),
  omitted_action_count: z.int(),
  omitted_context_count: z.int(),
}).describe("The saved report of a succeeded investigation.");

/** The report of a succeeded investigation. */
export type InvestigationReport = z.infer<typeof reportSchema>;

const TASK_STATUSES = ["queued", "running", "succeeded", "failed", "cancelled"] as const;
/**
 * The state of an investigation; the last three are final (service document, States and
 * transitions).
 */
export type TaskStatus = (typeof TASK_STATUSES)[number];

const TASK_STAGES = ["queued", "investigating", "generating_report", "complete"] as const;
/** The step that an investigation has reached. */
export type TaskStage = (typeof TASK_STAGES)[number];

export const taskIdSchema = z
  .string()
  .regex(/^task_[0-9a-f-]{36}$/, "must be task_ and 36 characters of a UUID");

/**
 * A UUID of RFC 9562, in upper or lower case. `z.uuid()` would refuse the UUID of F digits in upper
 * case.
 */
const UUID =
  /^([\da-fA-F]{8}-[\da-fA-F]{4}-[1-8][\da-fA-F]{3}-[89abAB][\da-fA-F]{3}-[\da-fA-F]{12}|0{8}-0{4}-0{4}-0{4}-0{12}|[fF]{8}-[fF]{4}-[fF]{4}-[fF]{4}-[fF]{12})$/;

/** The body of the request that starts an investigation. */
export const startInvestigationBodySchema = z
  .strictObject({
    slug: z
      .string()
      .min(1)
      .max(200)
      .regex(
        /^[a-z0-9][a-z0-9-]*$/,
        "must be a slug: a to z, 0 to 9 and hyphens, without a hyphen at the start",
      )
      .meta({
        description:
          "The canonical slug of a product or a category, such as a `slug` of the rankings.",
        examples: ["aurora-notes"],
      }),
    locale: localeSchema.default("en").describe("The language of the report."),
    idempotency_key: z
      .stringFormat("uuid", UUID)
      .describe(
        "A UUID that the caller generates, a new one for each investigation. Reuse it only to retry with the same product and language.",
      ),
    confirm_usage: z
      .literal(true)
      .describe("Must be true. Confirms that the investigation uses research allowance."),
  })
  .describe("The investigation to start. Unknown keys are refused.");

/** The investigation task (service document, Investigation task). */
export const investigationTaskSchema = openObject({
  task_id: taskIdSchema,
  type: z.literal("promotion_investigation"),
  status: z.enum(TASK_STATUSES),
  stage: z.enum(TASK_STAGES),
  status_url: z.string().describe("The path to read this task from, with the API prefix."),
  result_url: z
    .string()
    .nullable()
    .describe("Null until the task has succeeded; then equal to `status_url`."),
  poll_after_seconds: z
    .int()
    .nullable()
    .describe("Seconds to wait before the next read; null when the task has succeeded."),
  created_at: dateTimeSchema,
  updated_at: dateTimeSchema,
  completed_at: dateTimeSchema.nullable().describe("Null until the task is finished."),
  error: openObject({ code: z.string(), message: z.string() })
    .nullable()
    .describe("Null when there was no error."),
  report: reportSchema
    .nullable()
    .describe("Null unless the task has succeeded. Reading a task never generates a report."),
}).describe(
  "A promotion investigation, with its report when it has succeeded. All twelve fields are always present.",
);

/** One investigation, with its report when it has succeeded. */
export type InvestigationTask = z.infer<typeof investigationTaskSchema>;
