import type { ErrorRequestHandler, RequestHandler } from "express";
import type express from "express";
import { expect, test } from "vitest";
import { captureRawBody, type Receiver } from "../../../src/kit/index.js";
import { expressHandler } from "../../../src/kit/receiver/adapters/express-handler.js";
import { expectAcknowledged, RECEIVED } from "../expect-answer.js";
import { delivery, EXPRESSES, listen, startReceiver } from "../serve.js";
import { exchange, MOUNT, type RawRequest } from "../wire.js";

type Framework = typeof express;

/**
 * Where the receiver stands to the host's own `express.json()`; `null`: an app without a receiver.
 */
type Place = "before json" | "after json" | null;

/** An app as people have one: a log of requests, JSON, a few routes, an error handler. */
async function hostApp(framework: Framework, receiver: Receiver, place: Place) {
  /** What the host's own handlers saw. */
  const seen: string[] = [];
  const app = framework();
  const note =
    (what: string): RequestHandler =>
    ({ method, originalUrl }, _response, next) => {
      seen.push(`${what} ${method} ${originalUrl}`);
      next();
    };
  const mount = () => app.use(MOUNT, expressHandler(receiver));
  app.use(note("first"));
  if (place === "before json") mount();
  app.use(framework.json(place === "after json" ? { verify: captureRawBody } : {}));
  if (place === "after json") mount();
  app.use(note("after"));
  const echo: RequestHandler = ({ body, headers }, response) =>
    void response.status(201).json({ body: body as unknown, keys: Object.keys(headers).sort() });
  app.post(["/orders", "/webhooks"], echo);
  app.post("/webhooks/other", framework.text({ type: "*/*" }), echo);
  app.get("/boom", (_request, _response, next) => next(new Error("boom")));
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
  return { port: await listen(app), seen };
}

const json = { "Content-Type": "application/json" };
const text = { "Content-Type": "text/plain" };
const ELSEWHERE: readonly RawRequest[] = [
  { path: "/orders", headers: json, body: '{"n":1,"text":"Zürich 🚉"}' },
  { path: "/orders", headers: json, body: "{broken" },
  { path: "/orders", headers: { ...json, "Content-Encoding": "gzip" }, body: "no gzip" },
  { path: "/orders", headers: { ...json, "X-Service-Signature": "t=1,v1=2" }, body: "{}" },
  { path: "/webhooks", headers: json, body: '{"a":1}' },
  { path: "/webhooks/other", headers: text, body: "text" },
  { path: `${MOUNT}x`, headers: json, body: "{}" },
  { path: "/orders", method: "OPTIONS" },
  { path: "/boom", method: "GET" },
  { path: "/nowhere", method: "GET" },
];

test.for(EXPRESSES)(
  "the host's own routes never notice a receiver beside them, over $name",
  async ({ express }) => {
    const receiver = await startReceiver();
    const observe = async (place: Place) => {
      const { port, seen } = await hostApp(express, receiver, place);
      const answers = [];
      for (const request of ELSEWHERE) {
        const answer = await exchange(port, request);
        answers.push({ ...answer, headers: { ...answer.headers, date: "" } });
      }
      return { answers, seen };
    };
    const without = await observe(null);
    expect(without.answers[0]?.body).toContain("Zürich 🚉");
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
      const { port, seen } = await hostApp(express, receiver, place);
      const plain = { ...delivery().headers, ...text };
      const requests: readonly (readonly [status: number, request: RawRequest])[] = [
        [200, { ...delivery(), path: `${MOUNT}/x/y` }],
        [401, { body: "{}" }],
        [401, { headers: plain, body: "x" }],
        [413, { headers: plain, body: "x".repeat(10_001) }],
        [415, { headers: { ...plain, "Content-Encoding": "gzip" }, body: "x" }],
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
