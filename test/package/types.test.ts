import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { compileIn } from "./compile.js";
import { install } from "./installed.js";

// The compiler checks every declaration it meets, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 });

/** A user's program that touches every entry point. */
const PROGRAM = `
import { createServer } from "node:http";
import express from "express";
import pg, { Pool } from "pg";
import {
  captureRawBody, createReceiver, isKnownSignalType, isSignalboxError, parseEvent, PermanentFailure, RetryLater,
  SIGNAL_TYPES, SIGNATURE_HEADER, signBody, SignalboxError, verifySignature,
  type Handoff, type InboxStore, type Receiver, type ReceiverOptions, type Signal, type SignalEvent, type TestEvent,
  type VerificationEvent,
} from "signalbox";
import {
  createClient, isClientError, type ClientError, type FinishedInvestigation, type KeywordRow, type NewRegistration,
} from "signalbox/client";
import { expressHandler } from "signalbox/express";
import { fastifyPlugin, type FastifyPlugin } from "signalbox/fastify";
import { fetchHandler } from "signalbox/fetch";
import { inboxPage, type InboxPageHandler, type InboxPageOptions } from "signalbox/inbox-page";
import { nodeHandler } from "signalbox/node";
import { openTelemetry } from "signalbox/opentelemetry";
import { memoryStore } from "signalbox/stores/memory";
import { postgresStore, type PostgresStore } from "signalbox/stores/postgres";
import { sqliteStore } from "signalbox/stores/sqlite";
import {
  createManualClock, signalEvent, signedDelivery, testEvent, testReceiver, verificationEvent, waitForEvent,
  type SignalEventOverrides, type TestReceiver,
} from "signalbox/testing";

const postgres: PostgresStore[] = [
  postgresStore({ pool: new pg.Pool({ max: 20 }) }),
  postgresStore({ pool: new Pool(), schema: "webhooks" }),
  postgresStore(process.env["DATABASE_URL"]),
];
console.log(postgres.length);
// @ts-expect-error a client is no pool
postgresStore({ pool: new pg.Client() });
const store: InboxStore = Math.random() < 0.5 ? sqliteStore("signals.db") : memoryStore();
const options: ReceiverOptions = {
  secrets: async () => ["whsec_1", "whsec_2"],
  store,
  onSignal: async (signal: Signal, handoff: Handoff) => {
    const type: string = signal.data.signal_type;
    if (type === "price_increased") throw new RetryLater("later", { delayMs: 1000 });
    if (!isKnownSignalType(type)) throw new PermanentFailure("unknown");
    handoff.logger.info({ key: handoff.deliveryKey, bytes: handoff.rawBody.byteLength });
    handoff.abortSignal.throwIfAborted();
  },
  onTest: (event: TestEvent) => console.log(event.id),
  logger: false,
  telemetry: openTelemetry(),
  clock: createManualClock(),
};
const receiver: Receiver = createReceiver(options);
await using closedInTheEnd = receiver;
await receiver.start();
receiver.on("dead", ({ eventId, reason }) => console.log(eventId, reason));

const handler: express.RequestHandler = expressHandler(receiver);
const app = express();
app.use("/webhooks/signals", handler);
app.use(express.json({ verify: captureRawBody }));
createServer(nodeHandler(receiver));
const plugin: FastifyPlugin = fastifyPlugin(receiver);
const answered: Promise<Response> = fetchHandler(receiver)(new Request("http://127.0.0.1/"));

const pageOptions: InboxPageOptions = { authorize: "loopback" };
const page: InboxPageHandler = inboxPage(receiver, pageOptions);
createServer(page);
app.use("/ops/signals", inboxPage(receiver, { authorize: (request: express.Request) => request.secure }));
app.use("/ops/more", inboxPage(receiver, { authorize: async ({ headers }) => headers.authorization === "Bearer 1" }));

const event: SignalEvent = signalEvent({ data: { product: { slug: "acme" } } });
const overrides = { data: { change: { after: { value: 2 } } }, added_later: true } as SignalEventOverrides;
console.log((event as Record<string, unknown>)["added_later"]);
const kit: TestReceiver = await testReceiver({ onSignal: options.onSignal, handoff: { maxAttempts: 1 } });
for (const each of [signalEvent("price_increased", overrides), testEvent(), verificationEvent()]) await kit.deliver(each);
const { rawBody } = await waitForEvent(kit.receiver, event.id, { state: "dead", timeoutMs: 100 });
console.log(rawBody?.byteLength);
const { headers, body } = signedDelivery(event, { secret: "whsec_1" });
const verification = verifySignature({ header: headers[SIGNATURE_HEADER], body, secrets: ["whsec_1"] });
if (!verification.ok) console.log(verification.reason satisfies string);
const parsed = parseEvent(Buffer.from(signBody({ body, secret: "whsec_1" })));
if (parsed.kind === "known" && parsed.event.type === "webhook.verification") {
  const challenge: VerificationEvent["data"]["challenge"] = parsed.event.data.challenge;
  console.log(challenge);
}
const error: unknown = new Error(SIGNAL_TYPES.join());
if (isSignalboxError(error)) console.log((error satisfies SignalboxError).code);
console.log(closedInTheEnd.health().ok);

const client = createClient({ baseUrl: "https://service.example/v1", apiKey: async () => "key", fetch, clock: createManualClock() });
const finished: FinishedInvestigation = await client.waitForInvestigation("task_1", { signal: AbortSignal.timeout(1000) });
console.log(finished.status satisfies "succeeded" | "failed" | "cancelled", finished.report?.conclusion.length);
const made: NewRegistration = await client.registerWebhook({ url: "https://a.example", signal_types: ["new_model"] });
console.log(made.signing_secret.length);
for await (const row of client.searchDemandItems({ sort: "volume" })) console.log((row satisfies KeywordRow).keyword.length);
if (isClientError(error)) console.log((error satisfies ClientError).status, error.code?.length, error.resetAt?.getTime());

// @ts-expect-error a receiver without a store is a mistake that the compiler must see
createReceiver({ secrets: "whsec_1", onSignal() {} });
// @ts-expect-error the methods of a store are for signalbox alone, and in no published type
store.commit;
// @ts-expect-error so is a status that no event can have
await receiver.inbox.list({ state: "lost" });
// @ts-expect-error misspelt: title
console.log(event.data.titel);
// @ts-expect-error misspelt: search_volume
console.log((await client.searchDemand()).items[0]?.volume);
// @ts-expect-error misspelt: dead
receiver.on("ded", console.log);
// @ts-expect-error an investigation takes of the allowance, and that must be said
await client.startInvestigation({ slug: "larkvoice" });
`;

