import {
  measureLifeCycles,
  rateOf,
  type Lane,
  type LaneRow,
  type Slices,
} from "../postgres/life-cycles.js";
import { startOwnServer } from "../postgres/own-server.js";
import { queryDatabase } from "../postgres/query-database.js";
import {
  formatNumber,
  formatRounds,
  medianOf,
  nameOf,
  ratioTo,
  spreadOf,
} from "../report/format.js";
import { barOf, makeTable, type PartFindings } from "../report/tables.js";
import { serverNamed, type Server } from "../servers/catalogue.js";
import {
  describeRound,
  rateOf as requestRateOf,
  runClosedLoopRound,
  type ClosedLoopRound,
} from "./closed-loop-round.js";
import { inRounds, type Measured, type PartContext } from "./part-context.js";

const SERVERS = ["express-nothing", "signalbox-postgres", "express-pg-insert"];

/** A receiver whose inbox is in PostgreSQL, and the store alone beside job queues. */
export async function measurePostgres(context: PartContext): Promise<PartFindings> {
  const { rounds, seconds, connections, machine, under, progress } = context;
  const server = await startOwnServer(under);
  try {
    const rows = await inRounds(SERVERS.map(serverNamed), rounds, async (each, round) => {
      const result = await runClosedLoopRound(context, each, {
        database: await server.newDatabase(),
      });
      progress(describeRound("postgres", round, each.name, result));
      return result;
    });
    const [nothing, , insert] = rows;
    const { version } = server;
    const requests = makeTable<Measured<Server, ClosedLoopRound>>(
      `With PostgreSQL, ${connections} connections`,
      rows,
      [
        ["", ({ value }) => nameOf(value)],
        ["requests/s", spreadOf(requestRateOf)],
        ["× Express 5, does nothing", ratioTo(requestRateOf, nothing?.results)],
        ["× one INSERT each", ratioTo(requestRateOf, insert?.results)],
        ["CPU µs/request", medianOf((round) => round.cpuMicrosPerRequest)],
      ],
      [
        `${formatRounds(rounds, seconds)} PostgreSQL ${version} on the same machine; CPU is without its own.`,
      ],
    );
    const own = await server.newDatabase();
    const lanes: Lane[] = [
      { label: "signalbox", name: "signalbox", url: own },
      {
        label: "signalbox, two processes",
        name: "signalbox",
        url: await server.newDatabase(),
        processes: 2,
      },
      { label: "one INSERT and one UPDATE each", name: "naive", url: await server.newDatabase() },
      { label: "pg-boss, in batches", name: "pg-boss", url: await server.newDatabase() },
      {
        label: "graphile-worker, in batches",
        name: "graphile-worker",
        url: await server.newDatabase(),
      },
    ];
    const cycles = await measureLifeCycles(server, lanes, context);
    const perEvent = (figure: "cpuMs" | "serverCpuMs" | "walBytes", unit = 1) =>
      medianOf((total: Slices) => (total[figure] * unit) / total.events);
    const lifeCycles = makeTable<LaneRow>(
      "Life cycles in PostgreSQL",
      cycles,
      [
        ["", ({ value }) => nameOf(value)],
        ["events/s", spreadOf(rateOf)],
        ["× signalbox", ratioTo(rateOf, cycles[0]?.results)],
        ["CPU µs/event", perEvent("cpuMs", 1000)],
        ["of the server", perEvent("serverCpuMs", 1000)],
        ["WAL bytes/event", perEvent("walBytes")],
      ],
      [
        `${formatRounds(rounds, seconds)} Each event is stored, fetched where a queue needs that, and marked as done; 64 are on their way.`,
        `Each in turn for half a second. The job queues store no key against repeats. ${formatNumber(await readHotPercent(own))} % of signalbox's updates touch no index.`,
      ],
    );
    const bars = cycles.map(({ value: { label, isOurs }, results }) => ({
      label,
      ...barOf(results.map(rateOf)),
      isOurs,
    }));
    const note = `Medians of ${rounds} rounds with their least and most, PostgreSQL ${version}, every commit on disk, ${machine.cores} cores.`;
    return { tables: [requests, lifeCycles], chart: { bars, note } };
  } finally {
    await server.stop();
  }
}

/** How many of the updates of the inbox touched no index. */
async function readHotPercent(database: string): Promise<number> {
  const query =
    "SELECT 100.0 * n_tup_hot_upd / n_tup_upd AS hot FROM pg_stat_user_tables WHERE relname = 'inbox'";
  return Number((await queryDatabase<{ hot: string }>(database, query)).hot);
}
