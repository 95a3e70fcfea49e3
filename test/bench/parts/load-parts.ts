// The parts that send load to servers.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { sqliteStore } from "signalbox/stores/sqlite";
import { makeSlowDisk } from "../disk/slow-disk.js";
import { fillStore } from "../load/fill-store.js";
import { startProcess } from "../processes/start-process.js";
import {
  formatCount,
  formatMebibytes,
  formatOptional,
  formatRounds,
  medianOf,
  nameOf,
  ratioTo,
  spreadOf,
} from "../report/format.js";
import {
  barOf,
  makeTable,
  type BenchTable,
  type Column,
  type PartFindings,
} from "../report/tables.js";
import { findBaseline, serverNamed, type Server } from "../servers/servers.js";
import { median, medianOrNull } from "../statistics.js";
import { inRounds, type Measured, type PartContext } from "./part-context.js";
import { CPU, cpuOf, NAME, rateOf, runRound, runRounds, type Round } from "./run-round.js";

type Row = Measured<Server, Round>;

/** As many requests as each server can take. */
export async function measureThroughput(context: PartContext): Promise<Required<PartFindings>> {
  const { servers, rounds, seconds, connections, machine } = context;
  const rows = await runRounds("throughput", context);
  const baseline = findBaseline(servers);
  const against = rows.find(({ value }) => value === baseline)?.results ?? [];
  // Above this share of one core the generator itself may be the limit.
  const isAtItsLimit = ({ results }: Row): boolean =>
    results.some(({ load }) => load.generatorBusy > 0.9);
  const requests = makeTable<Row>(
    `Requests per second, ${connections} connections`,
    rows,
    [
      NAME,
      ["requests/s", (row) => spreadOf(rateOf)(row) + (isAtItsLimit(row) ? " †" : "")],
      [`× ${baseline.label}`, ratioTo(rateOf, against)],
      ["CPU µs/request", spreadOf(cpuOf)],
      ["× its CPU", ratioTo(cpuOf, against)],
    ],
    [
      `${formatRounds(rounds, seconds)} Ratios are taken in each round, then their median.`,
      "CPU is user and system time of the whole server process, with every hand-off.",
      ...(rows.some(isAtItsLimit)
        ? ["† The load generator was at its limit: the server can do more."]
        : []),
    ],
  );
  const optionalOf =
    (figure: (round: Round, server: Server) => number | null) =>
    ({ value, results }: Row): string =>
      formatOptional(medianOrNull(results.map((round) => figure(round, value))));
  const cost = makeTable<Row>(
    "What that costs the process",
    rows,
    [
      NAME,
      ["loop delay p99 ms", medianOf(({ loop }) => loop.p99)],
      ["max ms", medianOf(({ loop }) => loop.max)],
      ["memory", ({ results }) => formatMebibytes(median(results.map((each) => each.rssBytes)))],
      ["bytes written/event", optionalOf((round) => round.writtenBytesPerRequest)],
      [
        "bytes kept/event",
        optionalOf((round, { keeps }) => keeps && round.fileBytes / round.acknowledged),
      ],
    ],
    [
      "In the same rounds, at full load: medians. Loop delay: what comes at a random moment waits for the event loop.",
      "Written: what the process caused at the disk, in whole pages. Kept: its files after it closed.",
    ],
  );
  const bars = rows.map(({ value: { label, isOurs, keeps }, results }) => {
    const bar = barOf(results.map(rateOf));
    const text = `${bar.text}, ${keeps === null ? "nothing" : "each"} on disk`;
    return { label, ...bar, text, isOurs };
  });
  const note = `Medians of ${rounds} rounds with their least and most, ${connections} connections, signed bodies of 700 bytes, ${machine.cores} cores.`;
  return { tables: [requests, cost], chart: { bars, note } };
}

/** Near its limit a server only grows its queue, and the times say little about the server. */
const SHARE_OF_SLOWEST = 0.5;
/**
 * A generator that is later than this with more than one request in a hundred disturbs the
 * measurement.
 */
const LATE_MS = 1;

/**
 * How long an answer takes when requests come at half of the rate that the slowest server takes.
 *
 * @param known the measured rate of each; without it, each server is tried once
 */
