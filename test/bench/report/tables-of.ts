import type {
  BenchResult,
  LatencyResult,
  Measured,
  SlowDiskResult,
  ThroughputResult,
  ThroughputRow,
  VerificationResult,
} from "../result.js";
import { findServer } from "../servers/catalogue.js";
import type { BenchTable } from "./bench-table.js";
import { describeMeasured } from "./describe-measured.js";
import { formatMebibytes, formatMedian, formatRounds, formatSpread } from "./format.js";
import { scaleTablesOf } from "./scale-tables-of.js";

/** The tables of what a run measured, in the order in which they are read. */
export function tablesOf(result: BenchResult): BenchTable[] {
  const { throughput, latency, slowDisk, verification } = result;
  return [
    ...(throughput === undefined ? [] : [throughputTable(throughput), costTable(throughput)]),
    ...(latency === undefined ? [] : [latencyTable(latency)]),
    ...(slowDisk === undefined ? [] : [slowDiskTable(slowDisk)]),
    ...(verification === undefined ? [] : [verificationTable(verification)]),
    ...scaleTablesOf(result),
  ];
}

/** Above this share of one core the generator may have been what was measured. */
const BUSY = 0.9;

function isAtItsLimit({ generatorBusy }: ThroughputRow): boolean {
  return generatorBusy > BUSY;
}

function throughputTable(result: Measured & ThroughputResult): BenchTable {
  const { rows, baseline, connections, seconds, rounds } = result;
  const fastest = Math.max(...rows.map(({ requestsPerSecond }) => requestsPerSecond.median));
  return {
    title: `Requests per second, ${connections} connections`,
    columns: ["", "requests/s", `× ${baseline}`, "CPU µs/request", "× its CPU"],
    rows: rows.map((row) => ({
      cells: [
        row.label,
        formatSpread(row.requestsPerSecond) + (isAtItsLimit(row) ? " †" : ""),
        formatSpread(row.ratio),
        formatSpread(row.cpuMicrosPerRequest),
        formatSpread(row.cpuRatio),
      ],
      isOurs: isOurs(row.server),
      share: row.requestsPerSecond.median / fastest,
    })),
    notes: [
      `${formatRounds(rounds, seconds)} Ratios are taken in each round, then their median.`,
      "CPU is user and system time of the whole server process, with every hand-off.",
      ...(rows.some(isAtItsLimit) ? ["† The load generator was at its limit: the server can do more."] : []),
    ],
    measured: describeMeasured(result),
  };
}

function costTable(result: Measured & ThroughputResult): BenchTable {
  return {
    title: "What that costs the process",
    columns: ["", "loop delay p99 ms", "max ms", "memory", "bytes written/event", "bytes kept/event"],
    rows: result.rows.map((row) => ({
      cells: [
        row.label,
        formatMedian(row.loopP99),
        formatMedian(row.loopMax),
        formatMebibytes(row.rssBytes.median),
        formatMedian(row.writtenBytesPerRequest),
        formatMedian(row.keptBytesPerRequest),
      ],
      isOurs: isOurs(row.server),
    })),
    notes: [
      "In the same rounds, at full load: medians. Loop delay: what comes at a random moment waits for the event loop.",
      "Written: what the process caused at the disk, in whole pages. Kept: its files after it closed.",
    ],
    measured: describeMeasured(result),
  };
}

/** A generator that is later than this with more than one request in a hundred disturbs what it measures. */
const LATE_MS = 1;

function latencyTable(result: Measured & LatencyResult): BenchTable {
  const { rows, requestsPerSecond, seconds, rounds } = result;
  const isLate = ({ generatorLateP99 }: (typeof rows)[number]): boolean => generatorLateP99 > LATE_MS;
  return {
    title: `Time to the answer at ${requestsPerSecond.toLocaleString("en-US")} requests per second`,
    columns: ["", "p50 ms", "p99 ms", "p99.9 ms", "loop delay p99 ms", "max ms"],
    rows: rows.map((row) => ({
      cells: [
        row.label,
        formatSpread(row.p50) + (isLate(row) ? " †" : ""),
        formatSpread(row.p99),
        formatSpread(row.p999),
        formatMedian(row.loopP99),
        formatMedian(row.loopMax),
      ],
      isOurs: isOurs(row.server),
    })),
    notes: [
      `${formatRounds(rounds, seconds)} Requests come at a fixed rate; the time runs from when each was due.`,
      // The nearest rank: nothing is made up between two values.
      ...(requestsPerSecond * seconds < 1000 ? ["Of fewer than 1,000 requests, p99.9 is the slowest."] : []),
      ...(rows.some(isLate) ? ["† The load generator was late with some of them: a busy machine."] : []),
    ],
    measured: describeMeasured(result),
  };
}

function slowDiskTable(result: Measured & SlowDiskResult): BenchTable {
  const { rows, syncMs, connections, rounds, skipped } = result;
  return {
    title: `A disk whose sync takes ${syncMs} ms, ${connections} connections`,
    columns: ["", "loop delay p99 ms", "max ms", "requests/s", "answer p50 ms", "p99 ms"],
    rows: rows.map((row) => ({
      cells: [
        row.label,
        formatSpread(row.loopP99),
        formatSpread(row.loopMax),
        formatMedian(row.requestsPerSecond),
        formatMedian(row.p50),
        formatMedian(row.p99),
      ],
      isOurs: isOurs(row.server),
    })),
    notes: [
      skipped === undefined
        ? `${formatRounds(rounds)} Loop delay: what comes at a random moment waits for the event loop.`
        : `Skipped: ${skipped}.`,
    ],
    measured: describeMeasured(result),
  };
}

function verificationTable(result: Measured & VerificationResult): BenchTable {
  const { rows, rounds } = result;
  return {
    title: "Checking one signature",
    columns: ["", "body bytes", "CPU µs/call", "× one bare HMAC"],
    rows: rows.map((row) => ({
      cells: [
        row.name,
        row.bodyBytes.toLocaleString("en-US"),
        formatSpread(row.microsPerCall),
        formatSpread(row.ratio),
      ],
      isOurs: row.name.startsWith("signalbox"),
    })),
    notes: [
      `${formatRounds(rounds)} Each in a process of its own, all in turn, from the bytes of the body.`,
      "svix and standardwebhooks parse the JSON too, and cannot do without.",
    ],
    measured: describeMeasured(result),
  };
}

function isOurs(server: string): boolean {
  return findServer(server)?.isOurs ?? false;
}
