import type { Batch } from "../../../../src/kit/inbox/batch.js";
import { SignalboxError, type InboxStore } from "../../../../src/kit/index.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";

export interface FaultyStore extends InboxStore {
  /** Every batch that reached the store, in order; of a refused one as well. */
  readonly commits: Batch[];
  /** `commit` and `reclaim`, in the order in which they were called. */
  readonly calls: string[];
  /**
   * From now on every write fails like this; null ends that. `applied`: the commit is done all the
   * same.
   */
  fail(error: Error | null, how?: { applied: boolean }): void;
  /** From now on a batch with such an event is refused as a row error. */
  refuse(eventIds: readonly string[]): void;
  /** Commits wait until the function that comes back is called. */
  hold(): () => void;
}

export const mediumError = (): Error =>
  new SignalboxError("store_failed", "The disk is full.", "Make room.");

export const rowError = (): Error =>
  new SignalboxError("store_row_refused", "A row was refused.", "");

/** A real memory store whose commits can be held up, refused and lost. */
export function faultyStore(inner: InboxStore = memoryStore()): FaultyStore {
  const commits: Batch[] = [];
  const calls: string[] = [];
  let failure: { error: Error; applied: boolean } | null = null;
  let refused: readonly string[] = [];
  let gate: Promise<void> | null = null;

  return {
    ...inner,
    commits,
    calls,
    async commit(batch) {
      calls.push("commit");
      commits.push(batch);
      await gate;
      if (failure !== null) {
        if (failure.applied) await inner.commit(batch);
        throw failure.error;
      }
      if (batch.accepts.some(({ eventId }) => refused.includes(eventId))) {
        throw rowError();
      }
      return inner.commit(batch);
    },
    async reclaim(request) {
      calls.push("reclaim");
      if (failure !== null) throw failure.error;
      return inner.reclaim(request);
    },
    fail(error, { applied } = { applied: false }) {
      failure = error === null ? null : { error, applied };
    },
    refuse(eventIds) {
      refused = eventIds;
    },
    hold() {
      let release = (): void => {};
      gate = new Promise((resolve) => {
        release = () => {
          gate = null;
          resolve();
        };
      });
      return () => release();
    },
  };
}