const RESOLUTIONS = {
  nodenext: { module: "nodenext", moduleResolution: "nodenext" },
  bundler: { module: "esnext", moduleResolution: "bundler" },
};

/** A program may be checked more strictly than with `strict`. */
const STRICTER = {
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
};

/** A program for a browser or a worker: nothing of Node. */
const BROWSER_PROGRAM = `
import { createClient, isClientError, type Client } from "signalbox/client";
const client: Client = createClient({ baseUrl: "https://service.example/v1", apiKey: "key" });
const page = await client.rankings({ limit: 50 });
const names: string[] = page.items.map((item) => item.name);
const change: number | null = (await client.searchDemand()).items[0]?.traffic_change1m ?? null;
for await (const item of client.rankingsItems()) names.push(item.slug);
await client.readInvestigation("task_1").catch((error: unknown) => {
  if (isClientError(error)) names.push(error.kind);
});
export { change };
// @ts-expect-error a name is no number
page.items[0]?.name.toFixed();
`;

const WITH_SIGNAL = `
const controller = new AbortController();
await client.searchDemand({}, { signal: controller.signal });
createClient({ baseUrl: "https://service.example/v1", fetch: (url, init) => fetch(url, init) });
// @ts-expect-error that is no signal
await client.searchDemand({}, { signal: 7 });
`;

test.each([
  [
    "the types of a browser",
    ["es2022", "dom", "dom.iterable"],
    BROWSER_PROGRAM + WITH_SIGNAL,
    true,
  ],
  // zod's own types name this one.
  [
    "the types of no platform at all",
    ["es2022"],
    `${BROWSER_PROGRAM}declare global { interface URL {} }`,
    false,
  ],
])(
  "a program that uses the client compiles with %s, without those of Node",
  async (_, lib, program, skipLibCheck) => {
    const folder = install();
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    const options = { ...RESOLUTIONS.bundler, lib, types: [], skipLibCheck };
    expect(await compileIn(folder, program, options)).toBe("");
  },
);

// The declarations themselves, and those that they need, are checked once.
test.each([
  ["nodenext", "strict", { skipLibCheck: true }],
  ["bundler", "stricter", { ...STRICTER, skipLibCheck: false }],
] as const)(
  "a TypeScript program compiles against it under %s, %s",
  async (resolution, _, flags) => {
    const folder = install({
      express: "express",
      "@opentelemetry/api": "@opentelemetry/api",
      "@types/express": "@types/express",
      pg: "pg",
      "@types/pg": "@types/pg",
      "@types/node": "@types/node",
    });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    expect(await compileIn(folder, PROGRAM, { ...RESOLUTIONS[resolution], ...flags })).toBe("");
  },
);
