import { jsonSchemaOf, type JsonObject } from "../json-schema.js";
import { LIMITS, rateLimitText } from "../limits.js";
import { API_PREFIX, OPERATIONS, type Operation, type OperationName } from "../operations.js";
import { componentOf, componentSchemas } from "./component-schemas.js";
import {
  errorResponseRef,
  errorResponses,
  QUOTA_HEADER_REFS,
  QUOTA_HEADERS,
} from "./error-responses.js";
import { SIGNATURE_PARAMETER, webhookObjects } from "./webhook-objects.js";

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
