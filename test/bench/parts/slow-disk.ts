import { makeSlowDisk } from "../disk/slow-disk.js";
import { describeMeasured, formatNumber, formatRounds, formatSpread, type Measured } from "../report/format.js";
import type { BenchTable } from "../report/tables.js";
import { serverNamed } from "../servers/catalogue.js";
import { medians, spreads } from "../statistics.js";
import { runClosedLoopRound } from "./closed-loop-round.js";
import { inRounds, type PartContext } from "./part-context.js";

const SYNC_MS = 8;

type Measurement = Awaited<ReturnType<typeof measureSlowDisk>>;
/** A result that was kept before these were measured has no `loads`. */
export type SlowDiskResult = Omit<Measurement, "loads"> & Partial<Measurement>;

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
  const loads = "skipped" in slow ? [] : await measureLoads(context, slow.env);
  return { syncMs: SYNC_MS, connections, rounds, ...(skipped !== undefined && { skipped }), rows, loads };
}

const LOADS = [1, 16, 64].flatMap((connections) => [false, true].map((isSerial) => ({ connections, isSerial })));

/** How much of a sync each answer takes, on a disk whose syncs overlap and on one whose syncs do not. */
async function measureLoads(context: PartContext, env: NodeJS.ProcessEnv) {
  const { rounds, progress } = context;
  const measured = await inRounds(LOADS, rounds, async ({ connections, isSerial }, round) => {
    const result = await runClosedLoopRound({ ...context, connections }, serverNamed("signalbox-node"), {
      env: isSerial ? { ...env, SLOW_SYNC_SERIAL: "1" } : env,
    });
    progress(
      `slow disk ${round + 1}  ${connections} connections${isSerial ? ", serial" : ""}  ${result.requestsPerSecond.toFixed(0)}/s`,
    );
    return result;
  });
  return measured.map(({ value, results }) => ({
    ...value,
    ...spreads(results, {
      requestsPerSecond: (round) => round.requestsPerSecond,
      syncShare: (round) => (round.requestsPerSecond * SYNC_MS) / 1000 / value.connections,
    }),
    ...medians(results, {
      p50: ({ value: { load } }) => load.latency.p50,
      p99: ({ value: { load } }) => load.latency.p99,
    }),
  }));
}

export function slowDiskTables(result: Measured<SlowDiskResult>): BenchTable[] {
  const { rows, loads = [], syncMs, connections, rounds, skipped } = result;
  const measured = describeMeasured(result);
  const servers: BenchTable = {
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
    measured,
  };
  if (loads.length === 0) return [servers];
  return [
    servers,
    {
      title: `signalbox on node:http, a disk whose sync takes ${syncMs} ms`,
      columns: ["", "requests/s", "answer p50 ms", "p99 ms", "share of a sync for each answer"],
      rows: loads.map(({ connections: count, isSerial, ...load }) => ({
        cells: [
          `${count} ${count === 1 ? "connection" : "connections"}${isSerial ? ", syncs cannot overlap" : ""}`,
          formatSpread(load.requestsPerSecond),
          formatNumber(load.p50),
          formatNumber(load.p99),
          formatSpread(load.syncShare),
        ],
        isOurs: !isSerial,
      })),
      notes: [
        `${formatRounds(rounds)} Share: requests/s × ${syncMs / 1000} s / connections. With 1, no answer waits longer than its sync.`,
      ],
      measured,
    },
  ];
}
