import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compileIn, IMPORT_ALL } from "./compile.js";
import { install } from "./installed.js";

/** A user's program. What all types allow and refuse is in test/types. */
const PROGRAM = `${IMPORT_ALL}
import { createServer } from "node:http";
import express from "express";
import pg from "pg";
import { captureRawBody, createReceiver, PermanentFailure, type Handoff, type InboxStore, type Receiver, type Signal } from "signalbox";
import { createClient, isClientError, type FinishedInvestigation } from "signalbox/client";
import { expressHandler } from "signalbox/express";
import { inboxPage } from "signalbox/inbox-page";
import { nodeHandler } from "signalbox/node";
import { openTelemetry } from "signalbox/opentelemetry";
import { postgresStore } from "signalbox/stores/postgres";
import { sqliteStore } from "signalbox/stores/sqlite";
import { createManualClock, testReceiver } from "signalbox/testing";

const url: string | undefined = process.env["DATABASE_URL"];
const store: InboxStore = url ? sqliteStore("signals.db") : postgresStore({ pool: new pg.Pool({ max: 20 }) });
const onSignal = async (signal: Signal, handoff: Handoff) => {
  if (signal.data.signal_type === "price_increased") throw new PermanentFailure("unknown");
  handoff.logger.info({ key: handoff.deliveryKey, bytes: handoff.rawBody.byteLength });
};
const receiver: Receiver = createReceiver({ secrets: async () => ["whsec_1"], store, onSignal, telemetry: openTelemetry() });
await using closedInTheEnd = receiver;
const app = express();
app.use("/webhooks/signals", expressHandler(receiver));
app.use("/ops/signals", inboxPage(receiver, { authorize: (request: express.Request) => request.secure }));
app.use(express.json({ verify: captureRawBody }));
createServer(nodeHandler(receiver));
await testReceiver({ onSignal, clock: createManualClock(), handoff: { maxAttempts: 1 } });
const client = createClient({ baseUrl: "https://service.example/v1", apiKey: async () => "key", fetch });
const finished: FinishedInvestigation = await client.waitForInvestigation("task_1", { signal: AbortSignal.timeout(1000) });
console.log(isClientError(finished), closedInTheEnd.health().ok);

// @ts-expect-error a client is no pool
postgresStore({ pool: new pg.Client() });
// @ts-expect-error a receiver without a store is a mistake that the compiler must see
createReceiver({ secrets: "whsec_1", onSignal() {} });
// @ts-expect-error the methods of a store are for signalbox alone, and in no published type
store.commit;
// @ts-expect-error so is a status that no event can have
await receiver.inbox.list({ state: "lost" });
// @ts-expect-error misspelt: dead
receiver.on("ded", console.log);
// @ts-expect-error misspelt: search_volume
console.log((await client.searchDemand()).items[0]?.volume);
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

// What TypeScript before 6.0 does with "module": "commonjs", as most Express apps have it. It knows
// no "exports".
test("every entry point has its types where the compiler reads no exports", async () => {
  const uses =
    'import { createReceiver } from "signalbox";\n// @ts-expect-error it has no store\ncreateReceiver({});\n';
  const node10 = {
    module: "commonjs",
    moduleResolution: "node10",
    ignoreDeprecations: "6.0",
    skipLibCheck: true,
  };
  const folder = install({ "@types/node": "@types/node" });
  expect(await compileIn(folder, IMPORT_ALL + uses, node10)).toBe("");
});
