import { execFileSync } from "node:child_process";
import { startProcess } from "../processes/start-process.js";
import { describeMeasured, formatNumber, formatRounds, formatSpread, type Measured } from "../report/format.js";
import type { BenchTable } from "../report/tables.js";
import { serverNamed } from "../servers/catalogue.js";
import { medians, spreads } from "../statistics.js";
import { runClosedLoopRound } from "./closed-loop-round.js";
import { inRounds, type PartContext } from "./part-context.js";

const SERVER_CORE = 0;
const GENERATOR_CORE = 1;

/** Each of our servers is compared with its own framework. */
const BASELINES = new Map([
  ["signalbox-express5", "express-nothing"],
  ["signalbox-express4", "express-nothing"],
  ["signalbox-node", "node-nothing"],
  ["node-verified", "node-nothing"],
]);
/** What everyone needs who keeps nothing: ours on `node:http` is compared with it too. */
const VERIFIED = "node-verified";
const ON_NODE = "signalbox-node";

export type OneCoreResult = Awaited<ReturnType<typeof measureOneCore>>;

/** As `throughput`, but neither the load generator nor other threads of the server lend it a second core. */
export async function measureOneCore(context: PartContext) {
  const { rounds, seconds, connections, progress } = context;
  const skipped = whySkipped();
  if (skipped !== undefined) progress(`one core  skipped: ${skipped}`);
  const servers = skipped === undefined ? context.servers : [];
  const generator = startProcess("load/generator.js", {}, { core: GENERATOR_CORE });
  try {
    const measured = await inRounds(servers, rounds, async (server, round) => {
      const result = await runClosedLoopRound({ ...context, generator }, server, { core: SERVER_CORE });
      const { requestsPerSecond, cpuMicrosPerRequest, value } = result;
      progress(
        `one core ${round + 1}  ${server.name.padEnd(18)} ${requestsPerSecond.toFixed(0).padStart(6)}/s  cpu ${cpuMicrosPerRequest.toFixed(1)} µs  p50 ${value.load.latency.p50.toFixed(1)} p99 ${value.load.latency.p99.toFixed(1)} ms`,
      );
      return result;
    });
    const verified = measured.find(({ value }) => value.name === VERIFIED)?.results;
    const rows = measured.map(({ value: { name }, results }) => {
      const baseline = BASELINES.get(name) ?? name;
      const against = measured.find(({ value }) => value.name === baseline)?.results ?? [];
      return {
        server: name,
        ...spreads(results, {
          requestsPerSecond: (round) => round.requestsPerSecond,
          // Each round against the same round of the baseline.
          ratio: (round, index) => round.requestsPerSecond / (against[index] ?? round).requestsPerSecond,
        }),
        ...(name === ON_NODE && verified !== undefined
          ? spreads(results, {
              verifiedRatio: (round, index) => round.requestsPerSecond / (verified[index] ?? round).requestsPerSecond,
            })
          : {}),
        ...medians(results, { cpuMicrosPerRequest: (round) => round.cpuMicrosPerRequest }),
      };
    });
    return { connections, seconds, rounds, ...(skipped !== undefined && { skipped }), rows };
  } finally {
    await generator.stop();
  }
}

function whySkipped(): string | undefined {
  try {
    execFileSync("taskset", ["-c", `${SERVER_CORE},${GENERATOR_CORE}`, "true"], { stdio: "pipe" });
    return undefined;
  } catch (error) {
    return `no second core to be had with taskset: ${(error as Error).message}`;
  }
}

export function oneCoreTable(result: Measured<OneCoreResult>): BenchTable {
  const { rows, connections, seconds, rounds, skipped } = result;
  const isVerifiedMeasured = rows.some((row) => row.verifiedRatio !== undefined);
  return {
    title: `The server held to one core, ${connections} connections`,
    columns: [
      "",
      "requests/s",
      "× its framework, does nothing",
      ...(isVerifiedMeasured ? [`× ${serverNamed(VERIFIED).label}`] : []),
      "CPU µs/request",
    ],
    rows: rows.map((row) => ({
      cells: [
        serverNamed(row.server).label,
        formatSpread(row.requestsPerSecond),
        formatSpread(row.ratio),
        ...(isVerifiedMeasured ? [row.verifiedRatio === undefined ? "–" : formatSpread(row.verifiedRatio)] : []),
        formatNumber(row.cpuMicrosPerRequest),
      ],
      isOurs: serverNamed(row.server).isOurs,
    })),
    notes: [
      skipped === undefined
        ? `${formatRounds(rounds, seconds)} The load comes from another core. Ratios are taken in each round, then their median.`
        : `Skipped: ${skipped}.`,
    ],
    measured: describeMeasured(result),
  };
}
