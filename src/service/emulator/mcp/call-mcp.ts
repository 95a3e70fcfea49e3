import type { IncomingMessage } from "node:http";
import { addressKind, isLoopbackHost } from "../../../base/addresses/address-kind.js";
import { isLoopbackRequest } from "../../../base/addresses/loopback-request.js";
import { MCP_SCOPE } from "../../contract/mcp-tools.js";
import { OPERATIONS, type Operation } from "../../contract/operations.js";
import { authenticate, type Caller } from "../access/authorize.js";
import { errorAnswer, type Answer } from "../http/answer.js";
import { BODY_LIMIT_BYTES, readBody } from "../http/read-request.js";
import type { ReportEvent } from "../instance/events.js";
import { parseInput } from "../operations/parse-input.js";
import { quotaHeaders, runOperation, type OperationServices } from "../operations/run-operation.js";
import { ServiceError } from "../operations/service-error.js";
import type { CallTool } from "./serve-message.js";

/** The path of the remote MCP. It is not below the prefix of the REST API. */
export const MCP_PATH = "/mcp";

type McpServices = OperationServices & { report: ReportEvent };

/**
 * Answers a request to the remote MCP (service document, Remote MCP). A refusal of the HTTP request
 * or the key is an error envelope, as in the REST API. A refusal of the message is a JSON-RPC
 * error. A refusal of a tool's call is a tool error.
 *
 * @throws ServiceError 401, 403
 */
export async function callMcp(
  request: IncomingMessage,
  requestId: string,
  services: McpServices,
): Promise<Answer> {
  assertNotRebound(request);
  const { access, report } = services;
  const caller = authenticate(request.headersDistinct["authorization"] ?? [], access, {
    acceptsSession: false,
  });
  const answer = await answerMessage(request, requestId, caller, services).catch((error: unknown) =>
    errorAnswer(error, requestId, report),
  );
  return { ...answer, headers: { ...quotaHeaders(caller.account, services), ...answer.headers } };
}

async function answerMessage(
  request: IncomingMessage,
  requestId: string,
  caller: Caller,
  services: McpServices,
): Promise<Answer> {
  const { access, report } = services;
  // The operation of a tool counts its call for the request rate. All other requests are counted at
  // the end.
  let isCounted = false;
  let headers: Record<string, string> = {};

  const callTool: CallTool = async ({ operation: name, input }, given) => {
    isCounted = true;
    const { body: takesBody }: Operation = OPERATIONS[name];
    const read = () =>
      parseInput(input, given, takesBody === undefined ? "INVALID_PARAMETERS" : "INVALID_BODY");
    const outcome = await runOperation({ name, caller, extraScope: MCP_SCOPE, read }, services);
    if ("body" in outcome) return { isError: false, payload: outcome.body };
    const answer = errorAnswer(outcome.error, requestId, report);
    headers = { ...answer.headers, ...outcome.headers };
    return { isError: true, payload: answer.body };
  };

  try {
    const body = await readBody(request, BODY_LIMIT_BYTES);
    // Imported when it is needed, so that the emulator starts faster.
    const { serveMessage } = await import("./serve-message.js");
    const response = await serveMessage(body, protocolHeaders(request), callTool);
    return {
      status: response.status,
      headers: { ...headers, "Content-Type": "application/json" },
      body: Buffer.from(await response.arrayBuffer()),
    };
  } finally {
    if (!isCounted) access.rateLimiter.admit(caller.rateHolder, caller.account.tier);
  }
}

/**
 * Returns the headers that the protocol defines. `Accept` is not one of them: every answer is JSON.
 */
function protocolHeaders({ headers }: IncomingMessage): Record<string, string> {
  const ofProtocol = Object.entries(headers).filter(([name]) =>
    /^(content-type|mcp-.*)$/.test(name),
  );
  return Object.fromEntries(ofProtocol) as Record<string, string>;
}

/**
 * Refuses pages of other sites in a browser. A request that arrives at a loopback address must also
 * come from this machine, not through a proxy, and not under a name of another site that resolves
 * to this machine (DNS rebinding).
 *
 * @throws ServiceError 403
 */
function assertNotRebound(request: IncomingMessage): void {
  const { host = "", origin } = request.headers;
  const isAtLoopback = addressKind(request.socket.localAddress ?? "") === "loopback";
  const isOwnPage =
    origin === undefined || origin === `http://${host}` || isLoopbackHost(hostnameOf(origin));
  if ((!isAtLoopback || isLoopbackRequest(request)) && isOwnPage) return;
  throw new ServiceError(
    "ACCESS_INSUFFICIENT",
    "Call the remote MCP at localhost or a loopback address, not at another name of this machine, not through a proxy, and not from a page of another site.",
  );
}

const hostnameOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : "");
