import type { IncomingMessage, ServerResponse } from "node:http";
import express from "express";
import { API_PREFIX, OPERATIONS, type Operation, type OperationName } from "../../api/operations.js";
import { PAGE_HEADERS, pageFile } from "../../browser-parts/page-files.js";
import type { ControlGuard } from "../control/control-guard.js";
import { callControl } from "../control/call-control.js";
import {
  CONTROL_PREFIX,
  describeControl,
  type ControlOperation,
  type ControlTable,
} from "../control/control-operation.js";
import { randomUuid, type RandomSource } from "../instance/random-source.js";
import type { ReportEvent } from "../instance/events.js";
import type { OperationServices } from "../operations/run-operation.js";
import { ServiceError } from "../operations/service-error.js";
import { callMcp, MCP_PATH } from "../mcp/call-mcp.js";
import { errorAnswer, sendAnswer, type Answer } from "./answer.js";
import { callOperation } from "./call-operation.js";
import { HOME_PAGE } from "./home-page.js";

export interface AppParts {
  services: OperationServices & { report: ReportEvent };
  control: ControlTable;
  controlGuard: ControlGuard;
  /** Guards the files of the dashboard, which hold no data. */
  pageGuard: ControlGuard;
  random: RandomSource;
  /** Served below `/_emulator/inbox/` to callers of the control API. */
  inboxPage?: RequestListener | undefined;
  /** The time for the header Date, by the emulator's clock. */
  now: () => number;
}

/** A listener for requests of `node:http`. */
export type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

type Respond = (request: express.Request, requestId: string) => Answer | Promise<Answer>;

interface Route {
  method: ControlOperation["method"];
  path: string;
  respond: Respond;
}

/** Serves the REST API, the remote MCP and the control API. Every answer has a request id, even for unknown paths. */
export function createApp(parts: AppParts): RequestListener {
  const { services, random, now } = parts;
  const app = express();
  app.disable("x-powered-by").disable("etag").disable("query parser");
  app.enable("case sensitive routing").enable("strict routing");

  const answer =
    (respond: Respond): express.RequestHandler =>
    async (request, response) => {
      const requestId = `req_${randomUuid(random)}`;
      let given: Answer;
      try {
        given = await respond(request, requestId);
      } catch (error) {
        given = errorAnswer(error, requestId, services.report);
      }
      sendAnswer(response, given, { requestId, hasBody: request.method !== "HEAD", nowMs: now() });
    };

  const routes = [
    home,
    ...serviceRoutes(parts),
    mcp(parts),
    openApi,
    ...controlRoutes(parts),
    ...dashboardRoutes(parts),
  ];
  for (const path of new Set(routes.map((route) => route.path))) {
    const routesOfPath = routes.filter((route) => route.path === path);
    const refuse = answer(wrongMethod(path, routesOfPath, parts));
    // HEAD is refused first. Otherwise Express would answer it with the handler of GET, which uses a unit of the quota.
    app.head(expressPath(path), refuse);
    for (const { method, respond } of routesOfPath) app[VERBS[method]](expressPath(path), answer(respond));
    app.all(expressPath(path), refuse);
  }
  const { controlGuard, inboxPage } = parts;
  if (inboxPage !== undefined) {
    app.use(`${CONTROL_PREFIX}/inbox`, (request, response, next) => {
      try {
        controlGuard(request);
        inboxPage(request, response);
      } catch (error) {
        const refuse = answer(() => {
          throw error;
        });
        void refuse(request, response, next);
      }
    });
  }
  app.use(answer(notFound));
  // Express calls a function with four parameters for errors. The only error here is a path that Express cannot decode.
  const onError: express.ErrorRequestHandler = (_error, request, response, next) =>
    void answer(notFound)(request, response, next);
  app.use(onError);
  return app;
}

const VERBS = { GET: "get", POST: "post", PATCH: "patch", DELETE: "delete" } as const;

