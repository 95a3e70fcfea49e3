import { OPERATIONS, API_PREFIX, type OperationName } from "../operations.js";
import { componentSchemas, type JsonObject } from "./component-schemas.js";
import { errorResponses, quotaHeaders } from "./error-responses.js";
import { operationObject } from "./operation-object.js";
import { TAGS } from "./operation-texts.js";
import { SIGNATURE_PARAMETER, webhookObjects } from "./webhook-objects.js";

/** Options of {@link openApiDocument}. */
export interface OpenApiOptions {
  /**
   * The base address of the REST API with its prefix, such as `http://127.0.0.1:4310/v1`.
   *
   * @default "/v1", below the origin that the document is read from
   */
  serverUrl?: string;
}

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
 * The service's REST operations, and the deliveries it sends, as an OpenAPI 3.1 document: made anew by each call, from the
 * schemas that the emulator and the client work with. Requests are closed, answers open.
 *
 * @example
 * JSON.stringify(openApiDocument({ serverUrl: "http://127.0.0.1:4310/v1" }));
 */
export function openApiDocument({ serverUrl = API_PREFIX }: OpenApiOptions = {}): OpenApiDocument {
  const statuses = new Set(Object.values(OPERATIONS).flatMap(({ errors }) => [...errors]));
  return {
    openapi: "3.1.1",
    info: {
      title: "Product Intelligence Research and Signals API",
      version: "1",
      summary: "Market intelligence on AI products: investigations, rankings, search demand and signals.",
      description:
        "120 requests a minute for each key, free operations too. Developer Access has 50 counted calls in a UTC month, " +
        "shared by all keys of the account. Not official: signalbox wrote it from the service's document.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: serverUrl, description: "The REST API, version 1." }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: paths(),
    webhooks: webhookObjects(),
    components: {
      schemas: componentSchemas(),
      responses: errorResponses([...statuses].sort((a, b) => a - b)),
      headers: quotaHeaders(),
      parameters: { Signature: SIGNATURE_PARAMETER },
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

const SECURITY_SCHEMES = {
  apiKey: {
    type: "http",
    scheme: "bearer",
    description:
      "A key of the dashboard, as `Authorization: Bearer <API_KEY>`. Its scopes: `research:execute` starts investigations, " +
      "`research:read` reads investigations, search demand and rankings, `webhooks:manage` registers webhooks, `mcp:tools` " +
      "is for the tools of the remote MCP. Give a key only what it needs.",
  },
  sessionToken: {
    type: "http",
    scheme: "bearer",
    description: "The signed session token of an account with Developer Access, Pro or Enterprise.",
  },
};

function paths(): Record<string, JsonObject> {
  const items: Record<string, JsonObject> = {};
  for (const [name, { method, path }] of Object.entries(OPERATIONS)) {
    items[path] = { ...items[path], [method.toLowerCase()]: operationObject(name as OperationName) };
  }
  return items;
}
