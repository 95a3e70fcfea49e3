import { codeOf, ignore } from "../../../../base/errors.js";
import type { Background } from "../background.js";
import type { CheckpointCounts } from "../diagnostics.js";

export type Checkpointer = ReturnType<typeof createCheckpointer>;

/** Frames after which a checkpoint begins: 16 MiB at SQLite's page size. */
const CHECKPOINT_FRAMES = 4000;
/**
 * Above this, events arrive faster than the disk writes them, and commits wait for the running
 * checkpoint.
 */
const MOST_FRAMES = 4 * CHECKPOINT_FRAMES;

/**
 * Keeps the WAL short without making the event loop wait.
 *
 * A thread copies the WAL's pages into the file while commits continue, which takes most of the
 * time. SQLite restarts the WAL only when all pages are copied. So after this copy commits wait, as
 * promises, until the thread has copied the newer pages.
 */
export function createCheckpointer(background: Background) {
  const counts = { done: 0, blocked: 0, failed: 0 };
  let beginsAt = CHECKPOINT_FRAMES;
  let frames = 0;
  let running: Promise<void> | null = null;
  let mustCommitsWait = false;
  /**
   * Pages were copied but not synced yet: if a sync fails now, only the WAL has them. SQLite syncs
   * the file once, after the last page.
   */
  let isPartial = false;
  let isStopped = false;

  async function checkpoint(end: "restartWal" | "truncateWal"): Promise<boolean> {
    let restarted = false;
    try {
      isPartial = true;
      await background.run("checkpoint");
      mustCommitsWait = true;
      restarted = await background.run(end);
      if (restarted) isPartial = false;
      counts[restarted ? "done" : "blocked"] += 1;
    } catch (error) {
      counts.failed += 1;
      failed(error);
    }
    beginsAt = restarted ? CHECKPOINT_FRAMES : frames + CHECKPOINT_FRAMES;
    return restarted;
  }

  function begin(end: Parameters<typeof checkpoint>[0]): Promise<boolean> {
    const restarted = checkpoint(end).finally(() => {
      running = null;
      mustCommitsWait = false;
    });
    running = restarted.then(ignore);
    return restarted;
  }

  /** Copies the whole WAL into the file, and empties it. @returns false if a reader needs it */
  async function truncate(): Promise<boolean> {
    if (running === null) return !isStopped && begin("truncateWal");
    await running;
    return truncate();
  }

  /** To be called with the error of every task that syncs the file. */
  function failed(error: unknown): void {
    // The kernel drops pages that it could not write, and SQLite does not copy a page twice. So
    // only the WAL has them.
    if (isPartial && codeOf(error) === "SQLITE_IOERR_FSYNC") isStopped = true;
  }

  return {
    /** Resolves when a commit can begin; null when it can begin immediately. */
    waitForCheckpoint: () =>
      mustCommitsWait || (running !== null && frames > MOST_FRAMES) ? running : null,
    /** To be called after each commit. @param length of the WAL, in frames */
    committed(length: number): void {
      frames = length;
      if (running !== null || isStopped || frames < beginsAt) return;
      void begin("restartWal");
    },
    truncate,
    failed,
    /**
     * True when this process must not restart the WAL, because it has the only copy of pages that
     * the disk may have lost. The next start copies the whole WAL into the file again.
     */
    isStopped: () => isStopped,
    counts: (): CheckpointCounts => ({ ...counts, stopped: isStopped }),
  };
}
