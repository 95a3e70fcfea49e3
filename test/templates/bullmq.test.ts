import { spawnSync } from "node:child_process";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { beforeAll, expect, test } from "vitest";
import { run, start } from "./commands.js";
import { installFast, scaffold, secretOf } from "./scaffold.js";

const MINUTES = 60_000;
const hasRedis = spawnSync("redis-server", ["--version"]).status === 0;

/** A Redis of its own: the queue of the template has a name that others on this machine may use. */
async function startRedis(): Promise<string> {
  const port = await freePort();
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  const redis = start(tmpdir(), "redis-server", args);
  await redis.linesWith(/Ready to accept connections/);
  return `redis://127.0.0.1:${port}`;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

let project = "";
beforeAll(async () => {
  project = await scaffold("bullmq");
  await installFast(project);
}, 15 * MINUTES);

test("bullmq: the types and the lint of what init writes are clean", { timeout: 5 * MINUTES }, async () => {
  await run(project, "npm", ["run", "typecheck"]);
  await run(project, "npm", ["run", "lint"]);
});

test("bullmq: without a Redis the tests that need one are skipped by name", { timeout: 5 * MINUTES }, async () => {
  const args = ["test", "--", "--reporter", "verbose"];
  const { stdout } = await run(project, "npm", args, { REDIS_URL: "redis://127.0.0.1:1" });
  expect(stdout).toMatch(/Tests\s+\d+ passed \| [1-9]\d* skipped/);
  expect(stdout).toMatch(/↓.*\(needs Redis\)/);
});

test.skipIf(!hasRedis)(
  "bullmq: with a Redis its tests pass, and every signal of a replay reaches the worker once (needs redis-server)",
  { timeout: 5 * MINUTES },
  async () => {
    const REDIS_URL = await startRedis();
    const tested = await run(project, "npm", ["test"], { REDIS_URL });
    expect(tested.stdout).toMatch(/Tests\s+\d+ passed \(/);

    const receiver = start(project, "npm", ["start"], { PORT: "0", REDIS_URL });
    const [line = ""] = await receiver.linesWith(/listening on /);
    const [url = ""] = /http:\/\/[^"\s]+/.exec(line) ?? [];
    const worker = start(project, "npm", ["run", "worker"], { REDIS_URL });
    await worker.linesWith(/worker started/);
    const env = { SIGNALS_SECRET: secretOf(project) };
    const replay = await run(project, "npx", ["signalbox", "replay", "--url", url], env);
    expect(replay.stderr).toMatch(/^all \d+ answers as expected/m);
    const handled = Number(/^(\d+) events were accepted/m.exec(replay.stderr)?.[1]);
    expect(handled).toBeGreaterThan(38);
    const alerts = await worker.linesWith(/"msg":"alert"/, handled);
    const keys = alerts.map((alert) => (JSON.parse(alert) as { deliveryKey: string }).deliveryKey);
    expect(new Set(keys).size).toBe(handled);

    for (const each of [receiver, worker]) {
      const closing = each.linesWith(/SIGTERM: closing/);
      await each.stop();
      await closing;
    }
  },
);
