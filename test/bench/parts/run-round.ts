import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { LoadReport, RequestSpec } from "../load/generator.js";
import type { Load } from "../load/run-load.js";
import { queryDatabase } from "../postgres/own-server.js";
import type { LoopDelay } from "../processes/loop-watch.js";
import { ROOT, startProcess, type ProcessOptions } from "../processes/start-process.js";
import { medianOf, nameOf } from "../report/format.js";
import type { Column } from "../report/tables.js";
import type { ServerSample } from "../servers/serve.js";
import type { Server, ServerConfig } from "../servers/servers.js";
import { inRounds, type Measured, type PartContext } from "./part-context.js";

/** One server once. */
export interface Round extends ServerSample {
  load: LoadReport;
  /** From the start of the process until it listens. */
  startMs: number;
  acknowledged: number;
  /** Size of its files after it closed. */
  fileBytes: number;
  requestsPerSecond: number;
  cpuMicrosPerRequest: number;
  writtenBytesPerRequest: number | null;
}

export interface RoundOptions extends ProcessOptions {
  /** A rate that the server can sustain. Absent: as much as it takes. */
  requestsPerSecond?: number;
  serial?: number;
  /** @default as long as those of the fixtures */
  bodyBytes?: number;
  /** So many requests at once, each on a connection of its own, in place of `seconds`. */
  burst?: number | undefined;
  /** A folder whose files already hold so many events; it is not removed. */
  filled?: { folder: string; events: number };
  /** The connection string of an empty PostgreSQL database, for a server that needs one. */
  database?: string | undefined;
}

/**
 * After so many requests V8 has compiled the hot code, and the file has its first pages. A slow
 * server handles fewer.
 */
const WARM_UP_REQUESTS = 8000;
const WARM_UP_SECONDS = 4;
/**
 * More than any server here answers in a second. A server that answers them sooner has a shorter
 * round.
 */
const REQUESTS_PER_SECOND = 40_000;
const MOST_REQUESTS = 250_000;
/** The generator keeps them in memory. */
const MOST_REQUEST_BYTES = 600_000_000;

export const rateOf = (round: Round): number => round.requestsPerSecond;
export const cpuOf = (round: Round): number => round.cpuMicrosPerRequest;
export const NAME: Column<Measured<Server, unknown>> = ["", ({ value }) => nameOf(value)];
export const CPU: Column<{ results: readonly Round[] }> = ["CPU µs/request", medianOf(cpuOf)];

/** Each of the servers once in each round. */
export function runRounds(
  part: string,
  context: PartContext,
  optionsOf: () => RoundOptions | Promise<RoundOptions> = () => ({}),
): Promise<Measured<Server, Round>[]> {
  return inRounds(context.servers, context.rounds, async (server, round) =>
    runRound(`${part} ${round + 1}`, context, server, await optionsOf()),
  );
}

/**
 * Starts a server in a process of its own, warms it up, sends it load, and stops it. Then compares
 * the acknowledged events with those in its file.
 */
