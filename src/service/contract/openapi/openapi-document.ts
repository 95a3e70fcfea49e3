import { SIGNATURE_HEADER } from "../../../kit/senders/signature/header.js";
import type { ErrorEnvelope, ServiceErrorCode } from "../error-envelope.js";
import { jsonSchemaOf, type JsonObject } from "../json-schema.js";
import { LIMITS, rateLimitText } from "../limits.js";
import { API_PREFIX, OPERATIONS, type Operation, type OperationName } from "../operations.js";
import {
  componentOf,
  componentSchemas,
  componentRef,
  type ComponentName,
} from "./component-schemas.js";

/** An OpenAPI 3.1 document: plain JSON. */
export interface OpenApiDocument {
  openapi: "3.1.1";
  info: JsonObject;
  servers: { url: string; description: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, JsonObject>;
  webhooks: Record<string, { post: JsonObject }>;
  components: Record<string, JsonObject>;
}

/**
 * Describes the service's REST operations and deliveries as an OpenAPI 3.1 document. It is made
 * from the schemas that the emulator and the client use. Requests with unknown fields are refused;
 * answers can have unknown fields.
 */
export function openApiDocument(): OpenApiDocument {
  return {
    openapi: "3.1.1",
    info: {
      title: "Product Intelligence Research and Signals API",
      version: "1",
      summary:
        "Market intelligence on AI products: investigations, rankings, search demand and signals.",
      description:
        `Each key can send ${rateLimitText()}, including free operations. Developer Access has ` +
        `${LIMITS.developerCallsPerMonth} counted calls in a UTC month, shared by all keys of the account. This document is ` +
        "not official: signalbox generated it from the service's document.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: API_PREFIX, description: "The REST API, version 1." }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: paths(),
    webhooks: webhookObjects(),
    components: {
      schemas: componentSchemas(),
      responses: errorResponses(),
      headers: QUOTA_HEADERS,
      parameters: { Signature: SIGNATURE_PARAMETER },
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

const TAGS: Record<Operation["tag"], string> = {
  Investigations: "Promotion investigations: start an investigation, then poll it.",
  Signals: "Signed notifications of newly published signals.",
  Catalog: "The public catalog of products.",
  Research: "Product rankings and search demand.",
};

const SECURITY_SCHEMES = {
  apiKey: {
    type: "http",
    scheme: "bearer",
    description:
      "A key from the dashboard, as `Authorization: Bearer <API_KEY>`. Its scopes: `research:execute` starts investigations, " +
      "`research:read` reads investigations, search demand and rankings, `webhooks:manage` registers webhooks, and `mcp:tools` " +
      "is for the tools of the remote MCP. Enable only the scopes that an integration needs.",
  },
  sessionToken: {
    type: "http",
    scheme: "bearer",
    description: "The signed session token of an account with Developer Access, Pro or Enterprise.",
  },
};

function paths(): Record<string, JsonObject> {
  const items: Record<string, JsonObject> = {};
  for (const [name, operation] of Object.entries(OPERATIONS)) {
    const { method, path } = operation;
    items[path] = {
      ...items[path],
      [method.toLowerCase()]: operationObject(name as OperationName, operation),
    };
  }
  return items;
}

function operationObject(name: OperationName, operation: Operation): JsonObject {
  const { tag, summary, description, scope, quotaUnits, body, response } = operation;
  const parameters = [...pathParameters(operation), ...queryParameters(operation)];
  const cost =
    scope === null ? "" : ` Scope \`${scope}\`. Uses ${quotaUnits} of the month's quota.`;
  return {
    operationId: name,
    tags: [tag],
    summary,
    description: `${description}${cost}`,
    security: securityOf(operation),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: {
        required: true,
        content: { "application/json": { schema: componentOf(body) } },
      },
    }),
    responses: {
      [response.status]: {
        description: response.description,
        ...(scope !== null && { headers: QUOTA_HEADER_REFS }),
        content: { "application/json": { schema: componentOf(response.schema) } },
      },
      ...Object.fromEntries(operation.errors.map((status) => [status, errorResponseRef(status)])),
    },
  };
}

// Lists the scope for the API key. OpenAPI 3.1 allows this for any scheme, not only OAuth (Security
// Requirement Object).
function securityOf({ scope, acceptsSession }: Operation): JsonObject[] {
  if (scope === null) return [];
  return [{ apiKey: [scope] }, ...(acceptsSession ? [{ sessionToken: [] }] : [])];
}

const PATH_PARAMETERS: Record<string, { description: string; example: string }> = {
  task_id: {
    description: "The id of the investigation task.",
    example: "task_3f0c2a6e-5b1d-4e8a-9c47-d2b6f1a0e935",
  },
  slug: { description: "The canonical slug of the product.", example: "aurora-notes" },
};

function pathParameters({ path }: Operation): JsonObject[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
    ...PATH_PARAMETERS[name],
  }));
}

