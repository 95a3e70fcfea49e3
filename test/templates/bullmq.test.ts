import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { beforeAll, expect, test } from "vitest";
import { testWith } from "../prerequisites.js";
import { freePort, run, start, type Running } from "./commands.js";
import { installFast, scaffold } from "./scaffold.js";

const MINUTES = 60_000;
const hasRedis = spawnSync("redis-server", ["--version"]).status === 0;

/** A Redis of its own: the queue of the template has a name that others on this machine may use. */
async function startRedis(): Promise<{ url: string; redis: Running }> {
  const port = await freePort();
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  const redis = start(tmpdir(), "redis-server", args);
  await redis.linesWith(/Ready to accept connections/);
  return { url: `redis://127.0.0.1:${port}`, redis };
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

testWith(hasRedis)(
  "bullmq: with a Redis its tests pass, and every signal of a replay reaches the worker once (needs redis-server)",
  { timeout: 5 * MINUTES },
  async () => {
    const { url: REDIS_URL } = await startRedis();
    const tested = await run(project, "npm", ["test"], { REDIS_URL });
    expect(tested.stdout).toMatch(/Tests\s+\d+ passed \(/);

    const receiver = start(project, "npm", ["start"], { PORT: "0", REDIS_URL });
    const [line = ""] = await receiver.linesWith(/listening on /);
    const [url = ""] = /http:\/\/[^"\s]+/.exec(line) ?? [];
    const worker = start(project, "npm", ["run", "worker"], { REDIS_URL });
    await worker.linesWith(/worker started/);
    const replay = await run(project, "npm", ["run", "replay", "--", "--url", url]);
    expect(replay.stdout).toMatch(/^all \d+ answers as expected/m);
    const handled = Number(/onSignal: (\d+)$/m.exec(replay.stderr)?.[1]);
    expect(handled).toBeGreaterThan(38);
    const lines = await worker.linesWith(/"team":/, handled);
    const keys = lines.map((line) => (JSON.parse(line) as { deliveryKey: string }).deliveryKey);
    expect(new Set(keys).size).toBe(handled);

    for (const each of [receiver, worker]) {
      const closing = each.linesWith(/SIGTERM: closing/);
      await each.stop();
      await closing;
    }
  },
);

testWith(hasRedis).each(["goes away", "was never there"])(
  "bullmq: both processes end in order where Redis %s (needs redis-server)",
  { timeout: 5 * MINUTES },
  async (what) => {
    const { url: REDIS_URL, redis } = await startRedis();
    if (what === "was never there") await redis.stop();
    await run(project, "npm", ["run", "build"]);
    const receiver = start(project, "node", ["dist/main.js"], { PORT: "0", REDIS_URL });
    const worker = start(project, "node", ["dist/worker.js"], { REDIS_URL });
    await Promise.all([receiver.linesWith(/listening on /), worker.linesWith(/worker started/)]);
    if (what === "goes away") await redis.stop();
    // Both have noticed.
    await Promise.all([receiver.linesWith(/"msg":"Redis"/), worker.linesWith(/"msg":"Redis"/)]);
    expect(await Promise.all([receiver.stop(), worker.stop()])).toEqual([0, 0]);
  },
);
