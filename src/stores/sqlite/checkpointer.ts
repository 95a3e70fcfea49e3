import type { Database } from "better-sqlite3";
import type { CheckpointCounts } from "../../inbox/store-diagnostics.js";
import type { Background } from "./background.js";
import type { WalState } from "./background-tasks.js";
import { isFailedSync } from "./store-error.js";

/**
 * Keeps the WAL short without making the event loop wait.
 *
 * A checkpoint copies the WAL's pages into the file while commits go on; that is the long part. What was committed
 * meanwhile would keep the WAL from ever beginning anew, so then the next commit is held back for as long as the thread
 * takes to copy that rest too. It waits as a promise: the loop goes on.
 */
export interface Checkpointer {
  /** Resolves when a commit may begin; null when it may at once. */
  held(): Promise<void> | null;
  /** To be called after each commit. */
  committed(): void;
  /** To be called with the error of every task that syncs the file. */
  failed(error: unknown): void;
  /**
   * The WAL must not begin anew in this process: only it still has what the disk may have lost. The next start, which
   * takes nothing for copied, writes all of it into the file.
   */
  isStopped(): boolean;
  counts(): CheckpointCounts;
}

/** Frames after which a checkpoint begins: 8 MiB at SQLite's page size. */
const CHECKPOINT_FRAMES = 2000;
/** Frames past which commits wait for the checkpoint that runs: the disk is slower than what arrives. */
const MOST_FRAMES = 8 * CHECKPOINT_FRAMES;

export function createCheckpointer(db: Database, background: Background): Checkpointer {
  // NOOP looks and does nothing.
  const look = db.prepare<[], WalState>("PRAGMA wal_checkpoint(NOOP)");
  const counts = { done: 0, blocked: 0, failed: 0 };
  let beginsAt = CHECKPOINT_FRAMES;
  let frames = 0;
  let running: Promise<void> | null = null;
  let isHolding = false;
  /** Pages were copied and not synced: SQLite syncs the file with the last of them alone. */
  let isPartial = false;
  let isStopped = false;

  async function checkpoint(): Promise<void> {
    let restarted = false;
    try {
      isPartial = true;
      await background.run("checkpoint");
      isHolding = true;
      restarted = await background.run("restartWal");
      if (restarted) isPartial = false;
      counts[restarted ? "done" : "blocked"] += 1;
    } catch (error) {
      counts.failed += 1;
      failed(error);
    }
    beginsAt = restarted ? CHECKPOINT_FRAMES : frames + CHECKPOINT_FRAMES;
  }

  function failed(error: unknown): void {
    // The kernel forgets what it could not write, and SQLite does not copy again what it copied before.
    if (isPartial && isFailedSync(error)) isStopped = true;
  }

  return {
    held: () => (isHolding || (running !== null && frames > MOST_FRAMES) ? running : null),
    committed() {
      frames = look.get()?.log ?? 0;
      if (running !== null || isStopped || frames < beginsAt) return;
      running = checkpoint().finally(() => {
        running = null;
        isHolding = false;
      });
    },
    failed,
    isStopped: () => isStopped,
    counts: () => ({ ...counts, stopped: isStopped }),
  };
}
