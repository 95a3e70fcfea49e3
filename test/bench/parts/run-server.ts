import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { ClosedLoop } from "../load/closed-loop.js";
import type { LoadReport } from "../load/generator.js";
import { queryDatabase } from "../postgres/query-database.js";
import {
  startProcess,
  type BenchProcess,
  type ProcessOptions,
} from "../processes/start-process.js";
import type { Server } from "../servers/catalogue.js";
import type { LoopDelay } from "../processes/loop-watch.js";
import type { ServerSample } from "../servers/serve.js";
import type { PartContext } from "./part-context.js";

export interface LoadOutcome extends ServerSample {
  load: LoadReport;
  /** From the last answer until everything was handed off. */
  drainMs: number;
}

export interface RunningServer {
  /** Measures the server while `generate` sends it load. */
  measure(generate: (port: number) => Promise<LoadReport>): Promise<LoadOutcome>;
}

export interface RunServerOptions extends ProcessOptions {
  /** The parent of a folder for its files, which is removed afterwards. */
  under: string;
  /** A folder whose files already hold so many events; it is not removed. */
  filled?: { folder: string; events: number };
  /** The connection string of an empty PostgreSQL database, for a server that needs one. */
  database?: string | undefined;
}

export interface ServerRun<Value> {
  value: Value;
  /** From the start of the process until it listens. */
  startMs: number;
  acknowledged: number;
  /** Size of its files after it closed. */
  fileBytes: number;
}

/**
 * Starts a server in a process of its own, lets `use` send it load, and stops it. Then compares the
 * acknowledged events with those in its file.
 */
export async function runServer<Value>(
  server: Server,
  { under, filled, database, ...process }: RunServerOptions,
  use: (running: RunningServer) => Promise<Value>,
): Promise<ServerRun<Value>> {
  const folder = filled?.folder ?? mkdtempSync(join(under, `${server.name}-`));
  const startedAt = performance.now();
  const child = startProcess(`servers/${server.name}.js`, { folder, database }, process);
  try {
    const port = await child.ask<number>("port");
    const startMs = performance.now() - startedAt;
    let acknowledged = 0;
    const value = await use({
      async measure(generate) {
        const outcome = await measure(server, child, () => generate(port), acknowledged);
        acknowledged += outcome.load.answered;
        return outcome;
      },
    });
    const handedOff = await child.ask<number | null>("handed off");
    await child.ask("close");
    await assertAllKept(folder, database, server, {
      acknowledged,
      handedOff,
      before: filled?.events ?? 0,
    });
    return { value, startMs, acknowledged, fileBytes: sizeOf(folder) };
  } finally {
    await child.stop();
    if (filled === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(
  server: Server,
  child: BenchProcess,
  generate: () => Promise<LoadReport>,
  acknowledgedBefore: number,
): Promise<LoadOutcome> {
  await child.ask("begin");
  const load = await generate();
  const loop = await child.ask<LoopDelay>("end load");
  assertAllAnswered(server, load);
  // Acknowledged events that are not yet handed off are unfinished work: its CPU time belongs to
  // the requests.
  const drainedFrom = performance.now();
  await child.ask("drain", { acknowledged: acknowledgedBefore + load.answered });
  const drainMs = performance.now() - drainedFrom;
  const usage = await child.ask<Omit<ServerSample, "loop">>("usage");
  return { load, loop, drainMs, ...usage };
}

function sizeOf(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

/**
 * After so many requests V8 has compiled the hot code, and the file has its first pages. A slow
 * server handles fewer.
 */
export const WARM_UP_REQUESTS = 8000;
const WARM_UP_SECONDS = 4;

/** Load before the measurement. A short measurement has a short warm-up. */
export async function warmUp(
  running: RunningServer,
  { generator, connections, seconds }: Pick<PartContext, "generator" | "connections" | "seconds">,
  most = WARM_UP_REQUESTS,
): Promise<void> {
  await running.measure((port): Promise<LoadReport> => {
    const loop: ClosedLoop = {
      port,
      connections,
      seconds: Math.min(WARM_UP_SECONDS, seconds * 2),
      most,
    };
    return generator.ask("closed loop", loop);
  });
}

/** Refusals are fast, and a broken connection is not a figure: both fail the run. */
function assertAllAnswered(
  { label }: Server,
  { sent, answered, statuses, refusal, failure }: LoadReport,
): void {
  if (failure !== null) throw new Error(`${label}: ${failure}`);
  const isFine =
    answered > 0 && sent === answered && Object.keys(statuses).every((status) => status === "200");
  const byStatus = JSON.stringify(statuses);
  if (!isFine)
    throw new Error(
      `${label}: ${sent} sent, ${answered} answered, by status ${byStatus} ${refusal ?? ""}`,
    );
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
  const { file, table } = keeps;
  const [all, done] = [
    `SELECT count(*) FROM ${table}`,
    `SELECT count(*) FROM ${table} WHERE state = 'done'`,
  ];
  const queries = isOurs ? [all, done] : [all];
  const counts =
    file === undefined
      ? await countRows(database ?? "", queries)
      : countInFile(join(folder, file), queries);
  const [kept = 0, handled = 0] = counts.map((count) => count - before);
  if (kept !== acknowledged)
    throw new Error(`${label}: ${acknowledged} acknowledged, ${kept} kept`);
  // As many hand-offs as events, and each event done: so each was handed off exactly once.
  if (isOurs && (handled !== acknowledged || handedOff !== acknowledged)) {
    throw new Error(
      `${label}: ${acknowledged} acknowledged, ${handedOff} handed off, ${handled} done in its inbox`,
    );
  }
}

function countInFile(path: string, queries: readonly string[]): number[] {
  const db = new Database(path, { readonly: true, fileMustExist: true });
  try {
    return queries.map((query) => db.prepare(query).pluck().get() as number);
  } finally {
    db.close();
  }
}

async function countRows(database: string, queries: readonly string[]): Promise<number[]> {
  const counts = queries.map((query) => queryDatabase<{ count: string }>(database, query));
  return (await Promise.all(counts)).map(({ count }) => Number(count));
}
