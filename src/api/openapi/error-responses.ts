import { ERROR_STATUS, type ErrorEnvelope, type ServiceErrorCode } from "../error-envelope.js";
import { LIMITS } from "../limits.js";
import { componentRef, type JsonObject } from "./component-schemas.js";
import { STATUS_TEXTS } from "./operation-texts.js";

/** The headers that tell the month's quota (service document, Errors). */
const QUOTA_HEADERS = {
  "X-Quota-Limit": { description: "Counted calls in a month.", schema: { type: "integer" }, example: 50 },
  "X-Quota-Remaining": { description: "What is left of them.", schema: { type: "integer" }, example: 0 },
  "X-Quota-Policy": {
    description: "`<limit>;month`",
    schema: { type: "string", pattern: String.raw`^\d+;month$` },
    example: `${LIMITS.developerCallsPerMonth};month`,
  },
  "X-Quota-Reset": {
    description: "When the next month begins.",
    schema: { type: "string", format: "date-time" },
    example: "2026-04-01T00:00:00.000Z",
  },
};

/** The quota headers as components; sent to limited Developer Access alone. */
export function quotaHeaders(): JsonObject {
  return Object.fromEntries(
    Object.entries(QUOTA_HEADERS).map(([name, { description, ...rest }]) => [
      name,
      { description: `${description} Sent to limited Developer Access alone.`, ...rest },
    ]),
  );
}

/** References to them, for a response. */
export function quotaHeaderRefs(): JsonObject {
  return Object.fromEntries(Object.keys(QUOTA_HEADERS).map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

const MESSAGES: Partial<Record<ServiceErrorCode, string>> = {
  INVALID_PARAMETERS: "limit: at most 50",
  API_KEY_INVALID: "The API key is not valid.",
  SCOPE_INSUFFICIENT: "The key needs the scope research:read.",
  PRODUCT_NOT_FOUND: "There is no such product.",
  IDEMPOTENCY_KEY_CONFLICT: "The key was used for another product or language.",
  RATE_LIMITED: "More than 120 requests in 60 seconds.",
  PRO_API_QUOTA_EXHAUSTED: "The counted calls of this month are used up.",
  DATA_UNAVAILABLE: "The data is not available now.",
};

/** Where the response of an error status stands in the document. */
export function errorResponseRef(status: number): { $ref: string } {
  return { $ref: `#/components/responses/${textOf(status).name}` };
}

/** The response of each of these error statuses, by name. */
export function errorResponses(statuses: readonly number[]): JsonObject {
  return Object.fromEntries(
    statuses.map((status) => {
      const { name, description } = textOf(status);
      const codes = Object.entries(MESSAGES).filter(([code]) => ERROR_STATUS[code as ServiceErrorCode] === status);
      const examples = codes.map(([code, message]) => [
        code,
        { value: errorExample(code, message, code === "PRO_API_QUOTA_EXHAUSTED" ? EXHAUSTED : undefined) },
      ]);
      const content = {
        "application/json": { schema: componentRef("ErrorEnvelope"), examples: Object.fromEntries(examples) },
      };
      return [name, { description, ...(status === 429 && { headers: quotaHeaderRefs() }), content }];
    }),
  );
}

const EXHAUSTED = { limit: LIMITS.developerCallsPerMonth, remaining: 0 };

function textOf(status: number): { name: string; description: string } {
  const text = STATUS_TEXTS[status];
  if (text === undefined) throw new TypeError(`The error status ${status} has no text in the OpenAPI document.`);
  return text;
}

function errorExample(code: string, message: string, details?: object): ErrorEnvelope {
  return { error: { code, message, ...(details && { details }) }, request_id: "req_51c0d2f7a8" };
}
