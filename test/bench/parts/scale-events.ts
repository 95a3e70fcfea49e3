import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { FillSpec } from "../load/fill-inbox.js";
import { startProcess } from "../processes/start-process.js";
import { describeMeasured, formatNumber, formatRounds, formatSpread, type Measured } from "../report/format.js";
import type { BenchTable } from "../report/tables.js";
import { serverNamed, type Server } from "../servers/catalogue.js";
import { medians, spreads } from "../statistics.js";
import { runClosedLoopRound, type ClosedLoopRound } from "./closed-loop-round.js";
import type { PartContext } from "./part-context.js";

/** Events between two lines of progress. */
const FILL_STEP = 250_000;

export type ScaleEventsResult = Awaited<ReturnType<typeof measureScaleEvents>>;

/** Whether an inbox that holds millions of events is slower than an empty one. */
export async function measureScaleEvents(context: PartContext, events: number) {
  const { servers, rounds, seconds, connections, under, progress } = context;
  const folder = mkdtempSync(join(under, "filled-"));
  try {
    const fileBytes = await fill(folder, events, progress);
    const rows = [];
    let inFile = events;
    let serial = 0;
    for (const server of servers) {
      const empty: ClosedLoopRound[] = [];
      const full: ClosedLoopRound[] = [];
      for (let round = 0; round < rounds; round++) {
        // New requests: the filled inbox has the events of the last round.
        serial += 1;
        for (const isFull of round % 2 === 0 ? [true, false] : [false, true]) {
          const options = isFull ? { serial, filled: { folder, events: inFile } } : { serial };
          const result = await runClosedLoopRound(context, server, options);
          // Each round adds events, few beside those that are there.
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
  const filler = startProcess("load/fill-inbox.js");
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
  { name }: Server,
  events: number,
  fileBytes: number,
  rounds: readonly ClosedLoopRound[],
  empty: readonly ClosedLoopRound[],
) {
  return {
    server: name,
    events,
    fileBytes,
    ...spreads(rounds, {
      requestsPerSecond: (round) => round.requestsPerSecond,
      // Against the empty inbox in the same round.
      ratio: (round, index) => round.requestsPerSecond / (empty[index] ?? round).requestsPerSecond,
    }),
    ...medians(rounds, {
      cpuMicrosPerRequest: (round) => round.cpuMicrosPerRequest,
      // From the start of the process until it listens.
      startMs: (round) => round.startMs,
    }),
  };
}

export function scaleEventsTable(result: Measured<ScaleEventsResult>): BenchTable {
  const { rows, connections, seconds, rounds } = result;
  return {
    title: `With events in the inbox, ${connections} connections`,
    columns: ["", "events", "file", "requests/s", "× the empty one", "CPU µs/request", "start ms"],
    rows: rows.map((row) => ({
      cells: [
        serverNamed(row.server).label,
        row.events.toLocaleString("en-US"),
        `${(row.fileBytes / 1e9).toFixed(1)} GB`,
        formatSpread(row.requestsPerSecond),
        formatSpread(row.ratio),
        formatNumber(row.cpuMicrosPerRequest),
        formatNumber(row.startMs),
      ],
      isOurs: true,
    })),
    notes: [`${formatRounds(rounds, seconds)} In turn with the empty one.`],
    measured: describeMeasured(result),
  };
}
