import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders, RequestListener } from "node:http";
import { join } from "node:path";
import type { Express, RequestHandler } from "express";
import type { Receiver, ReceiverOptions } from "signalbox";
import type { Sender } from "signalbox/senders";
import { PATH, POOL_SIZE, SECRET } from "../endpoint.js";

/** What each server is started with. */
export interface ServerConfig {
  /** Of a row below. */
  name: string;
  /** Where it may keep files; empty at first. */
  folder: string;
  /** The connection string of an empty PostgreSQL database, for a server that needs one. */
  database?: string | undefined;
}

/** A server that is not listening yet. */
export interface OpenServer {
  listener: RequestListener;
  /** How many were handed off so far. Servers without a hand-off leave it out. */
  handedOff?: () => number;
  close?: () => Promise<void> | void;
}

export interface Server {
  name: string;
  /** As it stands in a table. */
  label: string;
  /** Where it stores acknowledged events: in a file, or in PostgreSQL; null: nowhere. */
  keeps: { file?: string; table: string } | null;
  isOurs: boolean;
  /** The repository whose signalbox it loads, if not this one. */
  root?: string;
  /** Called in the server's own process, which loads nothing that it does not need. */
  open(config: ServerConfig): OpenServer | Promise<OpenServer>;
}

const OTHER = { keeps: null, isOurs: false };
const OURS = { keeps: { file: "inbox.db", table: "inbox" }, isOurs: true };

/** In the order of the table. */
export const SERVERS: readonly Server[] = [
  // Nothing on Node is faster.
  { ...OTHER, name: "node-nothing", label: "node:http, does nothing", open: () => onNode() },
  {
    ...OTHER,
    name: "node-verified",
    label: "node:http, verifies and parses",
    open: () => onNode((headers, body) => isAuthentic(headers, body) && idIn(body) !== undefined),
  },
  {
    ...OURS,
    name: "signalbox-node",
    label: "signalbox on node:http",
    open: ours(onNodeHttp),
  },
  {
    ...OTHER,
    name: "express-nothing",
    label: "Express 5, does nothing",
    open: () => onExpress((_request, response) => void response.json({ received: true })),
  },
  { ...OURS, name: "signalbox-express5", label: "signalbox on Express 5", open: ours(onExpress5) },
  {
    ...OURS,
    name: "signalbox-express4",
    label: "signalbox on Express 4",
    open: ours(async (receiver) => mount((await import("express4")).default(), receiver)),
  },
  // As its documentation shows it, and a Set against repeats: nothing survives the process.
  { ...OTHER, name: "express-stripe", label: "Express 5, stripe and a Set", open: openStripe },
  { ...OTHER, name: "express-octokit", label: "Express 5, @octokit/webhooks", open: openOctokit },
  {
    name: "express-insert",
    label: "Express 5, one durable insert each",
    keeps: { file: "events.db", table: "events" },
    isOurs: false,
    open: openInsert,
  },
];

/**
 * Only for the part `postgres`, and for users who name them: Fastify and Hono, each beside itself,
 * and what telemetry costs beside `signalbox-express5`.
 */
const BY_NAME: readonly Server[] = [
  {
    name: "signalbox-postgres",
    label: "signalbox on Express 5, postgresStore",
    keeps: { table: "signalbox.inbox" },
    isOurs: true,
    open: ours(onExpress5, async ({ database }) => {
      const { postgresStore } = await import("signalbox/stores/postgres");
      return { store: postgresStore({ connectionString: database }) };
    }),
  },
  {
    name: "express-pg-insert",
    label: `Express 5, one INSERT each, a pool of ${POOL_SIZE}`,
    keeps: { table: "events" },
    isOurs: false,
    open: openPgInsert,
  },
  {
    ...OURS,
    name: "signalbox-ordered",
    label: "signalbox on node:http, in order",
    open: ours(onNodeHttp, async () => ({ order: true })),
  },
  { ...OTHER, name: "fastify-nothing", label: "Fastify 5, does nothing", open: openFastify },
  {
    ...OURS,
    name: "signalbox-fastify",
    label: "signalbox on Fastify 5",
    open: ours(async (receiver) => {
      const { fastifyPlugin } = await import("signalbox/fastify");
      const app = (await import("fastify")).default();
      app.register(fastifyPlugin(receiver), { prefix: PATH });
      await app.ready();
      return (request, response) => app.routing(request, response);
    }),
  },
  {
    ...OTHER,
    name: "hono-nothing",
    label: "Hono on Node, does nothing",
    open: async () => ({
      listener: await onHono(async (request) => {
        await request.arrayBuffer();
        return Response.json({ received: true });
      }),
    }),
  },
  {
    ...OURS,
    name: "signalbox-hono",
    label: "signalbox on Hono on Node",
    open: ours(async (receiver) =>
      onHono((await import("signalbox/fetch")).fetchHandler(receiver)),
    ),
  },
  {
    ...OURS,
    name: "signalbox-stripe",
    label: "signalbox on node:http, Stripe",
    open: ours(onNodeHttp, async () => {
      const { stripe } = await import("signalbox/senders");
      return { sender: stripe() };
    }),
  },
  {
    ...OURS,
    name: "signalbox-github",
    label: "signalbox on node:http, GitHub",
    open: ours(onNodeHttp, async () => {
      const { github } = await import("signalbox/senders");
      return { sender: github() };
    }),
  },
  {
    ...OURS,
    name: "signalbox-traced",
    label: "signalbox on Express 5, all traced",
    open: ours(onExpress5, () => traced(1)),
  },
  {
    ...OURS,
    name: "signalbox-sampled",
    label: "signalbox on Express 5, 5 % traced",
    open: ours(onExpress5, () => traced(0.05)),
  },
];

