import { FIRST_SENT } from "../load/events.js";
import type { ContenderSpec, Handled } from "../postgres/contender.js";
import { queryDatabase, startOwnServer, type OwnServer } from "../postgres/own-server.js";
import { startProcess, type BenchProcess } from "../processes/start-process.js";
import {
  formatNumber,
  formatRounds,
  medianOf,
  nameOf,
  ratioTo,
  spreadOf,
} from "../report/format.js";
import { barOf, makeTable, type PartFindings } from "../report/tables.js";
import { serverNamed, type Server } from "../servers/servers.js";
import type { Measured, PartContext } from "./part-context.js";
import { CPU, NAME, rateOf, runRounds, type Round } from "./run-round.js";

const SERVERS = ["express-nothing", "signalbox-postgres", "express-pg-insert"];

/** A receiver whose inbox is in PostgreSQL, and the store alone beside job queues. */
export async function measurePostgres(context: PartContext): Promise<PartFindings> {
  const { rounds, seconds, connections, machine, under } = context;
  const server = await startOwnServer(under);
  try {
    const servers = SERVERS.map(serverNamed);
    const rows = await runRounds("postgres", { ...context, servers }, async () => ({
      database: await server.newDatabase(),
    }));
    const [nothing, , insert] = rows;
    const { version } = server;
    const requests = makeTable<Measured<Server, Round>>(
      `With PostgreSQL, ${connections} connections`,
      rows,
      [
        NAME,
        ["requests/s", spreadOf(rateOf)],
        ["× Express 5, does nothing", ratioTo(rateOf, nothing?.results)],
        ["× one INSERT each", ratioTo(rateOf, insert?.results)],
        CPU,
      ],
      [
        `${formatRounds(rounds, seconds)} PostgreSQL ${version} on the same machine; CPU is without its own.`,
      ],
    );
    const own = await server.newDatabase();
    const lanes: Lane[] = [
      { label: "signalbox", name: "signalbox", url: own },
      { label: "signalbox, two processes", name: "signalbox", processes: 2 },
      { label: "one INSERT and one UPDATE each", name: "naive" },
      { label: "pg-boss, in batches", name: "pg-boss" },
      { label: "graphile-worker, in batches", name: "graphile-worker" },
    ];
    const cycles = await measureLifeCycles(server, lanes, context);
    const perEvent = (figure: "cpuMs" | "serverCpuMs" | "walBytes", unit = 1) =>
      medianOf((total: Slices) => (total[figure] * unit) / total.events);
    const lifeCycles = makeTable<LaneRow>(
      "Life cycles in PostgreSQL",
      cycles,
      [
        ["", ({ value }) => nameOf(value)],
        ["events/s", spreadOf(eventRateOf)],
        ["× signalbox", ratioTo(eventRateOf, cycles[0]?.results)],
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
      ...barOf(results.map(eventRateOf)),
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

/** Processes that handle events at once, in one database. */
interface Lane {
  label: string;
  name: ContenderSpec["name"];
  /** Absent: a new database. */
  url?: string;
  processes?: number;
}

/** So short that a machine that is busy for a while is so for all lanes. */
const SLICE_MS = 500;
/** More than a lane handles in a slice. */
const NUMBERS = 100_000;

/** What one lane did in a round. */
type Slices = Record<"events" | "elapsedMs" | "cpuMs" | "serverCpuMs" | "walBytes", number>;
type LaneRow = Measured<{ label: string; isOurs: boolean }, Slices>;

/** Each lane in turn for a short while, again and again. */
async function measureLifeCycles(
  server: OwnServer,
  lanes: readonly Lane[],
  context: PartContext,
): Promise<LaneRow[]> {
  const { rounds, seconds, progress } = context;
  const started: { lane: Lane; children: BenchProcess[]; results: Slices[] }[] = [];
  for (const lane of lanes) {
    const { name, url = await server.newDatabase() } = lane;
    const children = Array.from({ length: lane.processes ?? 1 }, () =>
      startProcess("postgres/contender.js", { name, url } satisfies ContenderSpec),
    );
    started.push({ lane, children, results: [] });
  }
  let from = FIRST_SENT;

  async function handle({ children }: (typeof started)[number], ms: number): Promise<Slices> {
    const before = { wal: await server.walBytes(), cpuMs: server.cpuMs() };
    const handled = await Promise.all(
      children.map((child) => child.ask<Handled>("handle", { from: (from += NUMBERS), ms })),
    );
    const cpuMs = server.cpuMs();
    const total = (figure: "events" | "cpuMs"): number =>
      handled.reduce((sum, each) => sum + each[figure], 0);
    return {
      events: total("events"),
      elapsedMs: Math.max(...handled.map(({ elapsedMs }) => elapsedMs)),
      cpuMs: total("cpuMs"),
      serverCpuMs: cpuMs === null || before.cpuMs === null ? Number.NaN : cpuMs - before.cpuMs,
      walBytes: (await server.walBytes()) - before.wal,
    };
  }

  try {
    for (const each of started) await handle(each, SLICE_MS);
    for (let round = 0; round < rounds; round++) {
      const figures = new Map(started.map((each) => [each, [] as Slices[]]));
      for (let slice = 0; slice < (seconds * 1000) / SLICE_MS; slice++) {
        for (const each of started) figures.get(each)?.push(await handle(each, SLICE_MS));
      }
      for (const [each, slices] of figures) {
        const total = slices.reduce((a, b) => addSlices(a, b));
        each.results.push(total);
        const rate = eventRateOf(total).toFixed(0).padStart(6);
        progress(`life cycles ${round + 1}  ${each.lane.label.padEnd(28)} ${rate}/s`);
      }
    }
    for (const { children } of started)
      await Promise.all(children.map((child) => child.ask("close")));
  } finally {
    for (const { children } of started) await Promise.all(children.map((child) => child.stop()));
  }
  return started.map(({ lane: { label, name }, results }) => ({
    value: { label, isOurs: name === "signalbox" },
    results,
  }));
}

const eventRateOf = ({ events, elapsedMs }: Slices): number => (events / elapsedMs) * 1000;

function addSlices(a: Slices, b: Slices): Slices {
  const names = Object.keys(a) as (keyof Slices)[];
  return Object.fromEntries(names.map((name) => [name, a[name] + b[name]])) as Slices;
}
