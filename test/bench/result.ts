import type { Machine } from "./machine.js";
import type { Spread } from "./statistics.js";

/** What a run came to, as `--json` prints it and `result.json` keeps it. A part that did not run is left out. */
export interface BenchResult {
  throughput?: Measured & ThroughputResult;
  latency?: Measured & LatencyResult;
  verification?: Measured & VerificationResult;
  slowDisk?: Measured & SlowDiskResult;
  scaleEvents?: Measured & ScaleEventsResult;
  scaleBodies?: Measured & ScaleBodiesResult;
  scaleMemory?: Measured & ScaleMemoryResult;
}

export interface Measured {
  /** When and on what: parts may come from different runs. */
  at: string;
  machine: Machine;
}

/** Spreads are over rounds. Milliseconds, unless the name says otherwise. */
export interface ThroughputRow {
  server: string;
  label: string;
  requestsPerSecond: Spread;
  /** Of each round on its own, against the same round of the baseline. */
  ratio: Spread;
  /** User and system time of the whole process, hand-offs and all. */
  cpuMicrosPerRequest: Spread;
  cpuRatio: Spread;
  mainThreadMicrosPerRequest: Spread | null;
  loopP99: Spread;
  loopMax: Spread;
  rssBytes: Spread;
  /** Caused by the process at the disk, in whole pages. */
  writtenBytesPerRequest: Spread | null;
  /** Size of its files after it closed, for each event in them; null: keeps nothing. */
  keptBytesPerRequest: Spread | null;
  /** The most that the generator used of one core in any round, 0 to 1. */
  generatorBusy: number;
}

export interface ThroughputResult {
  connections: number;
  seconds: number;
  rounds: number;
  /** The label of the server that the ratios are against. */
  baseline: string;
  rows: ThroughputRow[];
}

export interface LatencyRow {
  server: string;
  label: string;
  p50: Spread;
  p99: Spread;
  p999: Spread;
  max: Spread;
  loopP99: Spread;
  loopMax: Spread;
  /** How late the generator itself sent, at the 99th percentile of its worst round. */
  generatorLateP99: number;
}

export interface LatencyResult {
  requestsPerSecond: number;
  connections: number;
  seconds: number;
  rounds: number;
  rows: LatencyRow[];
}

export interface VerificationRow {
  name: string;
  bodyBytes: number;
  microsPerCall: Spread;
  /** Against one bare HMAC over the same bytes in the same round. */
  ratio: Spread;
}

export interface VerificationResult {
  rounds: number;
  rows: VerificationRow[];
}

export interface SlowDiskRow {
  server: string;
  label: string;
  requestsPerSecond: Spread;
  loopP99: Spread;
  loopMax: Spread;
  /** Of the answers. */
  p50: Spread;
  p99: Spread;
}

export interface SlowDiskResult {
  syncMs: number;
  connections: number;
  rounds: number;
  /** Why there are no rows. */
  skipped?: string;
  rows: SlowDiskRow[];
}

export interface ScaleEventsRow {
  server: string;
  label: string;
  events: number;
  fileBytes: number;
  requestsPerSecond: Spread;
  cpuMicrosPerRequest: Spread;
  /** Against the empty inbox in the same round. */
  ratio: Spread;
  /** From the start of the process until it listens. */
  startMs: Spread;
}

export interface ScaleEventsResult {
  connections: number;
  seconds: number;
  rounds: number;
  rows: ScaleEventsRow[];
}

export interface ScaleBodiesRow {
  server: string;
  label: string;
  bodyBytes: number;
  requestsPerSecond: Spread;
  megabytesPerSecond: Spread;
  cpuMicrosPerRequest: Spread;
  /** In bytes a second, against the smallest bodies in the same round. */
  ratio: Spread;
}

export interface ScaleBodiesResult {
  connections: number;
  rounds: number;
  rows: ScaleBodiesRow[];
}

export interface ScaleMemoryResult {
  server: string;
  label: string;
  /** Resident memory of the server after so many events. */
  samples: { events: number; rssBytes: number }[];
}