/** @throws Error when no server has this name */
export function serverNamed(name: string): Server {
  const server = [...SERVERS, ...BY_NAME].find((each) => each.name === name);
  if (server === undefined) throw new Error(`There is no server ${name}.`);
  return server;
}

/**
 * The server that the others are compared with: Express that does nothing if it runs, else the
 * first.
 */
export function findBaseline(servers: readonly Server[]): Server {
  const baseline = servers.find(({ name }) => name === "express-nothing") ?? servers[0];
  if (baseline === undefined) throw new Error("no servers to compare");
  return baseline;
}

type Extra = Partial<Pick<ReceiverOptions, "store" | "telemetry" | "order">> & { sender?: Sender };

/** The receiver that all of our servers share: its hand-off only counts. */
function ours(
  listen: (receiver: Receiver) => Promise<RequestListener>,
  extra: (config: ServerConfig) => Promise<Extra> = async () => ({}),
): Server["open"] {
  return async (config) => {
    const { createReceiver } = await import("signalbox");
    const { sqliteStore } = await import("signalbox/stores/sqlite");
    const {
      store = sqliteStore(join(config.folder, "inbox.db")),
      telemetry,
      sender,
      order,
    } = await extra(config);
    let handedOff = 0;
    const count = async () => {
      handedOff += 1;
    };
    const options = { secrets: SECRET, store, telemetry, logger: false } as const;
    const receiver =
      sender === undefined
        ? createReceiver({ ...options, order, onSignal: count })
        : createReceiver({ ...options, sender, onEvent: count });
    await receiver.start();
    return {
      listener: await listen(receiver),
      handedOff: () => handedOff,
      close: () => receiver.close({ graceMs: 20_000 }),
    };
  };
}

async function onNodeHttp(receiver: Receiver): Promise<RequestListener> {
  return (await import("signalbox/node")).nodeHandler(receiver);
}

async function onExpress5(receiver: Receiver): Promise<RequestListener> {
  return mount((await import("express")).default(), receiver);
}

async function mount(app: Express, receiver: Receiver): Promise<RequestListener> {
  const { expressHandler } = await import("signalbox/express");
  return app.use(PATH, expressHandler(receiver)) as RequestListener;
}

/** An app with one route, which gets the bytes of the body. */
async function onExpress(
  handler: RequestHandler,
  close?: OpenServer["close"],
): Promise<OpenServer> {
  const { default: express } = await import("express");
  const app = express().post(PATH, express.raw({ type: "*/*" }), handler);
  return { listener: app as RequestListener, ...(close && { close }) };
}

async function onHono(
  handle: (request: Request) => Response | Promise<Response>,
): Promise<RequestListener> {
  const [{ getRequestListener }, { Hono }] = await Promise.all([
    import("@hono/node-server"),
    import("hono"),
  ]);
  const app = new Hono().all(PATH, (context) => handle(context.req.raw));
  const listener = getRequestListener(app.fetch);
  return (request, response) => void listener(request, response);
}

/** Reads the body and answers. */
function onNode(
  accepts: (headers: IncomingHttpHeaders, body: Buffer) => boolean = () => true,
): OpenServer {
  const [answer, refusal] = [Buffer.from('{"received":true}'), Buffer.from('{"received":false}')];
  return {
    listener(request, response) {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const isAccepted = accepts(request.headers, Buffer.concat(chunks));
        const body = isAccepted ? answer : refusal;
        const headers = { "Content-Type": "application/json", "Content-Length": body.length };
        response.writeHead(isAccepted ? 200 : 401, headers).end(body);
      });
    },
  };
}

async function openFastify(): Promise<OpenServer> {
  const app = (await import("fastify")).default();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  app.post(PATH, async () => ({ received: true }));
  await app.ready();
  return { listener: (request, response) => app.routing(request, response) };
}

async function openStripe(): Promise<OpenServer> {
  const { webhooks } = new (await import("stripe")).Stripe("sk_test_bench");
  const seen = new Set<string>();
  return onExpress((request, response) => {
    const header = request.headers["stripe-signature"] ?? "";
    const { id } = webhooks.constructEvent(request.body as Buffer, header, SECRET);
    response.json(receivedUnless(seen.has(id)));
    seen.add(id);
  });
}

