import { z } from "zod";
import { dateTimeSchema } from "./date-time.js";
import { openObject } from "./open-object.js";

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
