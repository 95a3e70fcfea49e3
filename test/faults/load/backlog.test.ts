import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test, vi } from "vitest";
import type { InboxStore } from "../../../src/kit/index.js";
import { sqliteStore } from "../../../src/kit/stores/sqlite/sqlite-store.js";
import { signalEvent } from "../../../src/kit/testing/index.js";
import { batchOf, newEvent, opened } from "../../unit/kit/inbox/new-event.js";
import { startRig } from "../../unit/kit/inbox/receiver-rig.js";
import { eventually } from "../eventually.js";
import { inboxFiles } from "../inbox-file.js";

// Tens of thousands of commits' worth of events, on a disk that others may use too. Alone it is a
// few seconds.
vi.setConfig({ testTimeout: 180_000 });

const DRAIN_DEADLINE_MS = 120_000;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/**
 * What is in use, bodies among it. V8 frees those of the first collection in the background, and
 * waits for that in the second.
 */
async function usedMegabytes(): Promise<number> {
  collectGarbage();
  await new Promise((resume) => setImmediate(resume));
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}

/** Puts as many events there as are to wait, each stored before the next. Their ids are numbers. */
async function fill(store: InboxStore, count: number): Promise<void> {
  const template = signalEvent();
  await opened(store);
  for (let from = 0; from < count; from += 2000) {
    const accepts = Array.from({ length: Math.min(2000, count - from) }, (_, index) =>
      newEvent({ signal: { ...template, id: String(from + index) } }),
    );
    await store.commit(batchOf({ accepts }));
  }
  await store.close("default");
}

function counted(store: InboxStore): InboxStore & { commits: number } {
  const counting: InboxStore & { commits: number } = {
    ...store,
    commits: 0,
    commit(batch) {
      counting.commits += 1;
      return store.commit(batch);
    },
  };
  return counting;
}

test("an hour of downtime over 24,000 waiting events costs a few probes, then each is handed off once", async () => {
  const store = counted(sqliteStore(inboxFiles().db));
  const backlog = 24_000;
  await fill(store, backlog);
  store.commits = 0;
  const usedBefore = await usedMegabytes();

  let isDown = true;
  let attempts = 0;
  let doneOnce = 0;
  const done = new Uint8Array(backlog);
  const rig = await startRig({
    store,
    onSignal({ id }) {
      attempts += 1;
      if (isDown) throw new Error("the queue is down");
      const index = Number(id);
      done[index]! += 1;
      if (done[index] === 1) doneOnce += 1;
    },
  });
  const isOpen = (): boolean => rig.receiver.health().breaker === "open";
  await eventually("the breaker to open", isOpen);
  for (let minute = 0; minute < 60; minute++) {
    await rig.clock.advance(60_000);
    await eventually("the end of a probe", isOpen);
  }

  // 16 at once, then one after 1, 2, 4, 8, 16, 32 and each 60 s. Each is a claim and a settlement.
  expect(attempts).toBeGreaterThan(16);
  expect(attempts).toBeLessThan(16 + 6 + 61);
  expect(store.commits).toBeLessThan(2 * attempts + 10);
  expect((await usedMegabytes()) - usedBefore).toBeLessThan(16);
  await eventually(
    "the last probe to be stored",
    async () => (await rig.receiver.inbox.stats()).leased === 0,
  );
  const askedAt = performance.now();
  expect(await rig.receiver.inbox.stats()).toMatchObject({
    ready: backlog,
    done: 0,
    dead: 0,
    running: 0,
  });
  expect(performance.now() - askedAt).toBeLessThan(1000);
  const tried = (await rig.receiver.inbox.list({ limit: 500 })).map((entry) => entry.attempts);
  // Only those due first were tried, and those a few times at most.
  expect(tried.reduce((sum, each) => sum + each, 0)).toBe(attempts);
  expect(Math.max(...tried)).toBeLessThanOrEqual(3);

  const failed = attempts;
  isDown = false;
  store.commits = 0;
  await rig.clock.advance(60_000);
  await eventually("half of them", () => doneOnce > backlog / 2, DRAIN_DEADLINE_MS);
  // What the rig noted is the test's own, and grows while the machine is slow to ask.
  rig.seen.length = 0;
  expect((await usedMegabytes()) - usedBefore).toBeLessThan(16);
  // All but those that wait for their next attempt need no time to pass.
  await eventually("those that are due", () => doneOnce >= backlog - failed, DRAIN_DEADLINE_MS);
  await eventually("all to be done", async () => {
    await rig.clock.advance(10_000);
    return (await rig.receiver.inbox.stats()).done === backlog;
  });
  expect(done.every((times) => times === 1)).toBe(true);
  expect(store.commits).toBeLessThan(backlog / 10);
  expect(rig.receiver.health().breaker).toBe("closed");
});
