import type { ErrorRequestHandler, Express, Request, RequestHandler } from "express";
import type express from "express";
import { expect, test } from "vitest";
import { captureRawBody, type Receiver } from "../../../src/kit/index.js";
import { expressHandler } from "../../../src/kit/receiver/adapters/express-handler.js";
import { expectAcknowledged, expectRefused, RECEIVED } from "../expect-answer.js";
import { delivery, EXPRESSES, listen, startReceiver } from "../serve.js";
import { exchange, MOUNT, type RawRequest } from "../wire.js";

type Framework = typeof express;

/**
 * Where the receiver stands to the host's own `express.json()`; `null`: an app without a receiver.
 */
type Place = "before json" | "after json" | null;

interface HostApp {
  app: Express;
  /** What the host's own handlers saw. */
  seen: string[];
}

/** An app as people have one: a log of requests, JSON, a few routes, an error handler. */
function hostApp(framework: Framework, receiver: Receiver, place: Place): HostApp {
  const seen: string[] = [];
  const app = framework();
  const note =
    (what: string): RequestHandler =>
    (request, _response, next) => {
      seen.push(`${what} ${request.method} ${request.originalUrl}`);
      next();
    };
  app.use(note("first"));
  if (place === "before json") app.use(MOUNT, expressHandler(receiver));
  app.use(framework.json(place === "after json" ? { verify: captureRawBody } : {}));
  if (place === "after json") app.use(MOUNT, expressHandler(receiver));
  app.use(note("after"));
  const echo = (request: Request) => ({
    body: request.body as unknown,
    keys: Object.keys(request.headers).sort(),
  });
  app.post("/orders", (request, response) => void response.status(201).json(echo(request)));
  app.post("/webhooks", (request, response) => void response.json(echo(request)));
  app.post(
    "/webhooks/other",
    framework.text({ type: "*/*" }),
    (request, response) => void response.json(echo(request)),
  );
  app.get("/boom", () => {
    throw new Error("boom");
  });
  app.get("/later", (_request, _response, next) => next(new Error("later")));
  const onError: ErrorRequestHandler = (
    error: Error & { status?: number },
    _request,
    response,
    _next,
  ) => {
    seen.push(`error ${error.message}`);
    response.status(error.status ?? 500).json({ failed: error.message });
  };
  app.use(onError);
  return { app, seen };
}

const json = { "Content-Type": "application/json" };
const ELSEWHERE: readonly RawRequest[] = [
  { path: "/orders", headers: json, body: '{"n":1,"text":"Zürich 🚉"}' },
  { path: "/orders", headers: json, body: "[]" },
  { path: "/orders", headers: json, body: "{broken" },
  { path: "/orders", headers: json },
  { path: "/orders", headers: { ...json, "Content-Encoding": "gzip" }, body: "no gzip" },
  { path: "/orders", headers: json, body: JSON.stringify("x".repeat(300_000)) },
  { path: "/orders", headers: { "Content-Type": "text/plain" }, body: "text" },
  { path: "/orders", headers: { ...json, "X-Service-Signature": "t=1,v1=2" }, body: "{}" },
  { path: "/webhooks", headers: json, body: '{"a":1}' },
  { path: "/webhooks/other", headers: { "Content-Type": "text/plain" }, body: "text" },
  { path: `${MOUNT}x`, headers: json, body: "{}" },
  { path: "/orders", method: "OPTIONS" },
  { path: "/orders", method: "HEAD" },
  { path: "/boom", method: "GET" },
  { path: "/later", method: "GET" },
  { path: "/nowhere", method: "GET" },
  { path: "/nowhere", headers: json, body: '{"a":1}' },
];

test.for(EXPRESSES)(
  "the host's own routes never notice a receiver beside them, over $name",
  async ({ express }) => {
    const receiver = await startReceiver();
    const observe = async (place: Place) => {
      const { app, seen } = hostApp(express, receiver, place);
      const port = await listen(app);
      const answers = [];
      for (const request of ELSEWHERE) {
        const { headers, ...answer } = await exchange(port, request);
        const { date: _date, ...stable } = headers;
        answers.push({ ...answer, headers: stable });
      }
      return { answers, seen };
    };
    const without = await observe(null);
    expect(without.answers[0]).toMatchObject({
      status: 201,
      body: expect.stringContaining("Zürich 🚉") as string,
    });
    expect(without.answers.map(({ status }) => status)).toContain(404);
    expect(without.seen).toContain("error boom");
    expect(await observe("before json")).toEqual(without);
    expect(await observe("after json")).toEqual(without);
  },
);

test.for(EXPRESSES)(
  "no request on the mount goes past the receiver, over $name",
  async ({ express }) => {
    const receiver = await startReceiver({ bodyLimitBytes: 10_000 });
    for (const place of ["before json", "after json"] as const) {
      const { app, seen } = hostApp(express, receiver, place);
      const port = await listen(app);
      const gzip = {
        ...delivery().headers,
        "Content-Encoding": "gzip",
        "Content-Type": "text/plain",
      };
      const plain = { ...delivery().headers, "Content-Type": "text/plain" };
      const requests: readonly (readonly [status: number, request: RawRequest])[] = [
        [200, delivery()],
        [200, { ...delivery(), path: `${MOUNT}/x/y` }],
        [401, { body: "{}" }],
        [401, { headers: plain, body: "x" }],
        [413, { headers: plain, body: "x".repeat(10_001) }],
        [415, { headers: gzip, body: "x" }],
        [405, { method: "GET" }],
        [405, { method: "DELETE", path: `${MOUNT}/x` }],
      ];
      for (const [status, request] of requests)
        expect((await exchange(port, request)).status).toBe(status);
      expect(seen.filter((line) => !line.startsWith("first"))).toEqual([]);
      expect(seen).toHaveLength(requests.length);
    }
  },
);

test.for(EXPRESSES)(
  "two receivers in one app keep to themselves, over $name",
  async ({ express }) => {
    const one = await startReceiver({ secrets: "whsec_one", endpoint: "one" });
    const two = await startReceiver({ secrets: "whsec_two", endpoint: "two" });
    const app = express();
    app.use("/one", expressHandler(one));
    app.use("/two", expressHandler(two));
    const port = await listen(app);
    const { headers, body } = delivery(undefined, { secret: "whsec_one" });
    expectRefused(await exchange(port, { path: "/two", headers, body }), 401, "signature_mismatch");
    expectAcknowledged(await exchange(port, { path: "/one", headers, body }), RECEIVED);
    expect(await two.inbox.stats()).toMatchObject({ total: 0 });
  },
);

test.for(EXPRESSES)(
  "as a route, in a router or behind a slow middleware it loses no byte, over $name",
  async ({ express }) => {
    const receiver = await startReceiver();
    const app = express();
    app.use((_request, _response, next) => void setImmediate(() => setImmediate(next)));
    app.post("/route", expressHandler(receiver));
    const router = express.Router();
    router.all("/in/:name", expressHandler(receiver));
    app.use("/router", router);
    app.get("/route", (_request, response) => void response.send("the host's own"));
    const port = await listen(app);
    expectAcknowledged(await exchange(port, { ...delivery(), path: "/route" }), RECEIVED);
    expectAcknowledged(await exchange(port, { ...delivery(), path: "/router/in/acme" }), RECEIVED);
    expect((await exchange(port, { method: "GET", path: "/route" })).body).toBe("the host's own");
  },
);
