import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { runClosedLoopRound, type ClosedLoopRound } from "../parts/closed-loop-round.js";
import type { PartContext } from "../parts/part-context.js";
import { startProcess } from "../processes/start-process.js";
import type { ScaleEventsResult, ScaleEventsRow } from "../result.js";
import type { Server } from "../servers/catalogue.js";
import { spread, type Spread } from "../statistics.js";
import type { FillSpec } from "./fill.js";

/** At a time, so that something is said of it meanwhile. */
const FILL_STEP = 250_000;

/** Whether an inbox that holds millions of events is slower than an empty one. */
export async function measureScaleEvents(context: PartContext, events: number): Promise<ScaleEventsResult> {
  const { servers, rounds, seconds, connections, under, progress } = context;
  const folder = mkdtempSync(join(under, "filled-"));
  try {
    const fileBytes = await fill(folder, events, progress);
    const rows: ScaleEventsRow[] = [];
    let inFile = events;
    let serial = 0;
    for (const server of servers) {
      const empty: ClosedLoopRound[] = [];
      const full: ClosedLoopRound[] = [];
      for (let round = 0; round < rounds; round++) {
        // The filled inbox would know the last round's events again.
        serial += 1;
        for (const isFull of round % 2 === 0 ? [true, false] : [false, true]) {
          const options = isFull ? { serial, filled: { folder, events: inFile } } : { serial };
          const result = await runClosedLoopRound(context, server, options);
          // It grows by what each round adds, which is little beside what is there.
          if (isFull) inFile += result.acknowledged;
          (isFull ? full : empty).push(result);
          progress(
            `scale-events ${round + 1}  ${server.name.padEnd(18)} ${isFull ? `${events} events` : "empty"}  ${result.requestsPerSecond.toFixed(0)}/s  cpu ${result.cpuMicrosPerRequest.toFixed(1)} µs  started in ${result.startMs.toFixed(0)} ms`,
          );
        }
      }
      rows.push(toRow(server, 0, 0, empty, empty), toRow(server, events, fileBytes, full, empty));
    }
    return { connections, seconds, rounds, rows };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns the size of the file */
async function fill(folder: string, events: number, progress: (text: string) => void): Promise<number> {
  const filler = startProcess("scale/fill.js");
  try {
    let fileBytes = 0;
    for (let from = 0; from < events; from += FILL_STEP) {
      const spec: FillSpec = { folder, from, events: Math.min(FILL_STEP, events - from) };
      fileBytes = await filler.ask<number>("fill", spec);
      progress(`scale-events  filled ${from + spec.events} of ${events}, ${(fileBytes / 1e9).toFixed(2)} GB`);
    }
    return fileBytes;
  } finally {
    await filler.stop();
  }
}

function toRow(
  { name, label }: Server,
  events: number,
  fileBytes: number,
  rounds: readonly ClosedLoopRound[],
  empty: readonly ClosedLoopRound[],
): ScaleEventsRow {
  const over = (valueOf: (round: ClosedLoopRound) => number): Spread => spread(rounds.map(valueOf));
  return {
    server: name,
    label,
    events,
    fileBytes,
    requestsPerSecond: over((round) => round.requestsPerSecond),
    cpuMicrosPerRequest: over((round) => round.cpuMicrosPerRequest),
    ratio: spread(rounds.map((round, index) => round.requestsPerSecond / (empty[index] ?? round).requestsPerSecond)),
    startMs: over((round) => round.startMs),
  };
}
