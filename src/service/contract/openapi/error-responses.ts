import type { ErrorEnvelope, ServiceErrorCode } from "../error-envelope.js";
import type { JsonObject } from "../json-schema.js";
import { LIMITS, rateLimitText } from "../limits.js";
import { componentRef } from "./component-schemas.js";

const LIMIT = LIMITS.developerCallsPerMonth;

function quotaHeader(description: string, schema: JsonObject, example: unknown): JsonObject {
  return {
    description: `${description} Only accounts with limited Developer Access get this header.`,
    schema,
    example,
  };
}

/** The headers that show the month's quota (service document, Errors), as components. */
export const QUOTA_HEADERS = {
  "X-Quota-Limit": quotaHeader(
    "The number of counted calls in a month.",
    { type: "integer" },
    LIMIT,
  ),
  "X-Quota-Remaining": quotaHeader(
    "The number of counted calls that are left in this month.",
    { type: "integer" },
    0,
  ),
  "X-Quota-Policy": quotaHeader(
    "`<limit>;month`.",
    { type: "string", pattern: String.raw`^\d+;month$` },
    `${LIMIT};month`,
  ),
  "X-Quota-Reset": quotaHeader(
    "The start of the next month.",
    { type: "string", format: "date-time" },
    "2026-04-01T00:00:00.000Z",
  ),
};

/** Refers to the quota headers, for a response. */
export const QUOTA_HEADER_REFS: JsonObject = Object.fromEntries(
  Object.keys(QUOTA_HEADERS).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
);

/** The component name and the description of the response of each error status. */
const RESPONSES: Readonly<Record<number, readonly [name: string, description: string]>> = {
  400: ["BadRequest", "A parameter or the body is invalid. Correct it before you retry."],
  401: ["Unauthorized", "The key is missing, invalid or revoked."],
  403: ["Forbidden", "The key's scopes or the account's access do not permit the operation."],
  404: ["NotFound", "The product or resource does not exist, or it belongs to another account."],
  409: ["Conflict", "The idempotency key was used for another request."],
  429: [
    "TooManyRequests",
    `More than ${rateLimitText()}, or the month's quota is used up. \`error.code\` names the reason.`,
  ],
  503: ["Unavailable", "The data or the feature is unavailable. Retry with backoff."],
};

/** Refers to the response of an error status. */
export function errorResponseRef(status: number): { $ref: string } {
  const response = RESPONSES[status];
  if (response === undefined)
    throw new TypeError(`The error status ${status} has no response in RESPONSES.`);
  return { $ref: `#/components/responses/${response[0]}` };
}

// The example of a 429. Other errors have no example, because the service's document names only
// this error code.
const QUOTA_ERROR: ErrorEnvelope = {
  error: {
    code: "PRO_API_QUOTA_EXHAUSTED" satisfies ServiceErrorCode,
    message: "The month's quota is used up.",
    details: { limit: LIMIT, remaining: 0 },
  },
  request_id: "req_51c0d2f7a8",
};

/** Describes the response of each error status as components. */
export function errorResponses(): JsonObject {
  return Object.fromEntries(
    Object.entries(RESPONSES).map(([status, [name, description]]) => {
      const isLimit = status === "429";
      const media = {
        schema: componentRef("ErrorEnvelope"),
        ...(isLimit && { example: QUOTA_ERROR }),
      };
      const content = { "application/json": media };
      return [name, { description, ...(isLimit && { headers: QUOTA_HEADER_REFS }), content }];
    }),
  );
}
