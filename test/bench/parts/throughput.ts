import type { ThroughputResult, ThroughputRow } from "../result.js";
import { findBaseline, type Server } from "../servers/catalogue.js";
import { spread, spreadOrNull } from "../statistics.js";
import { runClosedLoopRound, type ClosedLoopRound } from "./closed-loop-round.js";
import { rotated, type PartContext } from "./part-context.js";

/** As much as each server can take. */
export async function measureThroughput(context: PartContext): Promise<ThroughputResult> {
  const { servers, rounds, seconds, connections, progress } = context;
  const measured = new Map<string, ClosedLoopRound[]>(servers.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const server of rotated(servers, round)) {
      const result = await runClosedLoopRound(context, server);
      measured.get(server.name)?.push(result);
      progress(describe(server, round, result));
    }
  }
  const baseline = findBaseline(servers);
  const against = measured.get(baseline.name) ?? [];
  const rows = servers.map((server) => toRow(server, measured.get(server.name) ?? [], against));
  return { connections, seconds, rounds, baseline: baseline.label, rows };
}

function toRow({ name, label, keeps }: Server, rounds: ClosedLoopRound[], against: ClosedLoopRound[]): ThroughputRow {
  const over = (valueOf: (round: ClosedLoopRound) => number): ReturnType<typeof spread> => spread(rounds.map(valueOf));
  const ratio = (valueOf: (round: ClosedLoopRound) => number): ReturnType<typeof spread> =>
    spread(rounds.map((round, index) => valueOf(round) / valueOf(against[index] ?? round)));
  return {
    server: name,
    label,
    requestsPerSecond: over((round) => round.requestsPerSecond),
    ratio: ratio((round) => round.requestsPerSecond),
    cpuMicrosPerRequest: over((round) => round.cpuMicrosPerRequest),
    cpuRatio: ratio((round) => round.cpuMicrosPerRequest),
    mainThreadMicrosPerRequest: spreadOrNull(rounds.map((round) => round.mainThreadMicrosPerRequest)),
    loopP99: over(({ value }) => value.loop.p99),
    loopMax: over(({ value }) => value.loop.max),
    rssBytes: over(({ value }) => value.rssBytes),
    writtenBytesPerRequest: spreadOrNull(rounds.map((round) => round.writtenBytesPerRequest)),
    keptBytesPerRequest: keeps === null ? null : over((round) => round.fileBytes / round.acknowledged),
    generatorBusy: Math.max(...rounds.map(({ value }) => value.load.generatorBusy)),
  };
}

function describe(server: Server, round: number, measured: ClosedLoopRound): string {
  const { requestsPerSecond, cpuMicrosPerRequest, mainThreadMicrosPerRequest, value } = measured;
  const { load, loop, drainMs } = value;
  return [
    `throughput ${round + 1}  ${server.name.padEnd(18)} ${requestsPerSecond.toFixed(0).padStart(6)}/s`,
    `cpu ${cpuMicrosPerRequest.toFixed(1)} µs`,
    mainThreadMicrosPerRequest === null ? "" : `main thread ${mainThreadMicrosPerRequest.toFixed(1)} µs`,
    `p50 ${load.latency.p50.toFixed(1)} p99 ${load.latency.p99.toFixed(1)} ms`,
    `loop p99 ${loop.p99.toFixed(1)} max ${loop.max.toFixed(1)} ms`,
    `drain ${drainMs.toFixed(0)} ms`,
    `generator ${(load.generatorBusy * 100).toFixed(0)} %`,
  ].join("  ");
}
