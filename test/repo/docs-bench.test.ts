import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { findPostgres } from "../bench/postgres/own-server.js";
import { withBenchTables } from "../bench/report/tables.js";
import { tablesOf, type BenchResult } from "../bench/run-parts.js";
import { testWith } from "../prerequisites.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PAGE = readFileSync(`${ROOT}docs/speed.md`, "utf8");
const RESULT = JSON.parse(readFileSync(`${ROOT}test/bench/result.json`, "utf8")) as BenchResult;

test("the page's figures are those of the kept result, in the bench's own tables", async () => {
  expect(await withBenchTables(PAGE, tablesOf(RESULT))).toBe(PAGE);
});

const run = (...args: string[]): string =>
  execFileSync(process.execPath, args, { cwd: ROOT, encoding: "utf8", stdio: "pipe" });
const runBench = (...args: string[]): BenchResult =>
  JSON.parse(run("test/bench/dist/main.js", ...args, "--json")) as BenchResult;
const SHORT = ["--rounds", "1", "--seconds", "0.2"];

// Its types are checked with those of all tests.
beforeAll(() => void run("node_modules/typescript/bin/tsc", "-p", "test/bench", "--noCheck"));

test("a short run of the bench gives figures for our servers and for the baseline", () => {
  const servers = "express-nothing,signalbox-express5,signalbox-fastify,signalbox-hono,signalbox-traced";
  const { throughput, latency } = runBench("--only", "throughput,latency", "--servers", servers, ...SHORT);
  expect(throughput?.rows.map(({ server }) => server)).toEqual(servers.split(","));
  expect(throughput?.rows[0]?.ratio).toEqual({ median: 1, min: 1, max: 1 });
  for (const row of throughput?.rows ?? []) expect(row.requestsPerSecond.median).toBeGreaterThan(0);
  expect(throughput?.rows[1]?.keptBytesPerRequest).toBeGreaterThan(700);
  for (const row of latency?.rows ?? []) expect(row.p99.median).toBeGreaterThanOrEqual(row.p50.median);
});

testWith(findPostgres() !== undefined)(
  "a short run of the bench with PostgreSQL gives figures for all contenders",
  () => {
    const { postgres } = runBench("--only", "postgres", ...SHORT);
    expect(postgres?.requests.map(({ requestsPerSecond }) => requestsPerSecond.median > 0)).toEqual([true, true, true]);
    expect(postgres?.lifeCycles.map(({ eventsPerSecond }) => eventsPerSecond.median > 0)).toEqual(Array(5).fill(true));
    expect(postgres?.hotPercent).toBeGreaterThan(99);
    expect(postgres?.lifeCycles[0]?.walBytes.median).toBeLessThan(2500);
  },
);