export async function runRound(
  title: string,
  { generator, seconds, connections, under, progress }: PartContext,
  server: Server,
  options: RoundOptions = {},
): Promise<Round> {
  const { requestsPerSecond, serial = 0, filled, database, bodyBytes = 0, burst } = options;
  const most = Math.ceil(seconds * (requestsPerSecond ?? REQUESTS_PER_SECOND)) + WARM_UP_REQUESTS;
  const fitting = bodyBytes === 0 ? MOST_REQUESTS : Math.ceil(MOST_REQUEST_BYTES / bodyBytes);
  const count = Math.min(MOST_REQUESTS, most, fitting);
  await generator.ask("prepare", { count, serial, bodyBytes } satisfies RequestSpec);
  const folder = filled?.folder ?? mkdtempSync(join(under, `${server.name}-`));
  const startedAt = performance.now();
  const config: ServerConfig = { name: server.name, folder, database };
  const child = startProcess("servers/serve.js", config, { ...options, root: server.root });
  let acknowledged = 0;

  async function measure(load: Partial<Load>) {
    await child.ask("begin");
    const report: LoadReport = await generator.ask("load", { port, connections, seconds, ...load });
    const loop = await child.ask<LoopDelay>("endLoad");
    assertAllAnswered(server, report);
    acknowledged += report.answered;
    // Acknowledged events that are not yet handed off are unfinished work: its CPU time belongs to
    // the requests.
    await child.ask("drain", { acknowledged });
    const usage = await child.ask<Omit<ServerSample, "loop">>("usage");
    return { load: report, loop, ...usage };
  }

  let port = 0;
  try {
    port = await child.ask("port");
    const startMs = performance.now() - startedAt;
    // A short measurement has a short warm-up, and most requests are left for the measurement.
    await measure({
      seconds: Math.min(WARM_UP_SECONDS, seconds * 2),
      most: Math.min(WARM_UP_REQUESTS, Math.ceil(count / 5)),
    });
    const sample = await measure(
      burst === undefined ? { requestsPerSecond } : { connections: burst, most: burst },
    );
    const handedOff = await child.ask<number | null>("close");
    const tally = { acknowledged, handedOff, before: filled?.events ?? 0 };
    await assertAllKept(folder, database, server, tally);
    const fileBytes = readdirSync(folder).reduce(
      (sum, name) => sum + statSync(join(folder, name)).size,
      0,
    );
    const { load, cpuMs, writtenBytes } = sample;
    const round = {
      ...sample,
      startMs,
      acknowledged,
      fileBytes,
      requestsPerSecond: (load.answered / load.elapsedMs) * 1000,
      cpuMicrosPerRequest: (cpuMs * 1000) / load.answered,
      writtenBytesPerRequest: writtenBytes === null ? null : writtenBytes / load.answered,
    };
    const [rate, cpu] = [rateOf(round).toFixed(0), cpuOf(round).toFixed(1)];
    progress(`${title}  ${server.name.padEnd(18)} ${rate.padStart(6)}/s  cpu ${cpu} µs`);
    return round;
  } finally {
    await child.stop();
    if (filled === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** A refusal, and a broken connection, are no figures. */
function assertAllAnswered({ label }: Server, { sent, answered, failure }: LoadReport): void {
  if (failure !== null) throw new Error(`${label}: ${failure}`);
  if (answered === 0 || sent !== answered)
    throw new Error(`${label}: ${sent} sent, ${answered} answered`);
}

interface Tally {
  /** Answered with 200. */
  acknowledged: number;
  /** How often the callback was called; null: there is none. */
  handedOff: number | null;
  /** Events that were in the file before. */
  before: number;
}

/**
 * Reads what a server that has stopped keeps. Every acknowledged event must be there, and ours must
 * have been handed off once each: a server that loses something has no figures.
 */
async function assertAllKept(
  folder: string,
  database: string | undefined,
  { label, keeps, isOurs }: Server,
  { acknowledged, handedOff, before }: Tally,
): Promise<void> {
  if (keeps === null) return;
  const done = isOurs ? "count(*) FILTER (WHERE state = 'done')" : "0";
  const query = `SELECT count(*) AS kept, ${done} AS done FROM ${keeps.table}`;
  const found =
    keeps.file === undefined
      ? await queryDatabase<Counts>(database ?? "", query)
      : await countInFile(join(folder, keeps.file), query);
  const [kept, handled] = [found.kept, found.done].map((value) => Number(value) - before);
  if (kept !== acknowledged)
    throw new Error(`${label}: ${acknowledged} acknowledged, ${kept} kept`);
  // As many hand-offs as events, and each event done: so each was handed off exactly once.
  if (isOurs && (handled !== acknowledged || handedOff !== acknowledged)) {
    throw new Error(
      `${label}: ${acknowledged} acknowledged, ${handedOff} handed off, ${handled} done in its inbox`,
    );
  }
}

/** PostgreSQL gives the numbers as text. */
type Counts = Record<"kept" | "done", number | string>;

interface Database {
  prepare(sql: string): { get(): Counts };
  close(): void;
}

async function countInFile(path: string, query: string): Promise<Counts> {
  const driver = join(ROOT, "dist/base/sqlite/sqlite-driver.js");
  // Not by its types, with which its sources would be compiled into the bench.
  const { loadDriver } = (await import(driver)) as {
    loadDriver: () => { open: (path: string, options: object) => Database };
  };
  const db = loadDriver().open(path, { readonly: true, fileMustExist: true });
  try {
    return db.prepare(query).get();
  } finally {
    db.close();
  }
}
