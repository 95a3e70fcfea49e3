import { expect, test } from "vitest";
import type { InboxStore } from "../../../src/index.js";
import { memoryStore } from "../../../src/stores/memory.js";
import { turns } from "../until.js";
import { faultyStore, mediumError } from "./faulty-store.js";
import { startRig } from "./receiver-rig.js";

/** A store that takes no new event while it is full, and everything else. */
function fillableStore(): { store: InboxStore; fill(full: boolean): void } {
  const inner = memoryStore();
  let isFull = false;
  const commit: InboxStore["commit"] = async (batch) => {
    if (isFull && batch.accepts.length > 0) throw mediumError();
    return inner.commit(batch);
  };
  return { store: { ...inner, commit }, fill: (full) => (isFull = full) };
}

test("a store that takes no new events still takes the ends of old ones, and stays red meanwhile", async () => {
  const { store, fill } = fillableStore();
  const rig = await startRig({ store });
  const [first] = await rig.begin(1);
  fill(true);
  rig.calls[0]!.resolve();
  const answer = rig.deliver();
  await turns();
  expect((await answer).status).toBe(503);
  expect((await rig.entry(first.id))?.state).toBe("done");
  await rig.clock.advance(5000);
  expect(rig.receiver.health()).toMatchObject({ ok: false, store: { failure: "store_failed" } });
  fill(false);
  expect((await rig.deliver()).status).toBe(200);
  expect(rig.receiver.health().ok).toBe(true);
});

test("without deliveries that could show it, a store that works otherwise counts as well after a while", async () => {
  const { store, fill } = fillableStore();
  const rig = await startRig({ store });
  fill(true);
  expect((await rig.deliver()).status).toBe(503);
  await rig.clock.advance(12_000);
  expect(rig.receiver.health().ok).toBe(true);
});

test("pruning is put off while events wait, but not for ever", async () => {
  const store = faultyStore();
  let prunes = 0;
  const prune: InboxStore["prune"] = (request) => ((prunes += 1), store.prune(request));
  const rig = await startRig({ store: { ...store, prune }, ackTimeoutMs: 1_000_000 });
  const release = store.hold();
  const answer = rig.deliver();
  await rig.clock.advance(60_100);
  expect(prunes).toBe(0);
  await rig.clock.advance(100);
  expect(prunes).toBe(1);
  release();
  expect((await answer).status).toBe(200);
});
