import { z } from "zod";
import { errorEnvelopeSchema } from "../error-envelope.js";
import {
  investigationTaskSchema,
  startInvestigationBodySchema,
  reportSchema,
} from "../investigation.js";
import { JSON_SCHEMA_OPTIONS, type JsonObject } from "../json-schema.js";
import { productProfileSchema } from "../product-profile.js";
import { rankingItemSchema, rankingsResponseSchema } from "../rankings.js";
import {
  keywordDetailSchema,
  keywordRowSchema,
  searchDemandResponseSchema,
  trafficDistributionSchema,
} from "../search-demand.js";
import {
  challengeAnswerSchema,
  signalPublishedSchema,
  signalTypeSchema,
  webhookTestSchema,
  webhookVerificationSchema,
} from "../sent-events.js";
import { newRegistrationSchema, registerWebhookBodySchema } from "../webhook-registration.js";

/** The named schemas of the OpenAPI document. */
export const COMPONENTS = {
  StartInvestigationBody: startInvestigationBodySchema,
  InvestigationTask: investigationTaskSchema,
  InvestigationReport: reportSchema,
  RegisterWebhookBody: registerWebhookBodySchema,
  NewRegistration: newRegistrationSchema,
  SignalType: signalTypeSchema,
  ProductProfile: productProfileSchema,
  SearchDemandResponse: searchDemandResponseSchema,
  KeywordRow: keywordRowSchema,
  KeywordDetail: keywordDetailSchema,
  TrafficDistribution: trafficDistributionSchema,
  RankingsResponse: rankingsResponseSchema,
  RankingItem: rankingItemSchema,
  ErrorEnvelope: errorEnvelopeSchema,
  SignalPublishedEvent: signalPublishedSchema,
  WebhookVerificationEvent: webhookVerificationSchema,
  WebhookTestEvent: webhookTestSchema,
  ChallengeAnswer: challengeAnswerSchema,
} as const satisfies Record<string, z.ZodType>;

/** The name of one of {@link COMPONENTS}. */
export type ComponentName = keyof typeof COMPONENTS;

export function componentRef(name: ComponentName): { $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

/** A reference to the component of this schema. */
export function componentOf(schema: z.ZodType): { $ref: string } {
  const found = Object.entries(COMPONENTS).find(([, component]) => component === schema);
  if (found === undefined) throw new TypeError("The schema of an operation is not in COMPONENTS.");
  return componentRef(found[0] as ComponentName);
}

/** All {@link COMPONENTS} as JSON Schema (draft 2020-12). */
export function componentSchemas(): Record<string, JsonObject> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(COMPONENTS)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    ...JSON_SCHEMA_OPTIONS,
    uri: (id) => `#/components/schemas/${id}`,
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([title, { $schema: _draft, $id: _id, ...schema }]) => [
      title,
      { title, ...schema },
    ]),
  );
}
