import type { Database } from "better-sqlite3";
import type { StoreStats } from "../../inbox/store.js";
import { createQueries } from "./queries.js";

/** Tasks that take long, or wait for the disk often: the host's event loop must not wait for them. */
export interface BackgroundTasks {
  /** @returns "ok", or the damage that it found */
  quickCheck(): string;
  /** Copies the WAL's pages into the file while commits go on. `restartWal` syncs them. */
  checkpoint(): void;
  /**
   * Copies the pages written since, syncs the file, and begins the WAL anew. Its header is written and synced here, so that
   * no commit has to do that. Other processes' commits wait meanwhile.
   *
   * @returns false while a long read needs the WAL, which then goes on growing
   */
  restartWal(): boolean;
  /** Copies the pages that no checkpoint copied yet, syncs the file, and empties the WAL. @returns false during a read */
  rewrite(): boolean;
  stats(endpoint: string): StoreStats;
}

export interface WalState {
  /** 1: a reader or a writer kept the checkpoint from its end. */
  busy: number;
  /** Frames in the WAL. */
  log: number;
  /** Of them, those that were copied into the file. */
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