function queryParameters({ query }: Operation): JsonObject[] {
  if (query === undefined) return [];
  return Object.entries(jsonSchemaOf(query)["properties"] as Record<string, JsonObject>).map(
    ([name, { description, ...schema }]) => ({
      name,
      in: "query",
      description,
      schema,
    }),
  );
}

const LIMIT = LIMITS.developerCallsPerMonth;

function quotaHeader(description: string, schema: JsonObject, example: unknown): JsonObject {
  return {
    description: `${description} Only accounts with limited Developer Access get this header.`,
    schema,
    example,
  };
}

/** The headers that show the month's quota (service document, Errors), as components. */
const QUOTA_HEADERS = {
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
const QUOTA_HEADER_REFS: JsonObject = Object.fromEntries(
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
function errorResponseRef(status: number): { $ref: string } {
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
function errorResponses(): JsonObject {
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

/**
 * Describes the deliveries of the service as OpenAPI path items by event type (service document,
 * Events).
 */
function webhookObjects(): Record<string, { post: JsonObject }> {
  const signal = {
    operationId: "signalPublished",
    summary: "A signal was published",
    description: `Store the event, process each event id once, queue the follow-up work, and answer. A signal is not sent after ${LIMITS.signalDelayHours} hours.`,
  };
  const verification = {
    operationId: "webhookVerification",
    summary: "An endpoint is verified",
    description: "Sent soon after the registration. Answer with the challenge.",
  };
  const test = {
    operationId: "webhookTest",
    summary: "An endpoint is tested",
    description: "Answer as for a signal.",
  };
  const accepted = { description: "Accepted." };
  const challenge = { "application/json": { schema: componentRef("ChallengeAnswer") } };
  return {
    "signal.published": delivery("SignalPublishedEvent", signal, accepted),
    "webhook.verification": delivery("WebhookVerificationEvent", verification, {
      description: "The challenge, unchanged.",
      content: challenge,
    }),
    "webhook.test": delivery("WebhookTestEvent", test, accepted),
  };
}

/** The signature header of each delivery, as a component. */
const SIGNATURE_PARAMETER = {
  name: SIGNATURE_HEADER,
  in: "header",
  required: true,
  description:
    "`t` is the time in unix seconds. `v1` is the HMAC-SHA256, in lower-case hex, of that time, a dot and the exact bytes " +
    "of the body, with the full signing secret as the key. Compare it in constant time, before you parse the body. Reject a " +
    `timestamp that differs from the current time by more than ${LIMITS.signatureAgeSeconds} seconds.`,
  schema: { type: "string", pattern: String.raw`^t=\d{1,12},v1=[0-9a-f]{64}$` },
  example: `t=1772442900,v1=${"5d".repeat(32)}`,
};

type DeliveryText = Record<"operationId" | "summary" | "description", string>;

function delivery(
  event: ComponentName,
  text: DeliveryText,
  answer: JsonObject,
): { post: JsonObject } {
  return {
    post: {
      ...text,
      tags: ["Signals"],
      security: [],
      parameters: [{ $ref: "#/components/parameters/Signature" }],
      requestBody: {
        required: true,
        content: { "application/json": { schema: componentRef(event) } },
      },
      responses: {
        "2XX": answer,
        "3XX": {
          description:
            "Not accepted, because redirects are not followed. The delivery can be retried, as for 5XX.",
        },
        "4XX": {
          description:
            "Not accepted, because the signature is wrong or too old. The delivery can be retried, as for 5XX.",
        },
        "5XX": {
          description:
            "Not accepted now, for example because the receiver cannot store the event. The delivery can be retried within " +
            `${LIMITS.signalDelayHours} hours, with the same bytes and a new signature. The service's document does not define ` +
            "when and how often.",
        },
      },
    },
  };
}
