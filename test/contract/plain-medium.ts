import { nextTurn } from "../../src/base/time/timers.js";
import type { InboxStore } from "../../src/kit/index.js";
import { memoryStore } from "../../src/kit/stores/memory.js";
import type { ContractMedium } from "./store-contract.js";

/**
 * What a broken store does otherwise. `store` is what the process sees; its writes reach the medium
 * a turn later.
 */
export interface Break {
  /** Bends the store that all writes and reads go through. */
  bend?(store: InboxStore): InboxStore;
  /** Whether a commit waits until what it wrote is on the medium. */
  waits?(result: Awaited<ReturnType<InboxStore["commit"]>>): boolean;
}

/**
 * A store with a medium below it that writes reach a turn of the event loop later, as a disk: sound
 * as it stands, and made wrong in one place by a {@link Break}.
 */
export function plainMedium({
  bend = (store) => store,
  waits = () => true,
}: Break = {}): ContractMedium {
  const inMemory = bend(memoryStore());
  const onMedium = bend(memoryStore());
  let flushed: Promise<unknown> = Promise.resolve();

  /** The same write again, below, in the same order. */
  function flush(write: (store: InboxStore) => Promise<unknown>): Promise<unknown> {
    flushed = flushed.then(nextTurn).then(() => write(onMedium));
    return flushed;
  }

  async function through<Result>(write: (store: InboxStore) => Promise<Result>): Promise<Result> {
    const result = await write(inMemory);
    await flush(write);
    return result;
  }

  const store: InboxStore = {
    ...inMemory,
    name: "plain",
    async open(context) {
      await onMedium.open(context);
      await inMemory.open(context);
    },
    async close(endpoint) {
      await flushed;
      await inMemory.close(endpoint);
      await onMedium.close(endpoint);
    },
    async commit(batch) {
      const result = await inMemory.commit(batch);
      const written = flush((below) => below.commit(batch));
      if (waits(result)) await written;
      return result;
    },
    reclaim: (request) => through((each) => each.reclaim(request)),
    replay: (...args) => through((each) => each.replay(...args)),
    retryNow: (events) => through((each) => each.retryNow(events)),
    saveReport: (...args) => through((each) => each.saveReport(...args)),
    setAlarm: (...args) => through((each) => each.setAlarm(...args)),
    erase: (...args) => through((each) => each.erase(...args)),
    discard: (events) => through((each) => each.discard(events)),
    prune: (request) => through((each) => each.prune(request)),
  };
  return {
    createStore: () => store,
    readBack: (endpoint, eventId) => onMedium.get(endpoint, eventId),
    destroy: async () => {},
  };
}