function serviceRoutes({ services }: AppParts): Route[] {
  return (Object.keys(OPERATIONS) as OperationName[]).map((name) => {
    const { method, path }: Operation = OPERATIONS[name];
    return {
      method,
      path: `${API_PREFIX}${path}`,
      respond(request, requestId) {
        const values = request.params as Record<string, string>;
        return callOperation({ name, request, path: values, requestId }, services);
      },
    };
  });
}

const mcp = ({ services }: AppParts): Route => ({
  method: "POST",
  path: MCP_PATH,
  respond: (request, requestId) => callMcp(request, requestId, services),
});

const ok = (body: object): Answer => ({ status: 200, headers: {}, body });

function controlRoutes({ control, controlGuard }: AppParts): Route[] {
  const list: Route = {
    method: "GET",
    path: CONTROL_PREFIX,
    respond(request) {
      controlGuard(request);
      return ok(describeControl(control));
    },
  };
  const routes = Object.values(control).map((operation): Route => {
    const { method, path } = operation;
    return {
      method,
      path: `${CONTROL_PREFIX}${path}`,
      async respond(request) {
        controlGuard(request);
        return ok(await callControl(operation, request, request.params as Record<string, string>));
      },
    };
  });
  return [list, ...routes];
}

const DASHBOARD_PATH = `${CONTROL_PREFIX}/ui`;

/** The addresses are relative, so that the dashboard also works behind a proxy that strips a prefix. */
function dashboardRoutes({ pageGuard }: AppParts): Route[] {
  const guarded = (path: string, respond: Respond): Route => ({
    method: "GET",
    path,
    respond(request, requestId) {
      pageGuard(request);
      return respond(request, requestId);
    },
  });
  return [
    guarded(DASHBOARD_PATH, () => redirect("ui/")),
    guarded(`${DASHBOARD_PATH}/`, dashboardFile),
    guarded(`${DASHBOARD_PATH}/assets/{asset}`, dashboardFile),
  ];
}

const dashboardFile: Respond = (request, requestId) => {
  const { asset } = request.params;
  const path = asset === undefined ? "" : `assets/${String(asset)}`;
  const file = pageFile("dashboard", path, request.headers["accept-encoding"]);
  return file === null ? notFound(request, requestId) : { status: 200, ...file };
};

const redirect = (to: string): Answer => ({
  status: 302,
  headers: { ...PAGE_HEADERS, Location: to, "Content-Type": "text/plain; charset=utf-8" },
  body: Buffer.from(`${to}\n`),
});

/** Sends a browser to the dashboard, and tells all other clients what runs here. */
const home: Route = {
  method: "GET",
  path: "/",
  respond({ headers: { accept = "" } }) {
    const isBrowser = accept.toLowerCase().includes("text/html");
    return isBrowser ? redirect(`${DASHBOARD_PATH.slice(1)}/`) : ok(HOME_PAGE);
  },
};

const openApi: Route = {
  method: "GET",
  path: "/openapi.json",
  async respond() {
    // Imported when it is needed, so that the emulator starts faster.
    const { openApiDocument } = await import("../../api/openapi/openapi-document.js");
    return ok(openApiDocument());
  },
};

/** Converts `/tools/{slug}` to the syntax of Express. */
const expressPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ":$1");

const notFound: Respond = () => {
  throw new ServiceError("RESOURCE_NOT_FOUND", "This path does not exist, or it does not support this method.");
};

/** Answers 404 in the REST API, because the service's document has no 405. The MCP requires 405. */
function wrongMethod(path: string, routes: readonly Route[], { controlGuard }: AppParts): Respond {
  const isControl = path.startsWith(CONTROL_PREFIX);
  if (!isControl && path !== MCP_PATH) return notFound;
  const headers = { Allow: routes.map(({ method }) => method).join(", ") };
  return (request) => {
    if (isControl) controlGuard(request);
    throw new ServiceError("METHOD_NOT_ALLOWED", "This path does not support this method.", { headers });
  };
}
