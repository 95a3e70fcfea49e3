import { closeSync, fdatasync, fsyncSync, openSync, readSync } from "node:fs";
import { dirname } from "node:path";
import { createDurations, type DurationStats } from "../../time/durations.js";

/**
 * Makes commits durable without making the event loop wait for the disk: SQLite writes them to the WAL without
 * a sync, and this syncs the WAL in libuv's pool before anything is acknowledged.
 *
 * The descriptor is ours, not SQLite's; a sync is of the file, so it covers whatever any connection or process
 * wrote to it. Opening and closing the WAL drops no lock: SQLite's locks are on the database and its -shm.
 */
export interface WalSync {
  /**
   * Resolves once all that was written before the call is on the disk. One sync runs at a time; calls that come
   * meanwhile share the next. When a sync failed, this call and all later ones reject until `reopen`.
   */
  sync(): Promise<void>;
  /** How many syncs have begun. Transactions between two of them share the later one. */
  begun(): number;
  /**
   * To be called after a failed sync, once the content was written again. The kernel has dropped the pages that it could
   * not write, and would call the next sync of the old descriptor a success.
   */
  reopen(): void;
  /** @returns false when the four bytes there are zeros or missing, as in a hole; a frame begins with its page's number */
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
      // Opened first: the number of a closed descriptor may soon be that of another file of the host.
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

/** The names of new files are data of their folder: without this sync a power cut may lose them. */
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

/** The name of a new folder is data of the one above it, up to the first that was there before. */
export function syncFoldersFrom(folder: string, firstMade: string): void {
  syncFolderOf(folder);
  if (folder !== firstMade) syncFoldersFrom(dirname(folder), firstMade);
}