export async function measureLatency(
  context: PartContext,
  known?: readonly number[],
): Promise<PartFindings> {
  const { servers, rounds, seconds } = context;
  const rates = [...(known ?? [])];
  for (const server of known === undefined ? servers : [])
    rates.push(rateOf(await runRound("latency, its rate", { ...context, seconds: 1 }, server)));
  const limit = Math.min(...rates) * SHARE_OF_SLOWEST;
  // Rounded down to two digits: 1 234 becomes 1 200.
  const step = 10 ** Math.max(0, Math.floor(Math.log10(limit)) - 1);
  const requestsPerSecond = Math.max(1, Math.floor(limit / step) * step);

  const rows = await runRounds("latency", context, () => ({ requestsPerSecond }));
  const isLate = ({ results }: Row): boolean =>
    results.some(({ load }) => (load.lateP99 ?? 0) > LATE_MS);
  const median50 = spreadOf<Round>(({ load }) => load.latency.p50);
  const table = makeTable<Row>(
    `Time to the answer at ${formatCount(requestsPerSecond)} requests per second`,
    rows,
    [
      NAME,
      ["p50 ms", (row) => median50(row) + (isLate(row) ? " †" : "")],
      ["p99 ms", spreadOf(({ load }) => load.latency.p99)],
      ["p99.9 ms", spreadOf(({ load }) => load.latency.p999)],
      ["loop delay p99 ms", medianOf(({ loop }) => loop.p99)],
      ["max ms", medianOf(({ loop }) => loop.max)],
    ],
    [
      `${formatRounds(rounds, seconds)} Requests come at a fixed rate; the time runs from when each was due.`,
      // The nearest rank: no value between two measured ones.
      ...(requestsPerSecond * seconds < 1000
        ? ["Of fewer than 1,000 requests, p99.9 is the slowest."]
        : []),
      ...(rows.some(isLate)
        ? ["† The load generator was late with some of them: a busy machine."]
        : []),
    ],
  );
  return { tables: [table] };
}

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

/**
 * As `throughput`, but neither the load generator nor other threads of the server lend it a second
 * core.
 */
export async function measureOneCore(context: PartContext): Promise<PartFindings> {
  const { rounds, seconds, connections } = context;
  const title = `The server held to one core, ${connections} connections`;
  const reason = whyNoSecondCore();
  if (reason !== undefined) return skipped(context, title, reason);
  const generator = startProcess("load/generator.js", {}, { core: GENERATOR_CORE });
  try {
    const onCore = { core: SERVER_CORE };
    const rows = await runRounds("one core", { ...context, generator }, () => onCore);
    const of = (name: string) => rows.find(({ value }) => value.name === name)?.results;
    const verified = of(VERIFIED);
    const isCompared = of(ON_NODE) !== undefined && verified !== undefined;
    const compared: Column<Row> = [
      `× ${serverNamed(VERIFIED).label}`,
      (row) => (row.value.name === ON_NODE ? ratioTo(rateOf, verified)(row) : "–"),
    ];
    const table = makeTable<Row>(
      title,
      rows,
      [
        NAME,
        ["requests/s", spreadOf(rateOf)],
        [
          "× its framework, does nothing",
          (row) => ratioTo(rateOf, of(BASELINES.get(row.value.name) ?? row.value.name))(row),
        ],
        ...(isCompared ? [compared] : []),
        CPU,
      ],
      [
        `${formatRounds(rounds, seconds)} The load comes from another core. Ratios are taken in each round, then their median.`,
      ],
    );
    return { tables: [table] };
  } finally {
    await generator.stop();
  }
}

/** Of a part that this machine cannot measure. */
function skipped({ progress }: PartContext, title: string, reason: string): PartFindings {
  progress(`${title}  skipped: ${reason}`);
  return { tables: [makeTable(title, [], [], [`Skipped: ${reason}.`])] };
}

function whyNoSecondCore(): string | undefined {
  try {
    execFileSync("taskset", ["-c", `${SERVER_CORE},${GENERATOR_CORE}`, "true"], { stdio: "pipe" });
    return undefined;
  } catch (error) {
    return `no second core to be had with taskset: ${(error as Error).message}`;
  }
}

const SYNC_MS = 8;

/** Whether a slow disk stops the event loop, and with it everything else that the host does. */
export async function measureSlowDisk(context: PartContext): Promise<PartFindings> {
  const { rounds, connections, under } = context;
  const title = `A disk whose sync takes ${SYNC_MS} ms, ${connections} connections`;
  const slow = makeSlowDisk(under, SYNC_MS);
  if ("skipped" in slow) return skipped(context, title, slow.skipped);
  const rows = await runRounds("slow disk", context, () => slow);
  const table = makeTable<Row>(
    title,
    rows,
    [
      NAME,
      ["loop delay p99 ms", spreadOf(({ loop }) => loop.p99)],
      ["max ms", spreadOf(({ loop }) => loop.max)],
      ["requests/s", medianOf(rateOf)],
      ["answer p50 ms", medianOf(({ load }) => load.latency.p50)],
      ["p99 ms", medianOf(({ load }) => load.latency.p99)],
    ],
    [`${formatRounds(rounds)} Loop delay: what comes at a random moment waits for the event loop.`],
  );
  return { tables: [table, await measureSyncs(context, slow.env)] };
}

