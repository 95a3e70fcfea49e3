import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, request, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { stripe } from "../../src/kit/senders/index.js";
import { signedDelivery } from "../../src/kit/testing/signed-delivery.js";
import { ownDatabase } from "../contract/own-database.js";
import { POSTGRES_PORT } from "../contract/postgres-medium.js";
import { freePort } from "../own-postgres.js";
import { hasServer, testWith } from "../prerequisites.js";
import { run, start, type Running } from "./commands.js";
import { scaffoldAll, STARTERS } from "./scaffold.js";

// Compilers, servers and npm, on a machine that may be busy.
const MINUTES = 60_000;
vi.setConfig({ testTimeout: 5 * MINUTES });

let folder = "";
beforeAll(async () => {
  folder = await scaffoldAll();
}, 10 * MINUTES);

const npm = (starter: string, args: string[], env = {}): ReturnType<typeof run> =>
  run(join(folder, starter), "npm", args, env);

test("the types and the lint of every starter are clean", async () => {
  const config = { extends: "./express/tsconfig.json", include: ["*/src", "*/test"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  expect((await run(folder, "npx", ["tsc", "--noEmit", "--listFilesOnly"])).stdout).toContain(
    "/bullmq-postgres/src/store.ts",
  );
  await run(folder, "npx", ["tsc", "--noEmit"]);
  await run(folder, "npx", ["oxlint", "--type-aware", "--deny-warnings", ...STARTERS]);
});

test("the tests of every starter pass; without a Redis those that need one are skipped by name", async () => {
  const args = ["vitest", "run", "--reporter", "verbose"];
  const { stdout } = await run(folder, "npx", args, { REDIS_URL: "redis://127.0.0.1:1" });
  for (const starter of STARTERS) expect(stdout).toContain(`✓ ${starter}/test/receiver.test.ts`);
  expect(stdout).toMatch(/↓.*\(needs Redis\)/);
});

test("an installed signalbox makes a receiver that has a copy of the tarball it came from", async () => {
  await run(folder, "npx", ["signalbox", "init", "made", "--no-install", "--no-git"]);
  const { dependencies } = JSON.parse(readFileSync(join(folder, "made/package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  expect(dependencies["signalbox"]).toMatch(/^file:vendor\/signalbox-.*\.tgz$/);
});

test("express: mistakes end it with a line that says what to do, and SIGTERM after what is open is answered", async () => {
  const other = createServer().listen(0);
  onTestFinished(() => void other.close());
  await once(other, "listening");
  const PORT = String((other.address() as AddressInfo).port);
  const inUse = /port \d+ is in use: end the program that uses it, or set PORT to another port/;
  await expect(npm("express", ["start"], { PORT })).rejects.toThrow(inUse);
  // Built by now.
  const mistaken = run(join(folder, "express"), "node", ["dist/main.js"], { PORT: "70000" });
  await expect(mistaken).rejects.toThrow(/PORT must be a whole number from 0 to 65535/);

  const receiver = start(join(folder, "express"), "node", ["dist/main.js"], { PORT: "0" });
  const open = request(await urlOf(receiver), {
    method: "POST",
    headers: { "Content-Length": 2, Expect: "100-continue" },
  });
  open.flushHeaders();
  await once(open, "continue");
  const answered = once(open, "response") as Promise<[IncomingMessage]>;
  const closing = receiver.linesWith(/SIGTERM: closing/);
  const stopped = receiver.stop();
  await closing;
  open.end("{}");
  const [{ statusCode }] = await answered;
  expect([statusCode, await stopped]).toEqual([401, 0]);
});

test("express --sender stripe: its receiver takes a delivery that Stripe's secret of .env signs, hands it off, and refuses another", async () => {
  const project = join(folder, "express-sqlite-stripe");
  await npm("express-sqlite-stripe", ["run", "build"]);
  const receiver = start(project, "node", ["dist/main.js"], { PORT: "0" });
  const url = await urlOf(receiver);
  expect(url).toMatch(/\/webhooks\/stripe$/);
  const [, secret = ""] =
    /^STRIPE_WEBHOOK_SECRET=(.+)$/m.exec(readFileSync(join(project, ".env"), "utf8")) ?? [];
  const post = async (each: string): Promise<number> => {
    const event = { id: `evt_${each}`, type: "invoice.paid", data: { object: {} } };
    const { headers, body } = signedDelivery(event, { sender: stripe(), secret: each });
    return (await fetch(url, { method: "POST", headers, body: body.toString() })).status;
  };
  expect([await post("whsec_of_another"), await post(secret)]).toEqual([401, 200]);
  expect(await receiver.linesWith(/"msg":"an event"/)).toEqual([
    expect.stringContaining(`stripe/evt_${secret}`),
  ]);
  expect(await receiver.stop()).toBe(0);
  // Without the secret it says which variable is missing.
  const env = { STRIPE_WEBHOOK_SECRET: "", PORT: "0" };
  await expect(run(project, "node", ["dist/main.js"], env)).rejects.toThrow(
    /STRIPE_WEBHOOK_SECRET must be/,
  );
});

testWith(await hasServer(POSTGRES_PORT))(
  "express --store postgres: npm run dev registers it at the PORT of .env, and hands off the first signal from its database",
  async () => {
    const DATABASE_URL = await ownDatabase();
    const project = join(folder, "express-postgres");
    appendFileSync(join(project, ".env"), `PORT=${await freePort()}\n`);
    const dev = start(project, "npm", ["run", "dev"], { DATABASE_URL });
    await dev.linesWith(/"team":"pricing"/);
    await dev.stop();
    const stats = [
      "signalbox",
      "inbox",
      "stats",
      "--db",
      DATABASE_URL,
      "--schema",
      "signalbox_express_postgres",
      "--json",
    ];
    expect(JSON.parse((await run(project, "npx", stats)).stdout)).toMatchObject({
      ready: 0,
      dead: 0,
    });
  },
);

const hasRedis = spawnSync("redis-server", ["--version"]).status === 0;

/** A Redis of its own: the queue of the template has a name that others on this machine may use. */
async function startRedis(): Promise<{ url: string; redis: Running }> {
  const port = await freePort();
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  const redis = start(tmpdir(), "redis-server", args);
  await redis.linesWith(/Ready to accept connections/);
  return { url: `redis://127.0.0.1:${port}`, redis };
}

testWith(hasRedis)(
  "bullmq: its tests pass, every signal of a replay reaches the worker once, and both end in order without Redis (needs redis-server)",
  async () => {
    const { url: REDIS_URL, redis } = await startRedis();
    expect((await npm("bullmq", ["test"], { REDIS_URL })).stdout).toMatch(/Tests\s+\d+ passed \(/);

    const receiver = start(join(folder, "bullmq"), "npm", ["start"], { PORT: "0", REDIS_URL });
    const url = await urlOf(receiver);
    const worker = start(join(folder, "bullmq"), "npm", ["run", "worker"], { REDIS_URL });
    await worker.linesWith(/worker started/);
    const replay = await npm("bullmq", ["run", "replay", "--", "--url", url]);
    expect(replay.stdout).toMatch(/^all \d+ answers as expected/m);
    const inbox = new Database(join(folder, "bullmq/signals.db"), { readonly: true });
    const query =
      "SELECT count(*) FROM inbox WHERE type = 'signal.published' AND state <> 'quarantined'";
    const handled = inbox.prepare<[], number>(query).pluck().get() as number;
    inbox.close();
    expect(handled).toBeGreaterThan(38);
    const lines = await worker.linesWith(/"team":/, handled);
    const keys = lines.map((line) => (JSON.parse(line) as { deliveryKey: string }).deliveryKey);
    expect(new Set(keys).size).toBe(handled);

    await redis.stop();
    await Promise.all([receiver.linesWith(/"msg":"Redis"/), worker.linesWith(/"msg":"Redis"/)]);
    for (const each of [receiver, worker]) {
      const closing = each.linesWith(/SIGTERM: closing/);
      await each.stop();
      await closing;
    }
  },
);

/** The address of which a receiver says that it listens on it. */
async function urlOf(receiver: Running): Promise<string> {
  const [line = ""] = await receiver.linesWith(/listening on /);
  return /http:\/\/[^"\s]+/.exec(line)?.[0] ?? "";
}
