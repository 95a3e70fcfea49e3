import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { isOlder } from "../../src/base/sqlite/sqlite-driver.js";
import { ownDatabase } from "../contract/own-database.js";
import { POSTGRES_PORT } from "../contract/postgres-medium.js";
import { hasServer } from "../prerequisites.js";
import { readDocument } from "../repo/markdown.js";
import { run } from "../templates/commands.js";
import { tempFolder } from "../unit/temp-folder.js";
import { bytesIn, pack } from "./installed.js";

// npm installs packages from its cache or from the registry, on a machine that may be busy.
vi.setConfig({ testTimeout: 180_000 });

const FROM_CACHE = ["--prefer-offline", "--no-audit", "--no-fund"];

const ROWS = readDocument("docs/installing.md").tablesUnder("What an install costs")[0] ?? [];
/** The packages and the megabytes in a row of the page's table. */
const numbersOf = (what: string): number[] =>
  (ROWS.find(([name]) => name === what) ?? []).slice(1).map((cell) => Number.parseInt(cell));

test("a PostgreSQL receiver on Fastify installs what it loads, and runs", async () => {
  const folder = tempFolder();
  const names = [pack().tarball, "fastify", "pg"];
  await run(folder, "npm", ["install", ...names, "--omit=optional", ...FROM_CACHE]);

  const modules = join(folder, "node_modules");
  const installed = readdirSync(modules);
  for (const name of ["signalbox", "fastify", "pg", "pino"]) expect(installed).toContain(name);
  for (const name of [
    "better-sqlite3",
    "express",
    "commander",
    "@clack",
    "@modelcontextprotocol",
  ]) {
    expect(installed).not.toContain(name);
  }
  const megabytes = bytesIn(modules) / 1e6;
  expect(megabytes).toBeLessThan(24);
  expect(Math.abs(megabytes - (numbersOf("PostgreSQL and Fastify")[1] ?? 0))).toBeLessThan(3);

  expect((await run(folder, "npx", ["signalbox", "--help"])).stdout).toContain("Usage: signalbox");
  const { sqlite = "0" } = process.versions as { sqlite?: string };
  const hasOwnSqlite = !isOlder(sqlite);
  if (!hasOwnSqlite) {
    const missing = /npm install better-sqlite3@(12\.9\.0|13) /;
    await expect(run(folder, "npx", ["signalbox", "emulator"])).rejects.toThrow(missing);
  }

  // In CI a server that is missing is an error.
  const isWanted = process.env["CI"] !== undefined || (await hasServer(POSTGRES_PORT));
  const databaseUrl = isWanted ? await ownDatabase() : null;
  writeFileSync(join(folder, "receive.mjs"), RECEIVE);
  const { stdout } = await run(folder, "node", [
    "receive.mjs",
    ...(databaseUrl === null ? [] : [databaseUrl]),
  ]);
  const expected = hasOwnSqlite ? ["node:sqlite"] : ["store_unsupported", true];
  expect(JSON.parse(stdout)).toEqual({
    sqlite: expected,
    memory: expected,
    ...(databaseUrl !== null && { status: 200, handedOff: true }),
  });
});

const RECEIVE = `import Fastify from "fastify";
import { createReceiver } from "signalbox";
import { fastifyPlugin } from "signalbox/fastify";
import { memoryStore } from "signalbox/stores/memory";
import { postgresStore } from "signalbox/stores/postgres";
import { sqliteStore } from "signalbox/stores/sqlite";
import { signalEvent, signedDelivery } from "signalbox/testing";

const secrets = "whsec_test";
const driverOf = async (makeStore) => {
  try {
    const receiver = createReceiver({ secrets, store: makeStore(), onSignal() {}, logger: false });
    await receiver.start();
    const { medium } = await receiver.health();
    await receiver.close();
    return [medium?.driver ?? "node:sqlite"];
  } catch ({ code, help }) {
    const version = process.versions.node.startsWith("20.") ? "12.9.0" : "13";
    return [code, help.includes("npm install better-sqlite3@" + version + " ")];
  }
};
const found = { sqlite: await driverOf(() => sqliteStore("signals.db")), memory: await driverOf(memoryStore) };

const [connectionString] = process.argv.slice(2);
if (connectionString !== undefined) {
  const store = postgresStore({ connectionString });
  const receiver = createReceiver({ secrets, store, onSignal() {}, logger: false });
  const handedOff = new Promise((resolve) => receiver.on("handedOff", resolve));
  await receiver.start();
  const fastify = Fastify();
  fastify.register(fastifyPlugin(receiver), { prefix: "/signals" });
  const address = await fastify.listen({ port: 0 });
  const delivery = signedDelivery(signalEvent(), { secret: secrets });
  const { status } = await fetch(address + "/signals", { method: "POST", ...delivery });
  await handedOff;
  Object.assign(found, { status, handedOff: true });
  await fastify.close();
  await receiver.close();
}
console.log(JSON.stringify(found));
`;
