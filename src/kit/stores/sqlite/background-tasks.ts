import { closeSync, fdatasyncSync, openSync, readSync, writeSync } from "node:fs";
import type { Database } from "../../../base/sqlite/database.js";
import { mentioningOf, type Mentioning } from "../../inbox/deleting/mentions.js";
import { createQueries } from "./queries.js";
import { writeNothing } from "./schema.js";

/** A checkpoint waits for so many events at most. */
const LOOKED_AT_ONCE = 50;

/** Tasks that take long or wait for the disk. The event loop must not wait for them. */
export function createBackgroundTasks(db: Database, path: string) {
  const queries = createQueries(db);

  function restart(mode: "RESTART" | "TRUNCATE"): boolean {
    // The pragma returns 1 if a reader or a writer blocked the checkpoint.
    if (db.pragma(`wal_checkpoint(${mode})`, { simple: true }) !== 0) return false;
    // The first write after a full checkpoint writes and syncs a new header for the WAL.
    db.transaction(writeNothing).immediate(db);
    return true;
  }

  return {
    /** @returns "ok", or the damage in the file */
    quickCheck: () => db.pragma("quick_check(1)", { simple: true }) as string,
    /** Copies the WAL's pages into the file while commits continue. `restartWal` syncs them. */
    checkpoint: () => void db.pragma("wal_checkpoint(PASSIVE)"),
    /**
     * Copies the remaining pages, syncs the file, and restarts the WAL: the next frames overwrite
     * it from its beginning. Writes and syncs the WAL's header too, so that no commit has to.
     * Commits of other processes wait in the meantime.
     *
     * @returns false if a reader needs the WAL, which then continues to grow
     */
    restartWal: () => restart("RESTART"),
    /**
     * To be called when a sync of the WAL may have failed. Writes the WAL's bytes again and syncs
     * them, does the same as `restartWal`, and empties the WAL's file. @returns false if a reader
     * needs the WAL
     */
    rewrite() {
      // The transaction keeps other processes from writing to the WAL meanwhile.
      db.transaction(() => writeAgain(`${path}-wal`)).immediate();
      return restart("TRUNCATE");
    },
    /** The same, and empties the WAL's file. */
    truncateWal: () => restart("TRUNCATE"),
    mentioning(endpoint: string, text: string, afterSeq: number): Mentioning {
      const page = queries.list({ endpoint, afterSeq, limit: LOOKED_AT_ONCE });
      const events = page.map(({ eventId }) => queries.get(endpoint, eventId, undefined));
      return mentioningOf(page, events, text);
    },
    stats: (endpoint: string, now: number) => queries.stats(endpoint, () => now),
  };
}

export type BackgroundTasks = ReturnType<typeof createBackgroundTasks>;

/**
 * After a failed sync, pages of the WAL are in memory but not on the disk, and no later sync writes
 * them. If the power failed while such pages are copied into the file, the file would have a part
 * of them, and the WAL on the disk could not complete it.
 */
function writeAgain(path: string): void {
  const descriptor = openSync(path, "r+");
  try {
    const bytes = Buffer.alloc(1024 * 1024);
    let at = 0;
    for (;;) {
      const length = readSync(descriptor, bytes, 0, bytes.length, at);
      if (length === 0) break;
      at += writeSync(descriptor, bytes, 0, length, at);
    }
    fdatasyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
