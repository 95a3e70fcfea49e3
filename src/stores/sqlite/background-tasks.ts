import type { Database } from "better-sqlite3";
import type { StoreStats } from "../../inbox/store.js";
import { createQueries } from "./queries.js";

/** Tasks that take long or wait for the disk. The event loop must not wait for them. */
export interface BackgroundTasks {
  /** @returns "ok", or the damage in the file */
  quickCheck(): string;
  /** Copies the WAL's pages into the file while commits continue. `restartWal` syncs them. */
  checkpoint(): void;
  /**
   * Copies the remaining pages, syncs the file, and restarts the WAL: the next frames overwrite it from its beginning. Writes
   * and syncs the WAL's header too, so that no commit has to. Commits of other processes wait in the meantime.
   *
   * @returns false if a reader needs the WAL, which then continues to grow
   */
  restartWal(): boolean;
  /** Does the same as `restartWal` and empties the WAL's file. @returns false if a reader needs the WAL */
  rewrite(): boolean;
  stats(endpoint: string): StoreStats;
}

export interface WalState {
  /** 1 if a reader or a writer blocked the checkpoint. */
  busy: number;
  /** Frames in the WAL. */
  log: number;
  /** Frames that were copied into the file. */
  checkpointed: number;
}

export function createBackgroundTasks(db: Database): BackgroundTasks {
  const { stats } = createQueries(db);
  const pragma = (text: string): WalState => (db.pragma(text) as [WalState])[0];

  function restart(mode: "RESTART" | "TRUNCATE"): boolean {
    if (pragma(`wal_checkpoint(${mode})`).busy !== 0) return false;
    // The first write after a full checkpoint writes and syncs a new header for the WAL.
    db.transaction(() => {
      const version = db.pragma("user_version", { simple: true }) as number;
      db.pragma(`user_version = ${version}`);
    }).immediate();
    return true;
  }

  return {
    quickCheck: () => db.pragma("quick_check(1)", { simple: true }) as string,
    checkpoint: () => void pragma("wal_checkpoint(PASSIVE)"),
    restartWal: () => restart("RESTART"),
    rewrite: () => restart("TRUNCATE"),
    stats,
  };
}
