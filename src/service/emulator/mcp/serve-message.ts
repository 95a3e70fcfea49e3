import {
  createMcpHandler,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type Tool,
  specTypeSchemas,
  type StandardSchemaV1Sync,
} from "#mcp-server";
import { errorEnvelopeSchema } from "../../contract/error-envelope.js";
import { jsonSchemaOf } from "../../contract/json-schema.js";
import { MCP_INSTRUCTIONS, MCP_TOOLS, type McpTool } from "../../contract/mcp-tools.js";
import { OPERATIONS } from "../../contract/operations.js";
import { utf8 } from "../http/read-request.js";

/**
 * Calls a tool with the arguments that the caller gave. The payload of an error is the error
 * envelope.
 */
export type CallTool = (
  tool: McpTool,
  given: object,
) => Promise<{ isError: boolean; payload: object }>;

/** A message with more levels is refused, because the SDK reads some values recursively. */
const MOST_LEVELS = 64;

/**
 * Answers one JSON-RPC message in the version of the protocol in which it was sent: 2024-11-05 to
 * 2025-11-25, or 2026-07-28. The answer is always JSON. Nothing is kept for a later message.
 */
export async function serveMessage(
  body: Uint8Array,
  headers: Readonly<Record<string, string>>,
  callTool: CallTool,
): Promise<Response> {
  let message: unknown;
  try {
    message = JSON.parse(utf8.decode(body));
  } catch {
    return refuse(ProtocolErrorCode.ParseError, "The body is not JSON in UTF-8.");
  }
  if (isDeeper(message, MOST_LEVELS)) {
    return refuse(
      ProtocolErrorCode.InvalidRequest,
      `The body is nested deeper than ${MOST_LEVELS} levels.`,
    );
  }
  if (
    !isJSONRPCRequest(message) &&
    !isJSONRPCNotification(message) &&
    !isJSONRPCResponse(message)
  ) {
    const example = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
    return refuse(
      ProtocolErrorCode.InvalidRequest,
      `The body is not one JSON-RPC message, such as ${example}.`,
    );
  }
  const request = new Request("http://localhost", {
    method: "POST",
    // The earlier versions refuse a request that does not also accept a stream.
    headers: { ...headers, accept: "application/json, text/event-stream" },
  });
  const serve = (await isLegacyRequest(request, message)) ? serveLegacy : serveModern;
  return serve(request, message, callTool);
}

/** Serves the versions 2024-11-05 to 2025-11-25. */
async function serveLegacy(
  request: Request,
  message: JSONRPCMessage,
  callTool: CallTool,
): Promise<Response> {
  const refusal = isJSONRPCRequest(message) ? refuseParams(message) : null;
  if (refusal !== null) return refusal;
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  const server = createServer(message, callTool);
  await server.connect(transport);
  const response = await transport.handleRequest(request, { parsedBody: message });
  await server.close();
  return response;
}

/** Serves the version 2026-07-28. */
async function serveModern(
  request: Request,
  message: JSONRPCMessage,
  callTool: CallTool,
): Promise<Response> {
  if (isJSONRPCRequest(message)) {
    const { method, id } = message;
    // The SDK would open a stream for notifications. This server sends none.
    if (method === "subscriptions/listen") {
      return refuse(ProtocolErrorCode.MethodNotFound, "The server sends no notifications.", {
        status: 404,
        id,
      });
    }
    // This version has no initialize, so the SDK answers it as an unknown method.
    const refusal = method === "initialize" ? null : refuseParams(message);
    if (refusal !== null) return refusal;
  }
  const handler = createMcpHandler(() => createServer(message, callTool), { legacy: "reject" });
  return handler.fetch(request, { parsedBody: message });
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeper(item, levels - 1));
}

function createServer(message: JSONRPCMessage, callTool: CallTool): Server {
  const server = new Server(
    {
      name: "product-intelligence",
      title: "Product Intelligence (emulated by signalbox)",
      version: "1",
    },
    { capabilities: { tools: {} }, instructions: MCP_INSTRUCTIONS },
  );
  server.setRequestHandler("tools/list", () => ({ tools: (tools ??= describeTools()) }));
  server.setRequestHandler("tools/call", async ({ params: { name } }) => {
    const tool = new Map<string, McpTool>(Object.entries(MCP_TOOLS)).get(name);
    if (tool === undefined) {
      const names = Object.keys(MCP_TOOLS).join(", ");
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `This tool does not exist. The tools are ${names}.`,
      );
    }
    // The arguments are read from the message, because the SDK's copy has no argument __proto__,
    // which must be refused.
    const given = (message as JSONRPCRequest).params?.["arguments"] ?? {};
    const { isError, payload } = await callTool(tool, given);
    return {
      content: [{ type: "text" as const, text: JSON.stringify(payload) }],
      structuredContent: payload,
      ...(isError && { isError }),
    };
  });
  return server;
}

let tools: Tool[] | undefined;

function describeTools(): Tool[] {
  return Object.entries<McpTool>(MCP_TOOLS).map(
    ([name, { title, description, operation, input, hints }]) => ({
      name,
      title,
      description,
      inputSchema: jsonSchemaOf(input) as Tool["inputSchema"],
      // With the error envelope, because clients of the SDK's version 1 check the payload of an
      // error too, and would report a mismatch in place of the error.
      outputSchema: {
        type: "object" as const,
        anyOf: [
          jsonSchemaOf(OPERATIONS[operation].response.schema),
          jsonSchemaOf(errorEnvelopeSchema),
        ],
      },
      annotations: hints,
    }),
  );
}

/** Answers a message with an error of JSON-RPC. `id` is that of the message, if it has one. */
function refuse(
  code: number,
  message: string,
  { status = 400, id = null }: { status?: number; id?: string | number | null } = {},
): Response {
  return Response.json({ jsonrpc: "2.0", id, error: { code, message } }, { status });
}

const SCHEMAS = new Map<string, StandardSchemaV1Sync>([
  ["initialize", specTypeSchemas.InitializeRequest],
  ["tools/list", specTypeSchemas.ListToolsRequest],
  ["tools/call", specTypeSchemas.CallToolRequest],
]);

/**
 * Refuses wrong params of a request. The SDK would print its schema, for most methods as an
 * internal error.
 *
 * @returns null when the params are right, or the method is not one of these
 */
function refuseParams(request: JSONRPCRequest): Response | null {
  const checked = SCHEMAS.get(request.method)?.["~standard"].validate(request);
  if (checked?.issues === undefined) return null;
  // Only the beginning of each path, because the rest can have names that the caller chose.
  const wrong = new Set(
    checked.issues.map(({ path = [] }) => path.slice(0, 2).map(String).join(".")),
  );
  const message = `Missing or wrong: ${[...wrong].join(", ")}.`;
  return refuse(ProtocolErrorCode.InvalidParams, message, { status: 200, id: request.id });
}
