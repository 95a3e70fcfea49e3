import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { LoadReport } from "../load/generator.js";
import { startProcess, type BenchProcess } from "../processes/start-process.js";
import type { Server } from "../servers/catalogue.js";
import type { LoopDelay } from "../servers/loop-watch.js";
import type { ServerSample } from "../servers/serve.js";
import { assertAllAnswered } from "./assert-all-answered.js";
import { assertAllKept } from "./assert-all-kept.js";

export interface LoadOutcome extends ServerSample {
  load: LoadReport;
  /** From the last answer until everything was handed off. */
  drainMs: number;
}

export interface RunningServer {
  /** Loads it with what `generate` does, and looks at what that took. */
  measure(generate: (port: number) => Promise<LoadReport>): Promise<LoadOutcome>;
}

export interface RunServerOptions {
  /** Where a folder for its files is made; removed afterwards. */
  under: string;
  /** A folder that already has files, with so many events in them; it is left as it is. */
  filled?: { folder: string; events: number };
  env?: NodeJS.ProcessEnv;
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
 * Starts a server in a process of its own, lets `use` load it, stops it, and compares what it acknowledged with what is
 * in its file then.
 */
export async function runServer<Value>(
  server: Server,
  { under, filled, env = {} }: RunServerOptions,
  use: (running: RunningServer) => Promise<Value>,
): Promise<ServerRun<Value>> {
  const folder = filled?.folder ?? mkdtempSync(join(under, `${server.name}-`));
  const startedAt = performance.now();
  const child = startProcess(`servers/${server.name}.js`, { folder }, env);
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
    assertAllKept(folder, server, { acknowledged, handedOff, before: filled?.events ?? 0 });
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
  // What is acknowledged and not yet handed off is work still to be done: its CPU time belongs to the requests.
  const drainedFrom = performance.now();
  await child.ask("drain", { acknowledged: acknowledgedBefore + load.answered });
  const drainMs = performance.now() - drainedFrom;
  const usage = await child.ask<Omit<ServerSample, "loop">>("usage");
  return { load, loop, drainMs, ...usage };
}

function sizeOf(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}
