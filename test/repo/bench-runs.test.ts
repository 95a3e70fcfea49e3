import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import type { runOpenLoop } from "../bench/load/open-loop.js";
import type { BenchResult } from "../bench/result.js";
import { percentile } from "../bench/statistics.js";
import { requests, serve } from "./bench-server.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

beforeAll(async () => {
  await run(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "test/bench"], { cwd: ROOT });
});

/** Compiled, since it starts a thread of its own. */
async function loadOpenLoop(): Promise<typeof runOpenLoop> {
  const compiled = (await import(`${ROOT}test/bench/dist/load/open-loop.js`)) as { runOpenLoop: typeof runOpenLoop };
  return compiled.runOpenLoop;
}

const bench = (...args: string[]): Promise<{ stdout: string; stderr: string }> =>
  run(process.execPath, ["test/bench/dist/main.js", ...args], { cwd: ROOT });

test("a short run gives figures for ours and for the baseline", async () => {
  const servers = "express-nothing,signalbox-express5";
  const wanted = ["--only", "throughput,latency", "--servers", servers, "--rate", "100"];
  const { stdout } = await bench(...wanted, "--rounds", "1", "--seconds", "0.2", "--json");
  const { throughput, latency } = JSON.parse(stdout) as BenchResult;
  expect(throughput?.rows.map(({ server }) => server)).toEqual(servers.split(","));
  expect(throughput?.rows[0]?.ratio).toEqual({ median: 1, min: 1, max: 1 });
  for (const row of throughput?.rows ?? []) {
    expect(row.requestsPerSecond.median).toBeGreaterThan(0);
    expect(row.cpuMicrosPerRequest.median).toBeGreaterThan(0);
  }
  expect(throughput?.rows[1]?.keptBytesPerRequest?.median).toBeGreaterThan(700);
  expect(latency).toMatchObject({ requestsPerSecond: 100 });
  for (const row of latency?.rows ?? []) expect(row.p99.median).toBeGreaterThanOrEqual(row.p50.median);
});

test.for([
  [["--only", "everything"], "There is no part everything."],
  [["--servers", "nginx"], "There is no server nginx."],
  [["--rounds", "0"], "It must be a number above 0."],
  [["--events", "1.5"], "It must be a whole number."],
] as const)("%j is refused", async ([args, reason]) => {
  await expect(bench(...args)).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining(reason) as string });
});

test("the help names every part and every server", async () => {
  const { stdout } = await bench("--help");
  for (const word of ["throughput", "scale-memory", "express-octokit", "node-nothing", "--readme"]) {
    expect(stdout).toContain(word);
  }
});

test("behind a stall at a fixed rate, everyone's wait counts from when it was due", async () => {
  const openLoop = await loadOpenLoop();
  const STALL_MS = 200;
  let count = 0;
  const port = await serve((request, response) => {
    request.resume();
    const answerIt = (): void => void response.end();
    if (++count === 1) void delay(STALL_MS).then(answerIt);
    else answerIt();
  });
  // All 100 are due within the first half of the stall, and there is one connection: each waits for its end.
  const loop = { port, connections: 1, seconds: 0.1, requestsPerSecond: 1000 };
  const result = await openLoop(requests(100), loop);
  expect(result).toMatchObject({ sent: 100, answered: 100, failure: null });
  expect(percentile(result.latenciesMs, 1)).toBeGreaterThan(STALL_MS / 2 - 5);
});

test("an open loop keeps to its rate", async () => {
  const openLoop = await loadOpenLoop();
  const port = await serve((request, response) => {
    request.resume();
    response.end();
  });
  const result = await openLoop(requests(1000), { port, connections: 4, seconds: 0.5, requestsPerSecond: 400 });
  expect(result.sent).toBe(200);
  // The last one is due after 199 gaps of 2.5 ms. Later is the machine's doing, sooner would be ours.
  expect(result.elapsedMs).toBeGreaterThan(497);
});