/**
 * How much of a sync each answer takes, on a disk whose syncs overlap and on one whose syncs do
 * not.
 */
async function measureSyncs(context: PartContext, env: NodeJS.ProcessEnv): Promise<BenchTable> {
  const loads = [1, 16, 64].flatMap((connections) =>
    [false, true].map((isSerial) => {
      const words = `${connections} ${connections === 1 ? "connection" : "connections"}`;
      const label = isSerial ? `${words}, syncs cannot overlap` : words;
      return { connections, label, isOurs: !isSerial };
    }),
  );
  const rows = await inRounds(loads, context.rounds, ({ connections, label, isOurs }, round) => {
    const serial = isOurs ? env : { ...env, SLOW_SYNC_SERIAL: "1" };
    const title = `slow disk ${round + 1}, ${label}`;
    return runRound(title, { ...context, connections }, serverNamed(ON_NODE), { env: serial });
  });
  return makeTable<(typeof rows)[number]>(
    `signalbox on node:http, a disk whose sync takes ${SYNC_MS} ms`,
    rows,
    [
      ["", ({ value }) => nameOf(value)],
      ["requests/s", spreadOf(rateOf)],
      ["answer p50 ms", medianOf(({ load }) => load.latency.p50)],
      ["p99 ms", medianOf(({ load }) => load.latency.p99)],
      [
        "share of a sync for each answer",
        (row) =>
          spreadOf<Round>((round) => (rateOf(round) * SYNC_MS) / 1000 / row.value.connections)(row),
      ],
    ],
    [
      `${formatRounds(context.rounds)} Share: requests/s × ${SYNC_MS / 1000} s / connections. With 1, no answer waits longer than its sync.`,
    ],
  );
}

/** Younger than the events whose payload retention drops. */
const OLDEST_MS = 5 * 86_400_000;

interface ScaleRow {
  server: Server;
  events: number;
  fileBytes: number;
  results: readonly Round[];
  /** The same rounds with an empty inbox. */
  empty: readonly Round[];
}

/** Whether an inbox that holds millions of events is slower than an empty one. */
export async function measureScaleEvents(
  context: PartContext,
  events: number,
): Promise<PartFindings> {
  const { servers, rounds, seconds, connections, under, progress } = context;
  const folder = mkdtempSync(join(under, "filled-"));
  try {
    await fillStore(sqliteStore(join(folder, "inbox.db")), {
      events,
      betweenMs: OLDEST_MS / events,
      isMixed: false,
      progress: (filled) => progress(`scale-events  filled ${filled} of ${events}`),
    });
    const rows: ScaleRow[] = [];
    let inFile = events;
    let serial = 0;
    for (const server of servers) {
      const empty: Round[] = [];
      const full: Round[] = [];
      for (let round = 0; round < rounds; round++) {
        // New requests: the filled inbox has the events of the last round.
        serial += 1;
        for (const isFull of round % 2 === 0 ? [true, false] : [false, true]) {
          const title = `scale-events, ${isFull ? events : "none"} ${round + 1}`;
          const filled = { folder, events: inFile };
          const options = isFull ? { serial, filled } : { serial };
          const result = await runRound(title, context, server, options);
          // Each round adds events, few beside those that are there.
          if (isFull) inFile += result.acknowledged;
          (isFull ? full : empty).push(result);
        }
      }
      rows.push({ server, events: 0, fileBytes: 0, results: empty, empty });
      rows.push({ server, events, fileBytes: full[0]?.fileBytes ?? 0, results: full, empty });
    }
    const table = makeTable<ScaleRow>(
      `With events in the inbox, ${connections} connections`,
      rows,
      [
        ["", (row) => nameOf(row.server)],
        ["events", (row) => formatCount(row.events)],
        ["file", (row) => `${(row.fileBytes / 1e9).toFixed(1)} GB`],
        ["requests/s", spreadOf(rateOf)],
        ["× the empty one", (row) => ratioTo(rateOf, row.empty)(row)],
        CPU,
        // From the start of the process until it listens.
        ["start ms", medianOf((round) => round.startMs)],
      ],
      [`${formatRounds(rounds, seconds)} In turn with the empty one.`],
    );
    return { tables: [table] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
