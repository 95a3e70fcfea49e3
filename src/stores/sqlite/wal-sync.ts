import { closeSync, fdatasync, fsyncSync, openSync, readSync } from "node:fs";
import { dirname } from "node:path";
import { createDurations, type DurationStats } from "../../time/durations.js";

/**
 * Makes commits durable without making the event loop wait for the disk: SQLite writes them to the WAL without a sync, and
 * this syncs the WAL in libuv's pool before anything is acknowledged.
 *
 * It has a separate descriptor. A sync covers everything that any process wrote to the file. Closing the descriptor releases
 * none of SQLite's locks, which are on the database and its -shm.
 */
export interface WalSync {
  /**
   * Resolves once everything that was written before the call is on the disk. One sync runs at a time; calls during a sync
   * share the next one. After a sync failed, all calls reject until `reopen`.
   */
  sync(): Promise<void>;
  /** The number of syncs that have begun. Transactions between two syncs share the later one. */
  begun(): number;
  /**
   * To be called after a failed sync, once the content was written again. The kernel has dropped the pages that it could not
   * write, and a later sync of the old descriptor would succeed without them.
   */
  reopen(): void;
  /** @returns false when the four bytes at this position are zeros or missing: a frame begins with its page's number, a hole does not */
  hasBytesAt(position: number): boolean;
  durations(): DurationStats;
  close(): void;
}

export function createWalSync(inboxPath: string): WalSync {
  const walPath = `${inboxPath}-wal`;
  let descriptor = openSync(walPath, "r+");
  const durations = createDurations();
  const fourBytes = Buffer.alloc(4);
  let begun = 0;
  let failure: Error | null = null;
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  function run(): Promise<void> {
    if (failure !== null) return Promise.reject(failure);
    begun += 1;
    running = new Promise<void>((resolve, reject) => {
      const beganAt = performance.now();
      fdatasync(descriptor, (error) => {
        durations.add(performance.now() - beganAt);
        running = null;
        failure = error;
        if (error === null) resolve();
        else reject(error);
      });
    });
    return running;
  }

  function runNext(): Promise<void> {
    next = null;
    return run();
  }

  return {
    sync: () => (running === null ? run() : (next ??= running.then(runNext, runNext))),
    begun: () => begun,
    reopen() {
      // Opened before the old one is closed, because the number of a closed descriptor can be reused for another file.
      const old = descriptor;
      descriptor = openSync(walPath, "r+");
      failure = null;
      closeSync(old);
    },
    hasBytesAt(position) {
      return readSync(descriptor, fourBytes, 0, 4, position) === 4 && fourBytes.readUInt32BE() !== 0;
    },
    durations: durations.stats,
    close() {
      failure = new Error("the WAL is closed");
      closeSync(descriptor);
    },
  };
}

/** Syncs the names of new files in a folder, which a power cut could lose. */
export function syncFolderOf(path: string): void {
  // Windows does not need this, and cannot open a folder.
  if (process.platform === "win32") return;
  const folder = openSync(dirname(path), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Syncs the names of new folders, from this folder up to the first one that was made. */
export function syncFoldersFrom(folder: string, firstMade: string): void {
  syncFolderOf(folder);
  if (folder !== firstMade) syncFoldersFrom(dirname(folder), firstMade);
}
