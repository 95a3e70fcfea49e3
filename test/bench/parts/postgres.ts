import { measureLifeCycles, type Lane, type LifeCycleRow } from "../postgres/life-cycles.js";
import { startOwnServer } from "../postgres/own-server.js";
import { queryDatabase } from "../postgres/query-database.js";
import { describeMeasured, formatNumber, formatRounds, formatSpread, type Measured } from "../report/format.js";
import type { BenchTable } from "../report/tables.js";
import { serverNamed } from "../servers/catalogue.js";
import { medians, spreads } from "../statistics.js";
import { runClosedLoopRound } from "./closed-loop-round.js";
import { inRounds, type PartContext } from "./part-context.js";

const SERVERS = ["express-nothing", "signalbox-postgres", "express-pg-insert"];

export type PostgresResult = Awaited<ReturnType<typeof measurePostgres>>;

/** A receiver whose inbox is in PostgreSQL, and the store alone beside job queues. */
export async function measurePostgres(context: PartContext) {
  const { rounds, seconds, connections, under, progress } = context;
  const server = await startOwnServer(under);
  try {
    const measured = await inRounds(SERVERS.map(serverNamed), rounds, async (each, round) => {
      const result = await runClosedLoopRound(context, each, { database: await server.newDatabase() });
      progress(`postgres ${round + 1}  ${each.name.padEnd(18)} ${result.requestsPerSecond.toFixed(0).padStart(6)}/s`);
      return result;
    });
    const [nothing = [], , insert = []] = measured.map(({ results }) => results);
    const requests = measured.map(({ value: { name }, results }) => ({
      server: name,
      ...spreads(results, {
        requestsPerSecond: (round) => round.requestsPerSecond,
        // Each round against the same round of the others.
        ratio: (round, index) => round.requestsPerSecond / (nothing[index] ?? round).requestsPerSecond,
        insertRatio: (round, index) => round.requestsPerSecond / (insert[index] ?? round).requestsPerSecond,
      }),
      ...medians(results, { cpuMicrosPerRequest: (round) => round.cpuMicrosPerRequest }),
    }));
    const own = await server.newDatabase();
    const lanes: Lane[] = [
      { label: "signalbox", name: "signalbox", url: own },
      { label: "signalbox, two processes", name: "signalbox", url: await server.newDatabase(), processes: 2 },
      { label: "one INSERT and one UPDATE each", name: "naive", url: await server.newDatabase() },
      { label: "pg-boss, in batches", name: "pg-boss", url: await server.newDatabase() },
      { label: "graphile-worker, in batches", name: "graphile-worker", url: await server.newDatabase() },
    ];
    const lifeCycles = await measureLifeCycles(server, lanes, context);
    const { version } = server;
    return { connections, seconds, rounds, version, requests, lifeCycles, hotPercent: await readHotPercent(own) };
  } finally {
    await server.stop();
  }
}

/** How many of the updates of the inbox touched no index. */
async function readHotPercent(database: string): Promise<number> {
  const query = "SELECT 100.0 * n_tup_hot_upd / n_tup_upd AS hot FROM pg_stat_user_tables WHERE relname = 'inbox'";
  return Number((await queryDatabase<{ hot: string }>(database, query)).hot);
}

export function postgresTables(result: Measured<PostgresResult>): BenchTable[] {
  const { connections, seconds, rounds, requests, lifeCycles, hotPercent, version } = result;
  const measured = describeMeasured(result);
  return [
    {
      title: `With PostgreSQL, ${connections} connections`,
      columns: ["", "requests/s", "× Express 5, does nothing", "× one INSERT each", "CPU µs/request"],
      rows: requests.map((row) => ({
        cells: [
          serverNamed(row.server).label,
          formatSpread(row.requestsPerSecond),
          formatSpread(row.ratio),
          formatSpread(row.insertRatio),
          formatNumber(row.cpuMicrosPerRequest),
        ],
        isOurs: serverNamed(row.server).isOurs,
      })),
      notes: [`${formatRounds(rounds, seconds)} PostgreSQL ${version} on the same machine; CPU is without its own.`],
      measured,
    },
    lifeCycleTable("Life cycles in PostgreSQL", lifeCycles, measured, [
      `${formatRounds(rounds, seconds)} Each event is stored, fetched where a queue needs that, and marked as done; 64 are on their way.`,
      `Each in turn for half a second. The job queues store no key against repeats. ${formatNumber(hotPercent)} % of signalbox's updates touch no index.`,
    ]),
  ];
}

export function lifeCycleTable(
  title: string,
  rows: readonly LifeCycleRow[],
  measured: string,
  notes: readonly string[],
): BenchTable {
  return {
    title,
    columns: ["", "events/s", `× ${rows[0]?.label}`, "CPU µs/event", "of the server", "WAL bytes/event"],
    rows: rows.map((row) => ({
      cells: [
        row.label,
        formatSpread(row.eventsPerSecond),
        formatSpread(row.ratio),
        formatNumber(row.cpuMicros.median),
        formatNumber(row.serverCpuMicros.median),
        formatNumber(row.walBytes.median),
      ],
      isOurs: row.isOurs,
    })),
    notes,
    measured,
  };
}
