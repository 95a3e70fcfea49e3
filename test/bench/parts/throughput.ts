import {
  describeMeasured,
  formatMebibytes,
  formatNumber,
  formatOptional,
  formatRounds,
  formatSpread,
  type Measured,
} from "../report/format.js";
import type { BenchTable } from "../report/tables.js";
import { findBaseline, serverNamed, type Server } from "../servers/catalogue.js";
import { medianOrNull, medians, spreads } from "../statistics.js";
import { runClosedLoopRound, type ClosedLoopRound } from "./closed-loop-round.js";
import { inRounds, type PartContext } from "./part-context.js";

export type ThroughputResult = Awaited<ReturnType<typeof measureThroughput>>;

/** As many requests as each server can take. */
export async function measureThroughput(context: PartContext) {
  const { servers, rounds, seconds, connections, progress } = context;
  const measured = await inRounds(servers, rounds, async (server, round) => {
    const result = await runClosedLoopRound(context, server);
    progress(describe(server, round, result));
    return result;
  });
  const baseline = findBaseline(servers);
  const against = measured.find(({ value }) => value === baseline)?.results ?? [];
  const rows = measured.map(({ value, results }) => toRow(value, results, against));
  return { connections, seconds, rounds, baseline: baseline.label, rows };
}

function toRow({ name, keeps }: Server, rounds: ClosedLoopRound[], against: ClosedLoopRound[]) {
  return {
    server: name,
    ...spreads(rounds, {
      requestsPerSecond: (round) => round.requestsPerSecond,
      // Each round against the same round of the baseline.
      ratio: (round, index) => round.requestsPerSecond / (against[index] ?? round).requestsPerSecond,
      cpuMicrosPerRequest: (round) => round.cpuMicrosPerRequest,
      cpuRatio: (round, index) => round.cpuMicrosPerRequest / (against[index] ?? round).cpuMicrosPerRequest,
    }),
    ...medians(rounds, {
      loopP99: ({ value }) => value.loop.p99,
      loopMax: ({ value }) => value.loop.max,
      rssBytes: ({ value }) => value.rssBytes,
    }),
    writtenBytesPerRequest: medianOrNull(rounds.map((round) => round.writtenBytesPerRequest)),
    keptBytesPerRequest: medianOrNull(rounds.map((round) => keeps && round.fileBytes / round.acknowledged)),
    generatorBusy: Math.max(...rounds.map(({ value }) => value.load.generatorBusy)),
  };
}

function describe(server: Server, round: number, measured: ClosedLoopRound): string {
  const { requestsPerSecond, cpuMicrosPerRequest, value } = measured;
  const { load, loop, drainMs } = value;
  return [
    `throughput ${round + 1}  ${server.name.padEnd(18)} ${requestsPerSecond.toFixed(0).padStart(6)}/s`,
    `cpu ${cpuMicrosPerRequest.toFixed(1)} µs`,
    `p50 ${load.latency.p50.toFixed(1)} p99 ${load.latency.p99.toFixed(1)} ms`,
    `loop p99 ${loop.p99.toFixed(1)} max ${loop.max.toFixed(1)} ms`,
    `drain ${drainMs.toFixed(0)} ms`,
    `generator ${(load.generatorBusy * 100).toFixed(0)} %`,
  ].join("  ");
}

/** Above this share of one core the generator itself may be the limit. */
const BUSY = 0.9;

export function throughputTables(result: Measured<ThroughputResult>): BenchTable[] {
  const { rows, baseline, connections, seconds, rounds } = result;
  const measured = describeMeasured(result);
  const isAtItsLimit = ({ generatorBusy }: (typeof rows)[number]): boolean => generatorBusy > BUSY;
  const requests: BenchTable = {
    title: `Requests per second, ${connections} connections`,
    columns: ["", "requests/s", `× ${baseline}`, "CPU µs/request", "× its CPU"],
    rows: rows.map((row) => ({
      cells: [
        serverNamed(row.server).label,
        formatSpread(row.requestsPerSecond) + (isAtItsLimit(row) ? " †" : ""),
        formatSpread(row.ratio),
        formatSpread(row.cpuMicrosPerRequest),
        formatSpread(row.cpuRatio),
      ],
      isOurs: serverNamed(row.server).isOurs,
    })),
    notes: [
      `${formatRounds(rounds, seconds)} Ratios are taken in each round, then their median.`,
      "CPU is user and system time of the whole server process, with every hand-off.",
      ...(rows.some(isAtItsLimit) ? ["† The load generator was at its limit: the server can do more."] : []),
    ],
    measured,
  };
  const cost: BenchTable = {
    title: "What that costs the process",
    columns: ["", "loop delay p99 ms", "max ms", "memory", "bytes written/event", "bytes kept/event"],
    rows: rows.map((row) => ({
      cells: [
        serverNamed(row.server).label,
        formatNumber(row.loopP99),
        formatNumber(row.loopMax),
        formatMebibytes(row.rssBytes),
        formatOptional(row.writtenBytesPerRequest),
        formatOptional(row.keptBytesPerRequest),
      ],
      isOurs: serverNamed(row.server).isOurs,
    })),
    notes: [
      "In the same rounds, at full load: medians. Loop delay: what comes at a random moment waits for the event loop.",
      "Written: what the process caused at the disk, in whole pages. Kept: its files after it closed.",
    ],
    measured,
  };
  return [requests, cost];
}
