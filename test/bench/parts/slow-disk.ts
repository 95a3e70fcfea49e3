import { makeSlowDisk } from "../disk/slow-disk.js";
import { describeMeasured, formatNumber, formatRounds, formatSpread, type Measured } from "../report/format.js";
import type { BenchTable } from "../report/tables.js";
import { serverNamed } from "../servers/catalogue.js";
import { medians, spreads } from "../statistics.js";
import { runClosedLoopRound } from "./closed-loop-round.js";
import { inRounds, type PartContext } from "./part-context.js";

const SYNC_MS = 8;

export type SlowDiskResult = Awaited<ReturnType<typeof measureSlowDisk>>;

/** Whether a slow disk stops the event loop, and with it everything else that the host does. */
export async function measureSlowDisk(context: PartContext) {
  const { rounds, connections, under, progress } = context;
  const slow = await makeSlowDisk(under, SYNC_MS);
  const skipped = "skipped" in slow ? slow.skipped : undefined;
  if (skipped !== undefined) progress(`slow disk  skipped: ${skipped}`);
  const servers = "skipped" in slow ? [] : context.servers;
  const env = "skipped" in slow ? {} : slow.env;
  const measured = await inRounds(servers, rounds, async (server, round) => {
    const result = await runClosedLoopRound(context, server, { env });
    const { requestsPerSecond, value } = result;
    progress(
      `slow disk ${round + 1}  ${server.name.padEnd(18)} ${requestsPerSecond.toFixed(0).padStart(6)}/s  loop p99 ${value.loop.p99.toFixed(1)} max ${value.loop.max.toFixed(1)} ms  p50 ${value.load.latency.p50.toFixed(1)} ms`,
    );
    return result;
  });
  const rows = measured.map(({ value: { name }, results }) => ({
    server: name,
    ...spreads(results, {
      loopP99: ({ value }) => value.loop.p99,
      loopMax: ({ value }) => value.loop.max,
    }),
    ...medians(results, {
      requestsPerSecond: (round) => round.requestsPerSecond,
      p50: ({ value }) => value.load.latency.p50,
      p99: ({ value }) => value.load.latency.p99,
    }),
  }));
  return { syncMs: SYNC_MS, connections, rounds, ...(skipped !== undefined && { skipped }), rows };
}

export function slowDiskTable(result: Measured<SlowDiskResult>): BenchTable {
  const { rows, syncMs, connections, rounds, skipped } = result;
  return {
    title: `A disk whose sync takes ${syncMs} ms, ${connections} connections`,
    columns: ["", "loop delay p99 ms", "max ms", "requests/s", "answer p50 ms", "p99 ms"],
    rows: rows.map((row) => ({
      cells: [
        serverNamed(row.server).label,
        formatSpread(row.loopP99),
        formatSpread(row.loopMax),
        formatNumber(row.requestsPerSecond),
        formatNumber(row.p50),
        formatNumber(row.p99),
      ],
      isOurs: serverNamed(row.server).isOurs,
    })),
    notes: [
      skipped === undefined
        ? `${formatRounds(rounds)} Loop delay: what comes at a random moment waits for the event loop.`
        : `Skipped: ${skipped}.`,
    ],
    measured: describeMeasured(result),
  };
}
