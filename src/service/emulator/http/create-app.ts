import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import { PAGE_HEADERS, pageFile } from "../../../page/parts/page-server.js";
import {
  API_PREFIX,
  OPERATIONS,
  type Operation,
  type OperationName,
} from "../../contract/operations.js";
import { freeLocaleSchema } from "../../contract/shared-schemas.js";
import { authenticate } from "../access/authorize.js";
import { CONTROL_PREFIX } from "../control/control-client.js";
import type { ControlGuard } from "../control/control-guard.js";
import { callControl, describeControl, type ControlTable } from "../control/control-operation.js";
import type { ReportEvent } from "../instance/events.js";
import { randomUuid, type RandomSource } from "../instance/random-source.js";
import { callMcp, MCP_PATH } from "../mcp/call-mcp.js";
import { parseInput } from "../operations/parse-input.js";
import { type OperationServices, runOperation } from "../operations/run-operation.js";
import { ServiceError } from "../operations/service-error.js";
import { errorAnswer, sendAnswer, type Answer } from "./answer.js";
import type { ChangeStream } from "./change-stream.js";
import { BODY_LIMIT_BYTES, jsonObject, readBody, queryOf, readQuery } from "./read-request.js";
import { createRouter } from "./router.js";

interface AppParts {
  services: OperationServices & { report: ReportEvent };
  control: ControlTable;
  controlGuard: ControlGuard;
  /** Guards the files of the dashboard, which hold no data. */
  pageGuard: ControlGuard;
  random: RandomSource;
  /** Served below `/_emulator/inbox/` to callers of the control API. */
  inboxPage?: RequestListener | undefined;
  /** Served at `/_emulator/changes` to callers of the control API. */
  changes: ChangeStream;
  /** The time for the header Date, by the emulator's clock. */
  now: () => number;
}

/** A listener for requests of `node:http`. */
export type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

interface Call {
  request: IncomingMessage;
  /** The decoded parameters of the path. */
  path: Record<string, string>;
  requestId: string;
}

type Respond = (call: Call) => Answer | Promise<Answer>;

/** What answers at each method and path. */
type Routes = Record<string, Respond>;

/**
 * Serves the REST API, the remote MCP and the control API. Every answer has a request id, even for
 * unknown paths.
 */
export function createApp(parts: AppParts): RequestListener {
  const { services, random, now, controlGuard, inboxPage, changes } = parts;
  const find = createRouter({
    "GET /": () => redirect(`${DASHBOARD_PATH.slice(1)}/`),
    ...serviceRoutes(parts),
    [`POST ${MCP_PATH}`]: ({ request, requestId }) => callMcp(request, requestId, services),
    "GET /openapi.json": openApi,
    ...controlRoutes(parts),
    ...dashboardRoutes(parts),
  } satisfies Routes);

  function respondTo(request: IncomingMessage, requestId: string): Answer | Promise<Answer> {
    const found = find(request);
    if (found === null) throw notFound();
    const { address, methods, route, path } = found;
    if (route !== undefined) return route({ request, path, requestId });
    // In the REST API this is 404, because the service's document has no 405. The MCP requires 405.
    const isControl = address.startsWith(CONTROL_PREFIX);
    if (!isControl && address !== MCP_PATH) throw notFound();
    if (isControl) controlGuard(request);
    throw new ServiceError("METHOD_NOT_ALLOWED", "This path does not support this method.", {
      headers: { Allow: methods.join(", ") },
    });
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = `req_${randomUuid(random)}`;
    let given: Answer;
    try {
      if (inboxPage !== undefined && INBOX_URL.test(request.url ?? "")) {
        controlGuard(request);
        return inboxPage(withoutPrefix(request), response);
      }
      if (request.method === "GET" && request.url === CHANGES_URL) {
        controlGuard(request);
        return changes.send(response);
      }
      given = await respondTo(request, requestId);
    } catch (error) {
      given = errorAnswer(error, requestId, services.report);
    }
    sendAnswer(response, given, { requestId, hasBody: request.method !== "HEAD", nowMs: now() });
  }
  // An error here, such as of a connection that has gone, must not end the process.
  return (request, response) => void answer(request, response).catch(() => response.destroy());
}

const CHANGES_URL = `${CONTROL_PREFIX}/changes`;
const INBOX_URL = new RegExp(`^${CONTROL_PREFIX}/inbox(?=[/?]|$)/?`);

/**
 * Takes the prefix from the address, as Express does for a mounted handler, which finds its own
 * address in `originalUrl`.
 */
function withoutPrefix(
  request: IncomingMessage & { originalUrl?: string | undefined },
): IncomingMessage {
  request.originalUrl = request.url;
  request.url = request.url?.replace(INBOX_URL, "/");
  return request;
}

