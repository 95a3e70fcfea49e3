import type { InboxStore } from "../../src/kit/index.js";
import { faultyStore } from "../unit/kit/inbox/faulty-store.js";
import { until } from "../unit/until.js";

/** A store at work whose commits wait while it is held: a slow disk. */
export function heldStore(inner?: InboxStore) {
  const store = faultyStore(inner);
  let before = 0;
  let release = (): void => {};
  return {
    store,
    hold(): void {
      before = store.commits.length;
      release = store.hold();
    },
    release: () => release(),
    /** Resolves when a commit waits. */
    waits: () => until(() => store.commits.length > before),
  };
}
