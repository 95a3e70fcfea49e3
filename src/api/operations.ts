import type { z } from "zod";
import type { Scope } from "./access.js";
import { investigationTaskSchema, startInvestigationBodySchema } from "./investigation.js";
import { LIMITS } from "./limits.js";
import { productProfileSchema } from "./product-profile.js";
import { rankingsQuerySchema, rankingsResponseSchema } from "./rankings.js";
import { searchDemandQuerySchema, searchDemandResponseSchema } from "./search-demand.js";
import { newRegistrationSchema, registerWebhookBodySchema } from "./webhook-registration.js";

/** One REST operation (service document, Endpoints). The texts are for the OpenAPI document. */
export interface Operation {
  tag: "Investigations" | "Signals" | "Catalog" | "Research";
  summary: string;
  description: string;
  method: "GET" | "POST";
  /** Below the API prefix; `{name}` stands for a path parameter. */
  path: string;
  /** Null: public, no key. */
  scope: Scope | null;
  /** Whether the operation accepts a signed session token in place of a key (service document, Authentication). */
  acceptsSession: boolean;
  /** How many counted calls of the monthly quota it uses. */
  quotaUnits: 0 | 1;
  query?: z.ZodObject;
  body?: z.ZodObject;
  /** The answer to a call that succeeds. */
  response: { status: 200 | 201 | 202; description: string; schema: z.ZodObject };
  errors: readonly number[];
}

/** Where the REST API begins; a part of the base address. */
export const API_PREFIX = "/v1";

export const OPERATIONS = {
  startInvestigation: {
    tag: "Investigations",
    summary: "Start a promotion investigation",
    description:
      "Starts research into the promotion of one product. It runs in the background, and uses research allowance. The same " +
      "idempotency key with the same product and language returns the existing task; with others it is a conflict (409). " +
      `An account may have ${LIMITS.activeInvestigations} active investigations. 503 is possible before the feature is activated.`,
    method: "POST",
    path: "/research/promotion-investigations",
    scope: "research:execute",
    acceptsSession: false,
    quotaUnits: 1,
    body: startInvestigationBodySchema,
    response: { status: 202, description: "The queued task; its report is null.", schema: investigationTaskSchema },
    errors: [400, 401, 403, 404, 409, 429, 503],
  },
  readInvestigation: {
    tag: "Investigations",
    summary: "Read an investigation",
    description:
      "Reads a task and starts nothing. It is free, also when the month's quota is used up; rate limits apply. Wait " +
      `${LIMITS.pollAfterSeconds} seconds between reads while the task is pending. A task of another account is not found.`,
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
      "Registers an HTTPS endpoint for future signals about products that the account follows. The service soon sends it a " +
      `\`webhook.verification\`. An account may register ${LIMITS.registrationsPerDay} endpoints a day.`,
    method: "POST",
    path: "/alerts/webhooks",
    scope: "webhooks:manage",
    acceptsSession: false,
    quotaUnits: 1,
    body: registerWebhookBodySchema,
    response: {
      status: 201,
      description: "The pending registration with its signing secret, which is shown only once.",
      schema: newRegistrationSchema,
    },
    errors: [400, 401, 403, 404, 409, 429, 503],
  },
  productProfile: {
    tag: "Catalog",
    summary: "Read a product's profile",
    description: "Finds a product by its canonical slug. Public, and never counted.",
    method: "GET",
    path: "/tools/{slug}",
    scope: null,
    acceptsSession: false,
    quotaUnits: 0,
    response: {
      status: 200,
      description: "The profile; the account decides which fields it has.",
      schema: productProfileSchema,
    },
    errors: [404],
  },
  searchDemand: {
    tag: "Research",
    summary: "Search demand",
    description:
      "Keywords, the tracked products that receive their traffic, and the share of each. Shares are of the tracked sample. " +
      `Developer Access gets page 1, ${LIMITS.developerRows} rows, ${LIMITS.developerHistoryMonths} month of history and ` +
      `${LIMITS.developerSectorOptions} sectors, nested lists included.`,
    method: "GET",
    path: "/research/search-demand",
    scope: "research:read",
    acceptsSession: true,
    quotaUnits: 1,
    query: searchDemandQuerySchema,
    response: {
      status: 200,
      description: "A page of keywords, and the detail of one if the request asked for it.",
      schema: searchDemandResponseSchema,
    },
    errors: [400, 401, 403, 404, 429, 503],
  },
  rankings: {
    tag: "Research",
    summary: "Product rankings",
    description:
      "Products ranked by growth, change, traffic, domain rating, organic, AI-referral or paid metrics. Some sort orders " +
      `need account features of their own. Developer Access gets page 1 and ${LIMITS.developerRows} results.`,
    method: "GET",
    path: "/research/rankings",
    scope: "research:read",
    acceptsSession: true,
    quotaUnits: 1,
    query: rankingsQuerySchema,
    response: { status: 200, description: "A page of ranked products.", schema: rankingsResponseSchema },
    errors: [400, 401, 403, 404, 429, 503],
  },
} as const satisfies Record<string, Operation>;

/** The six operations of the REST API. */
export type OperationName = keyof typeof OPERATIONS;
