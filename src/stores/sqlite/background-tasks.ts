import type { Database } from "better-sqlite3";
import type { StoreStats } from "../../inbox/store.js";
import { createQueries } from "./queries.js";

/** What takes so long, or waits for the disk so often, that the host's event loop must not wait for it. */
export interface BackgroundTasks {
  /** Looks for damage. @returns "ok", or what is wrong */
  quickCheck(): string;
  /** Copies what stands in the WAL into the file while others go on writing. It is synced with the rest: see below. */
  checkpoint(): void;
  /**
   * Copies what was written meanwhile, syncs the file, and begins the WAL anew: its header is written and synced here, so
   * that no commit has to. Other processes' commits wait for it as for one another.
   *
   * @returns false when somebody reads for long, so that the WAL has to go on growing
   */
  restartWal(): boolean;
  /** Copies what no checkpoint copied yet, syncs the file, and empties the WAL. @returns false when somebody reads */
  rewrite(): boolean;
  stats(endpoint: string): StoreStats;
}

export interface WalState {
  /** 1: somebody reads what would have to go. */
  busy: number;
  /** Frames in the WAL. */
  log: number;
  /** Of them, those that are in the file. */
  checkpointed: number;
}

export function createBackgroundTasks(db: Database): BackgroundTasks {
  const { stats } = createQueries(db);
  const pragma = (text: string): WalState => (db.pragma(text) as [WalState])[0];

  /** The first write after a checkpoint of all frames begins the WAL anew, and its header is synced before it goes on. */
  function write(): void {
    db.transaction(() => {
      const version = db.pragma("user_version", { simple: true }) as number;
      db.pragma(`user_version = ${version}`);
    }).immediate();
  }

  return {
    quickCheck: () => db.pragma("quick_check(1)", { simple: true }) as string,
    checkpoint: () => void pragma("wal_checkpoint(PASSIVE)"),
    restartWal() {
      if (pragma("wal_checkpoint(RESTART)").busy !== 0) return false;
      write();
      return true;
    },
    rewrite() {
      if (pragma("wal_checkpoint(TRUNCATE)").busy !== 0) return false;
      write();
      return true;
    },
    stats,
  };
}
