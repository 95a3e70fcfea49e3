import type { DurationStats } from "../../inbox/durations.js";

/** What `health().medium` is with `sqliteStore`. */
export type SqliteDiagnostics = {
  /** The SQLite that is used: of better-sqlite3, or of Node itself. */
  driver: "better-sqlite3" | "node:sqlite";
  /** What is done before an acknowledgement. `wal-fdatasync`: the write-ahead log is synced. */
  durability: "wal-fdatasync";
  /** Size of the database file. */
  fileBytes: number;
  /** Size of the write-ahead log on the disk. */
  walBytes: number;
  /** Durations of the syncs of the write-ahead log. */
  sync: DurationStats;
  checkpoints: CheckpointCounts;
  /**
   * How often the checkpoint thread died. Until it runs again, the main thread makes the
   * checkpoints.
   */
  threadDeaths: number;
};

/** Copies of the write-ahead log into the file. */
export interface CheckpointCounts {
  /** Complete copies, after which the log starts again from its beginning. */
  done: number;
  /** Copies that a reader blocked. The log grows until that reader ends. */
  blocked: number;
  /** Copies that failed. They are tried again after some more commits. */
  failed: number;
  /**
   * True when the disk has failed: the log grows until the next start copies all of it into the
   * file.
   */
  stopped: boolean;
}
