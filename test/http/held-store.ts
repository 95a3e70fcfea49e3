import type { InboxStore } from "../../src/kit/index.js";
import { memoryStore } from "../../src/kit/stores/memory.js";
import { latch, type Latch } from "./latch.js";

/** A store at work whose commits of events wait while it is held: a slow disk. */
export function heldStore(store: InboxStore = memoryStore()) {
  let gate: Latch | null = null;
  let onWait: () => void = () => undefined;
  let waiting = 0;
  const control = {
    store: {
      ...store,
      async commit(batch) {
        if (gate !== null && batch.accepts.length > 0) {
          waiting += 1;
          onWait();
          await gate.opened;
          waiting -= 1;
        }
        return store.commit(batch);
      },
    } satisfies InboxStore as InboxStore,
    hold(): void {
      gate ??= latch();
    },
    release(): void {
      gate?.open();
      gate = null;
    },
    /** Resolves while a commit waits. */
    waits(): Promise<void> {
      return new Promise((resolve) => {
        if (waiting > 0) resolve();
        else onWait = resolve;
      });
    },
  };
  return control;
}
