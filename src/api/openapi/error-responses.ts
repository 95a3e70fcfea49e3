import type { ErrorEnvelope, ServiceErrorCode } from "../error-envelope.js";
import { LIMITS, rateLimitText } from "../limits.js";
import { componentRef, type JsonObject } from "./component-schemas.js";

const LIMIT = LIMITS.developerCallsPerMonth;

/** The headers that show the month's quota (service document, Errors). */
const QUOTA_HEADERS = {
  "X-Quota-Limit": {
    description: "The number of counted calls in a month.",
    schema: { type: "integer" },
    example: LIMIT,
  },
  "X-Quota-Remaining": {
    description: "The number of counted calls that are left in this month.",
    schema: { type: "integer" },
    example: 0,
  },
  "X-Quota-Policy": {
    description: "`<limit>;month`.",
    schema: { type: "string", pattern: String.raw`^\d+;month$` },
    example: `${LIMIT};month`,
  },
  "X-Quota-Reset": {
    description: "The start of the next month.",
    schema: { type: "string", format: "date-time" },
    example: "2026-04-01T00:00:00.000Z",
  },
};

/** Describes the quota headers as components. */
export function quotaHeaders(): JsonObject {
  return Object.fromEntries(
    Object.entries(QUOTA_HEADERS).map(([name, { description, ...rest }]) => [
      name,
      { description: `${description} Only accounts with limited Developer Access get this header.`, ...rest },
    ]),
  );
}

/** Refers to the quota headers, for a response. */
export function quotaHeaderRefs(): JsonObject {
  return Object.fromEntries(Object.keys(QUOTA_HEADERS).map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

interface ErrorResponse {
  name: string;
  description: string;
  /** The codes that have an example. */
  codes: readonly ServiceErrorCode[];
}

/** The response of each error status. */
const RESPONSES: Readonly<Record<number, ErrorResponse>> = {
  400: {
    name: "BadRequest",
    description: "A parameter or the body is invalid. Correct it before you retry.",
    codes: ["INVALID_PARAMETERS"],
  },
  401: { name: "Unauthorized", description: "The key is missing, invalid or revoked.", codes: ["API_KEY_INVALID"] },
  403: {
    name: "Forbidden",
    description: "The key's scopes or the account's access do not permit the operation.",
    codes: ["SCOPE_INSUFFICIENT"],
  },
  404: {
    name: "NotFound",
    description: "The product or resource does not exist, or it belongs to another account.",
    codes: ["PRODUCT_NOT_FOUND"],
  },
  409: {
    name: "Conflict",
    description: "The idempotency key was used for another request.",
    codes: ["IDEMPOTENCY_KEY_CONFLICT"],
  },
  429: {
    name: "TooManyRequests",
    description: `More than ${rateLimitText()}, or the month's quota is used up. \`error.code\` names the reason.`,
    codes: ["RATE_LIMITED", "PRO_API_QUOTA_EXHAUSTED"],
  },
  503: {
    name: "Unavailable",
    description: "The data or the feature is unavailable. Retry with backoff.",
    codes: ["DATA_UNAVAILABLE"],
  },
};

/** Refers to the response of an error status. */
export function errorResponseRef(status: number): { $ref: string } {
  const response = RESPONSES[status];
  if (response === undefined) throw new TypeError(`The error status ${status} has no response in RESPONSES.`);
  return { $ref: `#/components/responses/${response.name}` };
}

/** Describes the response of each error status as components. */
export function errorResponses(): JsonObject {
  return Object.fromEntries(
    Object.entries(RESPONSES).map(([status, { name, description, codes }]) => {
      const examples = codes.map((code) => [code, { value: errorExample(code, description) }]);
      const content = {
        "application/json": { schema: componentRef("ErrorEnvelope"), examples: Object.fromEntries(examples) },
      };
      return [name, { description, ...(status === "429" && { headers: quotaHeaderRefs() }), content }];
    }),
  );
}

function errorExample(code: ServiceErrorCode, message: string): ErrorEnvelope {
  const details = code === "PRO_API_QUOTA_EXHAUSTED" && { details: { limit: LIMIT, remaining: 0 } };
  return { error: { code, message, ...details }, request_id: "req_51c0d2f7a8" };
}
