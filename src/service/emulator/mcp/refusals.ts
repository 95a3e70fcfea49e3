import {
  ProtocolErrorCode,
  specTypeSchemas,
  type JSONRPCRequest,
  type StandardSchemaV1Sync,
} from "#mcp-server";

/** Answers a message with an error of JSON-RPC. `id` is that of the message, if it has one. */
export function refuse(
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
export function refuseParams(request: JSONRPCRequest): Response | null {
  const checked = SCHEMAS.get(request.method)?.["~standard"].validate(request);
  if (checked?.issues === undefined) return null;
  // Only the beginning of each path, because the rest can have names that the caller chose.
  const wrong = new Set(
    checked.issues.map(({ path = [] }) => path.slice(0, 2).map(String).join(".")),
  );
  const message = `Missing or wrong: ${[...wrong].join(", ")}.`;
  return refuse(ProtocolErrorCode.InvalidParams, message, { status: 200, id: request.id });
}
