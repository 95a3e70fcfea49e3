import type { ErrorEnvelope, ServiceErrorCode } from "../error-envelope.js";
import { LIMITS } from "../limits.js";
import { componentRef, type JsonObject } from "./component-schemas.js";

const LIMIT = LIMITS.developerCallsPerMonth;

/** The headers that show the month's quota (service document, Errors). */
const QUOTA_HEADERS = {
  "X-Quota-Limit": { description: "Counted calls in a month.", schema: { type: "integer" }, example: LIMIT },
  "X-Quota-Remaining": { description: "Counted calls that are left.", schema: { type: "integer" }, example: 0 },
  "X-Quota-Policy": {
    description: "`<limit>;month`.",
    schema: { type: "string", pattern: String.raw`^\d+;month$` },
    example: `${LIMIT};month`,
  },
  "X-Quota-Reset": {
    description: "When the next month begins.",
    schema: { type: "string", format: "date-time" },
    example: "2026-04-01T00:00:00.000Z",
  },
};

/** The quota headers as components. */
export function quotaHeaders(): JsonObject {
  return Object.fromEntries(
    Object.entries(QUOTA_HEADERS).map(([name, { description, ...rest }]) => [
      name,
      { description: `${description} Only limited Developer Access gets it.`, ...rest },
    ]),
  );
}

/** References to the quota headers, for a response. */
export function quotaHeaderRefs(): JsonObject {
  return Object.fromEntries(Object.keys(QUOTA_HEADERS).map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

interface ErrorResponse {
  name: string;
  description: string;
  /** A message for each code that has an example. */
  messages: Partial<Record<ServiceErrorCode, string>>;
}

/** The response of each error status. */
const RESPONSES: Readonly<Record<number, ErrorResponse>> = {
  400: {
    name: "BadRequest",
    description: "A parameter or the body is invalid. Correct it before you try again.",
    messages: { INVALID_PARAMETERS: "limit: at most 50" },
  },
  401: {
    name: "Unauthorized",
    description: "The key is missing, invalid or revoked.",
    messages: { API_KEY_INVALID: "The API key is not valid." },
  },
  403: {
    name: "Forbidden",
    description: "The key's scopes or the account's access do not permit the operation.",
    messages: { SCOPE_INSUFFICIENT: "The key needs the scope research:read." },
  },
  404: {
    name: "NotFound",
    description: "There is no such product or resource, or it belongs to another account.",
    messages: { PRODUCT_NOT_FOUND: "There is no such product." },
  },
  409: {
    name: "Conflict",
    description: "The idempotency key was used for another request.",
    messages: { IDEMPOTENCY_KEY_CONFLICT: "The key was used for another product or language." },
  },
  429: {
    name: "TooManyRequests",
    description:
      "Too many requests within a minute, or the month's quota is used up: see `error.code` and the quota headers.",
    messages: {
      RATE_LIMITED: `More than ${LIMITS.requestsPerWindow.developer} requests in ${LIMITS.requestWindowSeconds} seconds.`,
      PRO_API_QUOTA_EXHAUSTED: "The counted calls of this month are used up.",
    },
  },
  503: {
    name: "Unavailable",
    description: "The data or the feature is unavailable now. Retry with backoff.",
    messages: { DATA_UNAVAILABLE: "The data is not available now." },
  },
};

/** A reference to the response of an error status. */
export function errorResponseRef(status: number): { $ref: string } {
  const response = RESPONSES[status];
  if (response === undefined) throw new TypeError(`The error status ${status} has no text in the OpenAPI document.`);
  return { $ref: `#/components/responses/${response.name}` };
}

/** The response of each error status, by name. */
export function errorResponses(): JsonObject {
  return Object.fromEntries(
    Object.entries(RESPONSES).map(([status, { name, description, messages }]) => {
      const examples = Object.entries(messages).map(([code, message]) => [
        code,
        { value: errorExample(code, message) },
      ]);
      const content = {
        "application/json": { schema: componentRef("ErrorEnvelope"), examples: Object.fromEntries(examples) },
      };
      return [name, { description, ...(status === "429" && { headers: quotaHeaderRefs() }), content }];
    }),
  );
}

function errorExample(code: string, message: string): ErrorEnvelope {
  const details = code === "PRO_API_QUOTA_EXHAUSTED" && { details: { limit: LIMIT, remaining: 0 } };
  return { error: { code, message, ...details }, request_id: "req_51c0d2f7a8" };
}
