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
import { authenticate, type Caller } from "../access/authorize.js";
import { CONTROL_PREFIX } from "../control/control-client.js";
import type { ControlGuard } from "../control/control-guard.js";
import {
  callControl,
  describeControl,
  type ControlOperation,
  type ControlTable,
} from "../control/control-operation.js";
import type { ReportEvent } from "../instance/events.js";
import { randomUuid, type RandomSource } from "../instance/random-source.js";
import { callMcp, MCP_PATH } from "../mcp/call-mcp.js";
import { parseInput } from "../operations/parse-input.js";
import { type OperationServices, runOperation } from "../operations/run-operation.js";
import { ServiceError } from "../operations/service-error.js";
import { errorAnswer, sendAnswer, type Answer } from "./answer.js";
import type { ChangeStream } from "./change-stream.js";
import { BODY_LIMIT_BYTES, jsonObject, readBody, queryOf, readQuery } from "./read-request.js";
import { createRouter, type Found } from "./router.js";

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

interface Route {
  method: ControlOperation["method"];
  path: string;
  respond: Respond;
}

/**
 * Serves the REST API, the remote MCP and the control API. Every answer has a request id, even for
 * unknown paths.
 */
export function createApp(parts: AppParts): RequestListener {
  const { services, random, now, controlGuard, inboxPage, changes } = parts;
  const find = createRouter([
    home,
    ...serviceRoutes(parts),
    mcp(parts),
    openApi,
    ...controlRoutes(parts),
    ...dashboardRoutes(parts),
  ]);

  function respondTo(request: IncomingMessage, requestId: string): Answer | Promise<Answer> {
    const found = find(request);
    if (found === null) throw notFound();
    const { route, path } = found;
    if (route === undefined) return refuseMethod(request, found, controlGuard);
    return route.respond({ request, path, requestId });
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

function serviceRoutes({ services }: AppParts): Route[] {
  return (Object.keys(OPERATIONS) as OperationName[]).map((name) => {
    const { method, path }: Operation = OPERATIONS[name];
    return {
      method,
      path: `${API_PREFIX}${path}`,
      respond: (call) => callOperation({ name, ...call }, services),
    };
  });
}

const mcp = ({ services }: AppParts): Route => ({
  method: "POST",
  path: MCP_PATH,
  respond: ({ request, requestId }) => callMcp(request, requestId, services),
});

const ok = (body: object): Answer => ({ status: 200, headers: {}, body });

function controlRoutes({ control, controlGuard }: AppParts): Route[] {
  const list: Route = {
    method: "GET",
    path: CONTROL_PREFIX,
    respond({ request }) {
      controlGuard(request);
      return ok(describeControl(control));
    },
  };
  const routes = Object.values(control).map((operation): Route => {
    const { method, path } = operation;
    return {
      method,
      path: `${CONTROL_PREFIX}${path}`,
      async respond({ request, path: parameters }) {
        controlGuard(request);
        return ok(await callControl(operation, request, parameters));
      },
    };
  });
  return [list, ...routes];
}

const DASHBOARD_PATH = `${CONTROL_PREFIX}/ui`;

/**
 * The addresses are relative, so that the dashboard also works behind a proxy that strips a prefix.
 */
function dashboardRoutes({ pageGuard, inboxPage }: AppParts): Route[] {
  const guarded = (path: string, respond: Respond): Route => ({
    method: "GET",
    path,
    respond(call) {
      pageGuard(call.request);
      return respond(call);
    },
  });
  const file = dashboardFile(inboxPage !== undefined);
  return [
    guarded(DASHBOARD_PATH, () => redirect("ui/")),
    guarded(`${DASHBOARD_PATH}/`, file),
    guarded(`${DASHBOARD_PATH}/assets/{asset}`, file),
  ];
}

/** @param hasInbox whether a page of an inbox stands beside it, to which it then links */
const dashboardFile =
  (hasInbox: boolean): Respond =>
  (call) => {
    const { asset } = call.path;
    const path = asset === undefined ? "" : `assets/${asset}`;
    const file = pageFile("dashboard", path, call.request.headers["accept-encoding"]);
    if (file === null) throw notFound();
    if (!hasInbox || path !== "") return { status: 200, ...file };
    return {
      status: 200,
      ...file,
      body: Buffer.from(file.body.toString().replace("<html ", "<html data-inbox ")),
    };
  };

const redirect = (to: string): Answer => ({
  status: 302,
  headers: { ...PAGE_HEADERS, Location: to, "Content-Type": "text/plain; charset=utf-8" },
  body: Buffer.from(`${to}\n`),
});

/** Tells what runs here. A browser gets the dashboard instead. */
const HOME_PAGE = {
  about: "The Product Intelligence service, emulated on this machine by signalbox.",
  parts: [
    {
      name: "REST API",
      path: API_PREFIX,
      about: "needs an API key; the emulator printed some when it started",
    },
    {
      name: "Remote MCP",
      path: MCP_PATH,
      about: "the same research as tools for models; needs an API key",
    },
    { name: "OpenAPI", path: "/openapi.json", about: "describes the REST API" },
    {
      name: "Control API",
      path: CONTROL_PREFIX,
      about: "makes keys, publishes signals and advances the clock",
    },
    { name: "Dashboard", path: `${DASHBOARD_PATH}/`, about: "does the same in a browser" },
  ],
  docs: "docs/emulator.md of the package's repository explains all of this",
} as const;

/** Sends a browser to the dashboard, and tells all other clients what runs here. */
const home: Route = {
  method: "GET",
  path: "/",
  respond({ request: { headers } }) {
    const { accept = "" } = headers;
    const isBrowser = accept.toLowerCase().includes("text/html");
    return isBrowser ? redirect(`${DASHBOARD_PATH.slice(1)}/`) : ok(HOME_PAGE);
  },
};

const openApi: Route = {
  method: "GET",
  path: "/openapi.json",
  async respond() {
    // Imported when it is needed, so that the emulator starts faster.
    const { openApiDocument } = await import("../../contract/openapi/openapi-document.js");
    return ok(openApiDocument());
  },
};

const notFound = (): ServiceError =>
  new ServiceError(
    "RESOURCE_NOT_FOUND",
    "This path does not exist, or it does not support this method.",
  );

/**
 * Refuses a method that an address does not support. In the REST API this is 404, because the
 * service's document has no 405. The MCP requires 405.
 */
function refuseMethod(
  request: IncomingMessage,
  { address, methods }: Found<Route>,
  controlGuard: ControlGuard,
): never {
  const isControl = address.startsWith(CONTROL_PREFIX);
  if (!isControl && address !== MCP_PATH) throw notFound();
  if (isControl) controlGuard(request);
  const headers = { Allow: methods.join(", ") };
  throw new ServiceError("METHOD_NOT_ALLOWED", "This path does not support this method.", {
    headers,
  });
}

/** The query of operations with a body or without parameters: any query parameter is an error. */
const NO_QUERY = z.strictObject({});

interface OperationRequest {
  name: OperationName;
  request: IncomingMessage;
  /** The decoded parameters of the path. */
  path: Record<string, string>;
  requestId: string;
}

/**
 * Answers a request of an operation. Checks the caller (401) before {@link runOperation} checks the
 * rest.
 */
async function callOperation(
  { name, request, path, requestId }: OperationRequest,
  services: OperationServices & { report: ReportEvent },
): Promise<Answer> {
  const operation: Operation = OPERATIONS[name];
  const caller = identify(operation, request, services);
  const read = async () => ({ ...(await readParameters(operation, request)), ...path });
  const outcome = await runOperation({ name, caller, read }, services);
  if ("body" in outcome)
    return { status: operation.response.status, headers: outcome.headers, body: outcome.body };
  const answer = errorAnswer(outcome.error, requestId, services.report);
  return { ...answer, headers: { ...answer.headers, ...outcome.headers } };
}

/** Returns the caller; null for a public operation. @throws ServiceError 401 */
function identify(
  { scope, acceptsSession }: Operation,
  request: IncomingMessage,
  { access }: OperationServices,
): Caller | null {
  if (scope === null) return null;
  return authenticate(request.headersDistinct["authorization"] ?? [], access, { acceptsSession });
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
  return parseInput(
    body,
    jsonObject(await readBody(request, BODY_LIMIT_BYTES), request),
    "INVALID_BODY",
  );
}
