import type { z } from "zod";
import { investigationTaskSchema, startInvestigationBodySchema } from "./investigation.js";
import { productProfileSchema } from "./product-profile.js";
import { rankingsQuerySchema, rankingsResponseSchema } from "./rankings.js";
import type { Scope } from "./access.js";
import { searchDemandQuerySchema, searchDemandResponseSchema } from "./search-demand.js";
import { registerWebhookBodySchema, webhookRegistrationSchema } from "./webhook-registration.js";

/** One REST operation, as the document has it (service document, Endpoints). */
export interface Operation {
  method: "GET" | "POST";
  /** Below the API prefix; `{name}` stands for a path parameter. */
  path: string;
  /** Null: public, no key. */
  scope: Scope | null;
  /** Whether a signed session token does as well as a key (service document, Authentication). */
  acceptsSession: boolean;
  /** What it takes of the monthly quota. */
  quotaUnits: 0 | 1;
  query?: z.ZodObject;
  body?: z.ZodObject;
  response: { status: 200 | 201 | 202; schema: z.ZodObject };
  errors: readonly number[];
}

/** Where the REST API begins; a part of the base address. */
export const API_PREFIX = "/v1";

export const OPERATIONS = {
  startInvestigation: {
    method: "POST",
    path: "/research/promotion-investigations",
    scope: "research:execute",
    acceptsSession: false,
    quotaUnits: 1,
    body: startInvestigationBodySchema,
    response: { status: 202, schema: investigationTaskSchema },
    errors: [400, 401, 403, 404, 409, 429, 503],
  },
  readInvestigation: {
    method: "GET",
    path: "/research/promotion-investigations/{task_id}",
    scope: "research:read",
    acceptsSession: false,
    quotaUnits: 0,
    response: { status: 200, schema: investigationTaskSchema },
    errors: [400, 401, 403, 404, 409, 429, 503],
  },
  registerWebhook: {
    method: "POST",
    path: "/alerts/webhooks",
    scope: "webhooks:manage",
    acceptsSession: false,
    quotaUnits: 1,
    body: registerWebhookBodySchema,
    response: { status: 201, schema: webhookRegistrationSchema },
    errors: [400, 401, 403, 404, 409, 429, 503],
  },
  productProfile: {
    method: "GET",
    path: "/tools/{slug}",
    scope: null,
    acceptsSession: false,
    quotaUnits: 0,
    response: { status: 200, schema: productProfileSchema },
    errors: [404],
  },
  searchDemand: {
    method: "GET",
    path: "/research/search-demand",
    scope: "research:read",
    acceptsSession: true,
    quotaUnits: 1,
    query: searchDemandQuerySchema,
    response: { status: 200, schema: searchDemandResponseSchema },
    errors: [400, 401, 403, 404, 429, 503],
  },
  rankings: {
    method: "GET",
    path: "/research/rankings",
    scope: "research:read",
    acceptsSession: true,
    quotaUnits: 1,
    query: rankingsQuerySchema,
    response: { status: 200, schema: rankingsResponseSchema },
    errors: [400, 401, 403, 404, 429, 503],
  },
} as const satisfies Record<string, Operation>;

/** The six operations of the REST API. */
export type OperationName = keyof typeof OPERATIONS;
