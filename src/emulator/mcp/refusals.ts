import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  ProtocolErrorCode,
  specTypeSchemas,
  SUPPORTED_PROTOCOL_VERSIONS,
  type JSONRPCErrorResponse,
  type JSONRPCRequest,
  type StandardSchemaV1Sync,
} from "#mcp-server";

/** Answers a message with an error of JSON-RPC. `id` is that of the message, if it has one. */
export function refuse(
  code: number,
  message: string,
  { status = 400, id = null, data }: { status?: number; id?: string | number | null; data?: unknown } = {},
): Response {
  return Response.json({ jsonrpc: "2.0", id, error: { code, message, data } }, { status });
}

const SCHEMAS = new Map<string, StandardSchemaV1Sync>([
  ["initialize", specTypeSchemas.InitializeRequest],
  ["tools/list", specTypeSchemas.ListToolsRequest],
  ["tools/call", specTypeSchemas.CallToolRequest],
]);

/**
 * Refuses wrong params of a request. The SDK would print its schema, for most methods as an internal error.
 *
 * @returns null when the params are right, or the method is not one of these
 */
export function refuseParams(request: JSONRPCRequest): Response | null {
  const checked = SCHEMAS.get(request.method)?.["~standard"].validate(request);
  if (checked?.issues === undefined) return null;
  // Only the beginning of each path, because the rest can have names that the caller chose.
  const wrong = new Set(checked.issues.map(({ path = [] }) => path.slice(0, 2).map(String).join(".")));
  const message = `Missing or wrong: ${[...wrong].join(", ")}.`;
  return refuse(ProtocolErrorCode.InvalidParams, message, { status: 200, id: request.id });
}

const UNSUPPORTED_VERSION: number = ProtocolErrorCode.UnsupportedProtocolVersion;
/** The specification's name is HeaderMismatch. The SDK does not export it. */
const HEADER_MISMATCH = -32_020;

/** Texts for the errors that the SDK describes with values of the request. */
const TEXTS: ReadonlyMap<number, string> = new Map([
  [
    -32_000,
    `Unsupported protocol version in the header MCP-Protocol-Version (supported: ${SUPPORTED_PROTOCOL_VERSIONS.join(", ")}).`,
  ],
  [
    HEADER_MISMATCH,
    "Send the headers MCP-Protocol-Version, Mcp-Method and, to call a tool, Mcp-Name, each with the value that the body has.",
  ],
  [UNSUPPORTED_VERSION, "Unsupported protocol version."],
  [
    ProtocolErrorCode.InvalidParams,
    `With this header MCP-Protocol-Version, params._meta must have ${PROTOCOL_VERSION_META_KEY} and ${CLIENT_CAPABILITIES_META_KEY}, and can have ${CLIENT_INFO_META_KEY}.`,
  ],
]);

/** Takes values of the request out of a refusal by the SDK, except those that the specification requires. */
export async function withoutValues(refusal: Response): Promise<Response> {
  const { id = null, error } = (await refusal.json()) as JSONRPCErrorResponse;
  const { code, message, data } = error;
  const kept = code === UNSUPPORTED_VERSION ? { data } : {};
  return refuse(code, TEXTS.get(code) ?? message, { status: refusal.status, id, ...kept });
}
