import type { BenchResult, Measured, ScaleBodiesResult, ScaleEventsResult, ScaleMemoryResult } from "../result.js";
import type { BenchTable } from "./bench-table.js";
import { describeMeasured } from "./describe-measured.js";
import { formatMebibytes, formatMedian, formatRounds, formatSpread } from "./format.js";

export function scaleTablesOf({ scaleEvents, scaleBodies, scaleMemory }: BenchResult): BenchTable[] {
  return [
    ...(scaleEvents === undefined ? [] : [eventsTable(scaleEvents)]),
    ...(scaleBodies === undefined ? [] : [bodiesTable(scaleBodies)]),
    ...(scaleMemory === undefined ? [] : [memoryTable(scaleMemory)]),
  ];
}

function eventsTable(result: Measured & ScaleEventsResult): BenchTable {
  const { rows, connections, seconds, rounds } = result;
  return {
    title: `With events in the inbox, ${connections} connections`,
    columns: ["", "events", "file", "requests/s", "× the empty one", "CPU µs/request", "start ms"],
    rows: rows.map((row) => ({
      cells: [
        row.label,
        row.events.toLocaleString("en-US"),
        `${(row.fileBytes / 1e9).toFixed(1)} GB`,
        formatSpread(row.requestsPerSecond),
        formatSpread(row.ratio),
        formatMedian(row.cpuMicrosPerRequest),
        formatMedian(row.startMs),
      ],
      isOurs: true,
    })),
    notes: [`${formatRounds(rounds, seconds)} In turn with the empty one.`],
    measured: describeMeasured(result),
  };
}

function bodiesTable(result: Measured & ScaleBodiesResult): BenchTable {
  const { rows, connections, rounds } = result;
  return {
    title: `Large bodies, ${connections} connections`,
    columns: ["", "body bytes", "requests/s", "MB/s", "× the small ones, in bytes", "CPU µs/request"],
    rows: rows.map((row) => ({
      cells: [
        row.label,
        row.bodyBytes.toLocaleString("en-US"),
        formatSpread(row.requestsPerSecond),
        formatSpread(row.megabytesPerSecond),
        formatSpread(row.ratio),
        formatMedian(row.cpuMicrosPerRequest),
      ],
      isOurs: true,
    })),
    notes: [formatRounds(rounds)],
    measured: describeMeasured(result),
  };
}

function memoryTable(result: Measured & ScaleMemoryResult): BenchTable {
  return {
    title: `Resident memory of ${result.label}`,
    columns: ["after events", "memory"],
    rows: result.samples.map(({ events, rssBytes }) => ({
      cells: [events.toLocaleString("en-US"), formatMebibytes(rssBytes)],
      isOurs: true,
    })),
    notes: [],
    measured: describeMeasured(result),
  };
}
