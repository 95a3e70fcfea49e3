import { z } from "zod";
import { errorEnvelopeSchema } from "../error-envelope.js";
import { investigationTaskSchema, startInvestigationBodySchema } from "../investigation.js";
import { productProfileSchema } from "../product-profile.js";
import { rankingItemSchema, rankingsResponseSchema } from "../rankings.js";
import { reportSchema } from "../report.js";
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
import { registerWebhookBodySchema, webhookRegistrationSchema } from "../webhook-registration.js";
import { FIELD_TEXTS, SCHEMA_TEXTS } from "./schema-texts.js";

/** A JSON object, as it stands in the OpenAPI document. */
export type JsonObject = { [key: string]: unknown };

/** The schemas that have a name in the OpenAPI document; each stands there once. */
export const COMPONENTS = {
  StartInvestigationBody: startInvestigationBodySchema,
  InvestigationTask: investigationTaskSchema,
  InvestigationReport: reportSchema,
  RegisterWebhookBody: registerWebhookBodySchema,
  WebhookRegistration: webhookRegistrationSchema,
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

/** Where a component stands in the document. */
export function componentRef(name: ComponentName): { $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

/** The component that a schema is. */
export function componentOf(schema: z.ZodType): { $ref: string } {
  const found = Object.entries(COMPONENTS).find(([, component]) => component === schema);
  if (found === undefined) throw new TypeError("A schema of an operation is none of the named components.");
  return componentRef(found[0] as ComponentName);
}

/** All {@link COMPONENTS} as JSON Schema (draft 2020-12), with their texts. */
export function componentSchemas(): Record<ComponentName, JsonObject> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(COMPONENTS)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { ...JSON_SCHEMA_OPTIONS, uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, withTexts(name as ComponentName, schema as JsonObject)]),
  ) as Record<ComponentName, JsonObject>;
}

/** One parameter object's properties as JSON Schema. */
export function parameterSchemas(query: z.ZodObject): Record<string, JsonObject> {
  return z.toJSONSchema(query, JSON_SCHEMA_OPTIONS).properties as Record<string, JsonObject>;
}

const JSON_SCHEMA_OPTIONS = {
  target: "draft-2020-12",
  // What is sent: a field with a default may be left out.
  io: "input",
  override: ({ jsonSchema }: { jsonSchema: JsonObject }): void => {
    // Every integer of JavaScript; a bound that the service has not.
    if (jsonSchema["minimum"] === Number.MIN_SAFE_INTEGER) {
      delete jsonSchema["minimum"];
      delete jsonSchema["maximum"];
    }
    // The format says it, in less than 300 characters.
    if (String(jsonSchema["format"]).startsWith("date")) delete jsonSchema["pattern"];
    // Open is what a schema is anyway; an empty list of properties says nothing.
    if (isEmptyObject(jsonSchema["additionalProperties"])) delete jsonSchema["additionalProperties"];
    if (isEmptyObject(jsonSchema["properties"]) && jsonSchema["additionalProperties"] === undefined) {
      delete jsonSchema["properties"];
    }
  },
} as const;

function isEmptyObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function withTexts(name: ComponentName, { $schema: _draft, $id: _id, ...schema }: JsonObject): JsonObject {
  const texts = Object.entries(FIELD_TEXTS[name] ?? {});
  const properties = schema["properties"] as Record<string, JsonObject> | undefined;
  for (const [field, description] of texts) {
    if (properties?.[field] === undefined) throw new TypeError(`${name} has no field ${field} to describe.`);
    properties[field] = { description, ...properties[field] };
  }
  return { title: name, description: SCHEMA_TEXTS[name], ...schema };
}
