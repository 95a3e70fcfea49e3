import { closeSync, fdatasync, openSync, readSync } from "node:fs";
import { createDurations } from "../../../inbox/durations.js";

/**
 * Makes commits durable without making the event loop wait for the disk: SQLite writes them to the
 * WAL without a sync, and this syncs the WAL in libuv's pool before anything is acknowledged.
 *
 * Two syncs can run at the same time, each on a descriptor of its own: the kernel reports a failed
 * write once to each descriptor. A sync covers everything that any process wrote to the file
 * before. Closing a descriptor releases none of SQLite's locks, which are on the database and its
 * -shm.
 */
export function createWalSync(inboxPath: string) {
  const walPath = `${inboxPath}-wal`;
  const open = (): number => openSync(walPath, "r+");
  const descriptors = [open(), open()];
  let idle = [...descriptors];
  const durations = createDurations();
  const atOnce = createTrial();
  const fourBytes = Buffer.alloc(4);
  let failure: Error | null = null;
  const running = new Set<Promise<void>>();
  /** The result of the newest sync and of all before it. */
  let newest: Promise<void> = Promise.resolve();
  /** What the calls share that came while two syncs ran. */
  let next: Promise<void> | null = null;

  function run(): Promise<void> {
    if (failure !== null) return Promise.reject(failure);
    const descriptor = idle.pop() as number;
    const isAlone = running.size === 0;
    const own = new Promise<void>((resolve, reject) => {
      const beganAt = performance.now();
      fdatasync(descriptor, (error) => {
        const durationMs = performance.now() - beganAt;
        durations.add(durationMs);
        atOnce.add(durationMs, isAlone);
        running.delete(own);
        idle.push(descriptor);
        // A sync that succeeds beside one that failed proves nothing.
        failure ??= error;
        if (failure === null) resolve();
        else reject(failure);
      });
    });
    running.add(own);
    newest = bothOf(own, newest);
    return newest;
  }

  function runNext(): Promise<void> {
    next = null;
    return run();
  }

  return {
    /**
     * Resolves once everything that was written before the call is on the disk: its own sync and
     * all earlier ones have succeeded, since SQLite reads no frame of the WAL behind a frame that
     * is missing. Calls while two syncs run share the next one. If a sync fails, those that overlap
     * it reject too, and so do all calls until `reopen`.
     */
    sync(): Promise<void> {
      if (idle.length > 0 && next === null) return run();
      return (next ??= Promise.race(running).then(runNext, runNext));
    },
    /**
     * How many syncs are worth while at the same time: 1 if the disk makes one after the other.
     * Measured with the first syncs.
     */
    atOnce: atOnce.result,
    /**
     * To be called after a failed sync, once the content was written again. The kernel has dropped
     * the pages that it could not write, and a later sync of the old descriptors would succeed
     * without them. Waits for the syncs that run.
     */
    async reopen(): Promise<void> {
      await Promise.allSettled(running);
      // Each is opened before its old one is closed, because the number of a closed descriptor can
      // be reused for another file.
      for (let index = 0; index < 2; index += 1) {
        descriptors.push(open());
        closeSync(descriptors.shift() as number);
      }
      idle = [...descriptors];
      failure = null;
      newest = Promise.resolve();
    },
    /**
     * @returns false when these four bytes are zeros or missing: a frame begins with its page's
     * number, a hole does not
     */
    hasBytesAt(position: number): boolean {
      return (
        readSync(descriptors[0] as number, fourBytes, 0, 4, position) === 4 &&
        fourBytes.readUInt32BE() !== 0
      );
    },
    durations: durations.stats,
    close(): void {
      failure = new Error("the WAL is closed");
      descriptors.forEach((descriptor) => closeSync(descriptor));
    },
  };
}

/** Ends when both have ended, also if one fails: no descriptor in use is closed then. */
async function bothOf(own: Promise<void>, before: Promise<void>): Promise<void> {
  try {
    await own;
  } finally {
    await before;
  }
}

export type WalSync = ReturnType<typeof createWalSync>;

/** So many syncs of each kind are measured. */
const TRIALS = 16;
/**
 * After so many syncs they are measured anew, because the first ones may have met a busy machine.
 */
const RENEWED_AFTER = 4096;
/** A disk that makes one sync after the other needs up to twice the time for the second one. */
const MOST_SLOWER = 1.5;

/**
 * Tries whether the disk overlaps syncs: the first ones run alone, the next ones beside another
 * one. If these take much longer, overlapping would only make the batches smaller (20 % fewer
 * deliveries), so one runs at a time until the next trial.
 */
function createTrial() {
  let alone: number[] = [];
  let beside: number[] = [];
  let result = 1;
  let count = 0;
  return {
    result: () => result,
    add(durationMs: number, isAlone: boolean): void {
      count += 1;
      if (count % RENEWED_AFTER === 0) {
        alone = [];
        beside = [];
      }
      const measured = isAlone ? alone : beside;
      if (measured.length === TRIALS) return;
      measured.push(durationMs);
      if (alone.length < TRIALS) return;
      result = beside.length === TRIALS && medianOf(beside) > MOST_SLOWER * medianOf(alone) ? 1 : 2;
    },
  };
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
