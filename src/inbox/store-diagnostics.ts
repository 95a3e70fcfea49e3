import type { DurationStats } from "../time/durations.js";

/** A store's figures of its medium, known at once. */
export interface StoreDiagnostics {
  /** What stands behind an acknowledgement. `wal-fdatasync`: the write-ahead log, synced before. `none`: the process. */
  durability: "wal-fdatasync" | "none" | (string & {});
  /** Size of the database file. */
  fileBytes: number;
  /** Size of the write-ahead log as it lies on the disk. */
  walBytes: number;
  /** The syncs of the write-ahead log. */
  sync: DurationStats;
  checkpoints: CheckpointCounts;
  /** How often the thread that does them died; until it runs again, the main thread does them. */
  threadDeaths: number;
}

/** Copies of the write-ahead log into the file. */
export interface CheckpointCounts {
  /** After each the log began anew. */
  done: number;
  /** A reader was in the way: the log grows until that reader is done. */
  blocked: number;
  /** Tried again after some more commits. */
  failed: number;
  /** The disk failed: the log is kept, and grows, until the next start writes all of it into the file. */
  stopped: boolean;
}