const ok = (body: object): Answer => ({ status: 200, headers: {}, body });

function serviceRoutes({ services }: AppParts): Routes {
  const entries = (Object.keys(OPERATIONS) as OperationName[]).map((name) => {
    const { method, path } = OPERATIONS[name];
    const respond: Respond = (call) => callOperation(name, call, services);
    return [`${method} ${API_PREFIX}${path}`, respond];
  });
  return Object.fromEntries(entries) as Routes;
}

function controlRoutes({ control, controlGuard }: AppParts): Routes {
  const guarded =
    (respond: (call: Call) => object | Promise<object>): Respond =>
    async (call) => {
      controlGuard(call.request);
      return ok(await respond(call));
    };
  const entries = Object.values(control).map((operation) => [
    `${operation.method} ${CONTROL_PREFIX}${operation.path}`,
    guarded(({ request, path }) => callControl(operation, request, path)),
  ]);
  return {
    [`GET ${CONTROL_PREFIX}`]: guarded(() => describeControl(control)),
    ...(Object.fromEntries(entries) as Routes),
  };
}

const DASHBOARD_PATH = `${CONTROL_PREFIX}/ui`;

/**
 * The addresses are relative, so that the dashboard also works behind a proxy that strips a prefix.
 */
function dashboardRoutes({ pageGuard, inboxPage }: AppParts): Routes {
  const file: Respond = ({ request, path: { asset } }) => {
    pageGuard(request);
    const path = asset === undefined ? "" : `assets/${asset}`;
    const found = pageFile("dashboard", path, request.headers["accept-encoding"]);
    if (found === null) throw notFound();
    if (inboxPage === undefined || path !== "") return { status: 200, ...found };
    // The dashboard links to the page of an inbox that stands beside it.
    const html = found.body.toString().replace("<html ", "<html data-inbox ");
    return { status: 200, ...found, body: Buffer.from(html) };
  };
  return {
    [`GET ${DASHBOARD_PATH}`]({ request }) {
      pageGuard(request);
      return redirect("ui/");
    },
    [`GET ${DASHBOARD_PATH}/`]: file,
    [`GET ${DASHBOARD_PATH}/assets/{asset}`]: file,
  };
}

const redirect = (to: string): Answer => ({
  status: 302,
  headers: { ...PAGE_HEADERS, Location: to, "Content-Type": "text/plain; charset=utf-8" },
  body: Buffer.from(`${to}\n`),
});

const openApi: Respond = async () => {
  // Imported when it is needed, so that the emulator starts faster.
  const { openApiDocument } = await import("../../contract/openapi/openapi-document.js");
  return ok(openApiDocument());
};

const notFound = (): ServiceError =>
  new ServiceError(
    "RESOURCE_NOT_FOUND",
    "This path does not exist, or it does not support this method.",
  );

/** The query of operations with a body or without parameters: any query parameter is an error. */
const NO_QUERY = z.strictObject({});

/**
 * Answers a request of an operation. Checks the caller (401) before {@link runOperation} checks the
 * rest.
 */
async function callOperation(
  name: OperationName,
  { request, path, requestId }: Call,
  services: AppParts["services"],
): Promise<Answer> {
  const operation: Operation = OPERATIONS[name];
  const header = request.headersDistinct["authorization"] ?? [];
  const caller = operation.scope === null ? null : authenticate(header, services.access, operation);
  const read = async () => ({ ...(await readParameters(operation, request)), ...path });
  const outcome = await runOperation({ name, caller, read }, services);
  if ("body" in outcome)
    return { status: operation.response.status, headers: outcome.headers, body: outcome.body };
  const answer = errorAnswer(outcome.error, requestId, services.report);
  return { ...answer, headers: { ...answer.headers, ...outcome.headers } };
}

/** Reads the query or the body of an operation, with all defaults. @throws ServiceError 400 */
async function readParameters(
  { scope, body, query = NO_QUERY }: Operation,
  request: IncomingMessage,
): Promise<Record<string, unknown>> {
  const given = queryOf(request);
  // The document lists no parameter error for the public operation: a wrong locale counts as en,
  // other parameters are ignored.
  if (scope === null)
    return { locale: freeLocaleSchema.catch("en").parse(new URLSearchParams(given).get("locale")) };
  const parameters = parseInput(query, readQuery(given, query.shape), "INVALID_PARAMETERS");
  if (body === undefined) return parameters;
  const bytes = await readBody(request, BODY_LIMIT_BYTES);
  return parseInput(body, jsonObject(bytes, request), "INVALID_BODY");
}
