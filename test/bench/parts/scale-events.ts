import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { FillSpec } from "../load/fill-inbox.js";
import { startProcess } from "../processes/start-process.js";
import {
  formatCount,
  formatRounds,
  medianOf,
  nameOf,
  ratioTo,
  spreadOf,
} from "../report/format.js";
import { makeTable, type PartFindings } from "../report/tables.js";
import type { Server } from "../servers/catalogue.js";
import {
  describeRound,
  rateOf,
  runClosedLoopRound,
  type ClosedLoopRound,
} from "./closed-loop-round.js";
import type { PartContext } from "./part-context.js";

/** Events between two lines of progress. */
const FILL_STEP = 250_000;

interface Row {
  server: Server;
  events: number;
  fileBytes: number;
  results: readonly ClosedLoopRound[];
  /** The same rounds with an empty inbox. */
  empty: readonly ClosedLoopRound[];
}

/** Whether an inbox that holds millions of events is slower than an empty one. */
export async function measureScaleEvents(
  context: PartContext,
  events: number,
): Promise<PartFindings> {
  const { servers, rounds, seconds, connections, under, progress } = context;
  const folder = mkdtempSync(join(under, "filled-"));
  try {
    const fileBytes = await fill(folder, events, progress);
    const rows: Row[] = [];
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
            describeRound(`scale-events, ${isFull ? events : "none"}`, round, server.name, result),
          );
        }
      }
      rows.push({ server, events: 0, fileBytes: 0, results: empty, empty });
      rows.push({ server, events, fileBytes, results: full, empty });
    }
    const table = makeTable<Row>(
      `With events in the inbox, ${connections} connections`,
      rows,
      [
        ["", (row) => nameOf(row.server)],
        ["events", (row) => formatCount(row.events)],
        ["file", (row) => `${(row.fileBytes / 1e9).toFixed(1)} GB`],
        ["requests/s", spreadOf(rateOf)],
        ["× the empty one", (row) => ratioTo(rateOf, row.empty)(row)],
        ["CPU µs/request", medianOf((round) => round.cpuMicrosPerRequest)],
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

/** @returns the size of the file */
async function fill(
  folder: string,
  events: number,
  progress: (text: string) => void,
): Promise<number> {
  const filler = startProcess("load/fill-inbox.js");
  try {
    let fileBytes = 0;
    for (let from = 0; from < events; from += FILL_STEP) {
      const spec: FillSpec = { folder, from, events: Math.min(FILL_STEP, events - from) };
      fileBytes = await filler.ask<number>("fill", spec);
      progress(
        `scale-events  filled ${from + spec.events} of ${events}, ${(fileBytes / 1e9).toFixed(2)} GB`,
      );
    }
    return fileBytes;
  } finally {
    await filler.stop();
  }
}
