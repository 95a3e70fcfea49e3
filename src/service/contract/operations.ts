import type { z } from "zod";
import type { Scope } from "./access.js";
import { investigationTaskSchema, startInvestigationBodySchema } from "./investigation.js";
import { LIMITS } from "./limits.js";
import { productProfileSchema } from "./product-profile.js";
import { rankingsQuerySchema, rankingsResponseSchema } from "./rankings.js";
import { searchDemandQuerySchema, searchDemandResponseSchema } from "./search-demand.js";
import { newRegistrationSchema, registerWebhookBodySchema } from "./webhook-registration.js";

/** One REST operation (service document, Endpoints). Its texts appear in the OpenAPI document. */
export interface Operation {
  tag: "Investigations" | "Signals" | "Catalog" | "Research";
  summary: string;
  description: string;
  method: "GET" | "POST";
  /** The path after the API prefix; `{name}` is a path parameter. */
  path: string;
  /** Null if the operation is public and needs no key. */
  scope: Scope | null;
  /**
   * Whether the operation accepts a signed session token instead of a key (service document,
   * Authentication).
   */
  acceptsSession: boolean;
  /** The number of counted calls of the monthly quota that the operation uses. */
  quotaUnits: 0 | 1;
  query?: z.ZodObject;
  body?: z.ZodObject;
  /** The answer to a call that succeeds. */
  response: { status: 200 | 201 | 202; description: string; schema: z.ZodObject };
  errors: readonly number[];
}

/** The path prefix of the REST API, which is a part of the base address. */
export const API_PREFIX = "/v1";

export const OPERATIONS = {
  startInvestigation: {
    tag: "Investigations",
    summary: "Start a promotion investigation",
    description:
      "Starts an investigation of one product's promotion. It runs in the background and uses research allowance. The same " +
      "idempotency key with the same product and language returns the existing task; with a different product or language it is " +
      `refused with 409. An account can have ${LIMITS.activeInvestigations} active investigations.`,
    method: "POST",
    path: "/research/promotion-investigations",
    scope: "research:execute",
    acceptsSession: false,
    quotaUnits: 1,
    body: startInvestigationBodySchema,
    response: {
      status: 202,
      description: "The queued task; its report is null.",
      schema: investigationTaskSchema,
    },
    errors: [400, 401, 403, 404, 409, 429, 503],
  },
  readInvestigation: {
    tag: "Investigations",
    summary: "Read an investigation",
    description:
      "Reads a task. It uses no quota, but rate limits apply. While the task is pending, wait " +
      `${LIMITS.pollAfterSeconds} seconds between reads. Tasks of other accounts are not found.`,
    method: "GET",
    path: "/research/promotion-investigations/{task_id}",
    scope: "research:read",
    acceptsSession: false,
    quotaUnits: 0,
    response: {
      status: 200,
      description: "The task, with its report once it has succeeded.",
      schema: investigationTaskSchema,
    },
    errors: [400, 401, 403, 404, 409, 429, 503],
  },
  registerWebhook: {
    tag: "Signals",
    summary: "Register a signal webhook",
    description:
      "Registers an HTTPS endpoint for future signals about products that the account follows. The service soon sends a " +
      `\`webhook.verification\` to the endpoint. An account can register ${LIMITS.registrationsPerDay} endpoints a day.`,
    method: "POST",
    path: "/alerts/webhooks",
    scope: "webhooks:manage",
    acceptsSession: false,
    quotaUnits: 1,
    body: registerWebhookBodySchema,
    response: {
      status: 201,
      description:
        "The pending registration with its signing secret, which no later answer contains.",
      schema: newRegistrationSchema,
    },
    errors: [400, 401, 403, 404, 409, 429, 503],
  },
  productProfile: {
    tag: "Catalog",
    summary: "Read a product's profile",
    description:
      "Reads the public profile of a product by its canonical slug. It needs no key and is not counted.",
    method: "GET",
    path: "/tools/{slug}",
    scope: null,
    acceptsSession: false,
    quotaUnits: 0,
    response: {
      status: 200,
      description:
        "The profile. If the call has a key, its account decides which fields the profile has.",
      schema: productProfileSchema,
    },
    errors: [404],
  },
  searchDemand: {
    tag: "Research",
    summary: "Search demand",
    description:
      "Lists keywords and the tracked products that receive their traffic. A share is of the traffic of " +
      "tracked products, not of the whole market. Developer Access " +
      `gets page 1, at most ${LIMITS.developerRows} rows in any list, ${LIMITS.developerHistoryMonths} month of history and ` +
      `${LIMITS.developerSectorOptions} sectors.`,
    method: "GET",
    path: "/research/search-demand",
    scope: "research:read",
    acceptsSession: true,
    quotaUnits: 1,
    query: searchDemandQuerySchema,
    response: {
      status: 200,
      description: "A page of keywords, with the detail of one keyword if `keyword_id` was given.",
      schema: searchDemandResponseSchema,
    },
    errors: [400, 401, 403, 404, 429, 503],
  },
  rankings: {
    tag: "Research",
    summary: "Product rankings",
    description:
      "Ranks products by growth, change, traffic, domain rating, or organic, AI-referral or paid visits. Some sort orders " +
      `need additional account features. Developer Access gets page 1 and ${LIMITS.developerRows} results.`,
    method: "GET",
    path: "/research/rankings",
    scope: "research:read",
    acceptsSession: true,
    quotaUnits: 1,
    query: rankingsQuerySchema,
    response: {
      status: 200,
      description: "A page of ranked products.",
      schema: rankingsResponseSchema,
    },
    errors: [400, 401, 403, 404, 429, 503],
  },
} as const satisfies Record<string, Operation>;

/** The six operations of the REST API. */
export type OperationName = keyof typeof OPERATIONS;
