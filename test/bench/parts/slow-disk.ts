import { makeSlowDisk } from "../disk/slow-disk.js";
import type { SlowDiskResult, SlowDiskRow } from "../result.js";
import type { Server } from "../servers/catalogue.js";
import { spread, type Spread } from "../statistics.js";
import { runClosedLoopRound, type ClosedLoopRound } from "./closed-loop-round.js";
import { rotated, type PartContext } from "./part-context.js";

const SYNC_MS = 8;

/** Whether a slow disk stops the event loop, and with it everything else that the host does. */
export async function measureSlowDisk(context: PartContext): Promise<SlowDiskResult> {
  const { servers, rounds, connections, under, progress } = context;
  const frame = { syncMs: SYNC_MS, connections, rounds };
  const slow = await makeSlowDisk(under, SYNC_MS);
  if ("skipped" in slow) {
    progress(`slow disk  skipped: ${slow.skipped}`);
    return { ...frame, skipped: slow.skipped, rows: [] };
  }
  const measured = new Map<string, ClosedLoopRound[]>(servers.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const server of rotated(servers, round)) {
      const result = await runClosedLoopRound(context, server, { env: slow.env });
      measured.get(server.name)?.push(result);
      const { requestsPerSecond, value } = result;
      progress(
        `slow disk ${round + 1}  ${server.name.padEnd(18)} ${requestsPerSecond.toFixed(0).padStart(6)}/s  loop p99 ${value.loop.p99.toFixed(1)} max ${value.loop.max.toFixed(1)} ms  p50 ${value.load.latency.p50.toFixed(1)} ms`,
      );
    }
  }
  return { ...frame, rows: servers.map((server) => toRow(server, measured.get(server.name) ?? [])) };
}

function toRow({ name, label }: Server, rounds: ClosedLoopRound[]): SlowDiskRow {
  const over = (valueOf: (round: ClosedLoopRound) => number): Spread => spread(rounds.map(valueOf));
  return {
    server: name,
    label,
    requestsPerSecond: over((round) => round.requestsPerSecond),
    loopP99: over(({ value }) => value.loop.p99),
    loopMax: over(({ value }) => value.loop.max),
    p50: over(({ value }) => value.load.latency.p50),
    p99: over(({ value }) => value.load.latency.p99),
  };
}