/** Its middleware verifies, parses and calls back. */
async function openOctokit(): Promise<OpenServer> {
  const { createNodeMiddleware, Webhooks } = await import("@octokit/webhooks");
  const { default: express } = await import("express");
  const webhooks = new Webhooks({ secret: SECRET });
  let received = 0;
  webhooks.onAny(async () => {
    received += 1;
  });
  const app = express().use(createNodeMiddleware(webhooks, { path: PATH }));
  return { listener: app as RequestListener, handedOff: () => received };
}

/** What one writes by hand: verify, then one synchronous durable insert before the answer. */
async function openInsert({ folder }: ServerConfig): Promise<OpenServer> {
  const db = new (await import("better-sqlite3")).default(join(folder, "events.db"));
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.exec(
    "CREATE TABLE events (id TEXT PRIMARY KEY, received_at INTEGER NOT NULL, body BLOB NOT NULL)",
  );
  const insert = db.prepare("INSERT INTO events VALUES (?, ?, ?) ON CONFLICT DO NOTHING");
  return onExpress(
    byHand((id, body) => insert.run(id, Date.now(), body).changes),
    () => void db.close(),
  );
}

/** What one writes by hand: verify, then one INSERT through a pool before the answer. */
async function openPgInsert({ database }: ServerConfig): Promise<OpenServer> {
  const pool = new (await import("pg")).Pool({ connectionString: database, max: POOL_SIZE });
  await pool.query(
    "CREATE TABLE events (id text PRIMARY KEY, at timestamptz DEFAULT now(), body bytea)",
  );
  const insert = "INSERT INTO events (id, body) VALUES ($1, $2) ON CONFLICT DO NOTHING";
  return onExpress(
    byHand((id, body) => pool.query(insert, [id, body]).then(({ rowCount }) => rowCount)),
    () => pool.end(),
  );
}

/** @param insert gives the number of rows that it added, at once or later */
function byHand(
  insert: (id: string, body: Buffer) => number | Promise<number | null>,
): RequestHandler {
  return (request, response) => {
    const body = request.body as Buffer;
    if (!isAuthentic(request.headers, body)) {
      response.status(401).end();
      return;
    }
    const answer = (count: number | null): void => void response.json(receivedUnless(count === 0));
    const added = insert(String(idIn(body)), body);
    if (typeof added === "number") answer(added);
    else added.then(answer, () => response.status(500).end());
  };
}

const receivedUnless = (duplicate: boolean): object =>
  duplicate ? { received: true, duplicate } : { received: true };

function idIn(body: Buffer): string | undefined {
  const { id } = JSON.parse(body.toString()) as { id?: unknown };
  return typeof id === "string" ? id : undefined;
}

const TOLERANCE_SECONDS = 300;

/** The signature, checked as one writes it by hand. */
function isAuthentic(headers: IncomingHttpHeaders, body: Buffer): boolean {
  const header = String(headers["x-service-signature"]);
  const [, timestamp = "", hex = ""] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  const digest = createHmac("sha256", SECRET).update(`${timestamp}.`).update(body).digest();
  const given = Buffer.from(hex, "hex");
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  return (
    given.length === digest.length && timingSafeEqual(given, digest) && age <= TOLERANCE_SECONDS
  );
}

/** Telemetry with a real SDK. @param ratio how many of the deliveries are sampled */
async function traced(ratio: number): Promise<Extra> {
  const { context, metrics, trace } = await import("@opentelemetry/api");
  const { AsyncLocalStorageContextManager } = await import("@opentelemetry/context-async-hooks");
  const sdk = await import("@opentelemetry/sdk-metrics");
  const tracing = await import("@opentelemetry/sdk-trace-base");
  const { openTelemetry } = await import("signalbox/opentelemetry");
  // Takes what an exporter takes, and drops it.
  const exporter = {
    export: (_all: unknown, done: (result: { code: number }) => void): void => done({ code: 0 }),
    forceFlush: async (): Promise<void> => {},
    shutdown: async (): Promise<void> => {},
    selectAggregationTemporality: () => sdk.AggregationTemporality.CUMULATIVE,
  };
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const sampler = new tracing.ParentBasedSampler({
    root: new tracing.TraceIdRatioBasedSampler(ratio),
  });
  const spanProcessors = [new tracing.BatchSpanProcessor(exporter)];
  trace.setGlobalTracerProvider(new tracing.BasicTracerProvider({ sampler, spanProcessors }));
  const reader = { exporter, exportIntervalMillis: 10_000 };
  metrics.setGlobalMeterProvider(
    new sdk.MeterProvider({ readers: [new sdk.PeriodicExportingMetricReader(reader)] }),
  );
  return { telemetry: openTelemetry() };
}
