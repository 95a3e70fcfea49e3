import { expect, test, vi } from "vitest";
import { sqliteStore } from "../../src/stores/sqlite/sqlite-store.js";
import { createManualClock, signalEvent } from "../../src/testing/index.js";
import { batchOf, newEvent, opened, T0 } from "../unit/inbox/new-event.js";
import { startRig, type Rig } from "../unit/inbox/receiver-rig.js";
import { eventually } from "./eventually.js";
import { inboxFiles } from "./inbox-file.js";

// Real files, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** How a person sets the machine's clock: by so much, once or twice. */
const JUMPS: readonly { how: string; by: readonly number[] }[] = [
  { how: "an hour back", by: [-HOUR_MS] },
  { how: "an hour forward", by: [HOUR_MS] },
  { how: "forty days forward", by: [40 * DAY_MS] },
  { how: "forty days back", by: [-40 * DAY_MS] },
  { how: "forty days forward and back again", by: [40 * DAY_MS, -40 * DAY_MS] },
];
/** How far the clock is ahead at first, and by how much it is set back. */
const SET_BACK = JUMPS.flatMap(({ how, by }) => {
  const back = by.at(-1) ?? 0;
  return back < 0 ? [{ how, back, ahead: Math.max(0, ...by) }] : [];
});

/** Each jump is seen by a claim before the next one comes, and before the clock goes on. */
async function jump(rig: Rig, ...jumps: readonly number[]): Promise<void> {
  for (const ms of jumps) {
    rig.clock.setNow(rig.clock.now() + ms);
    const { commit } = rig.store;
    let isSeen = false;
    rig.store.commit = async (batch) => {
      const result = await commit(batch);
      isSeen ||= batch.claim !== null;
      return result;
    };
    await rig.clock.advance(1000);
    await eventually("a claim", () => isSeen);
    rig.store.commit = commit;
  }
}

function countDone(rig: Rig): Promise<number> {
  return rig.receiver.inbox.stats().then(({ done }) => done);
}

for (const { how, by } of JUMPS) {
  test.each([false, true])(
    `a clock set ${how}: all in hand go on and are handed off once (shared: %s)`,
    async (shared) => {
      const store = sqliteStore({ path: inboxFiles().db, shared });
      // Fewer wait than run, so that it claims more; of a shared store only what can run is claimed.
      const rig = await startRig({ store, handoff: { concurrency: shared ? 7 : 4 } });
      const events = await rig.deliverMany(6);
      const running = shared ? 6 : 4;
      await eventually("the callbacks", () => rig.calls.length === running);
      await jump(rig, ...by);
      await rig.clock.advance(30_000 - by.length * 1000 - 1);
      expect(rig.calls.map(({ handoff }) => handoff.abortSignal.aborted)).toEqual(
        Array.from({ length: running }, () => false),
      );

      await eventually("all to be done", async () => {
        for (const call of rig.calls) call.resolve();
        // What waited for its turn with a lease that is over is given back, and comes with the next poll.
        await rig.clock.advance(1000);
        return (await countDone(rig)) === events.length;
      });
      await rig.clock.advance(120_000);
      expect(rig.calls.map(({ signal }) => signal.id).toSorted()).toEqual(events.map(({ id }) => id).toSorted());
      expect(rig.calls.filter(({ handoff }) => handoff.possiblyRepeated || handoff.attempt > 1)).toEqual([]);
    },
  );
}

for (const { how, by } of JUMPS) {
  test(`a clock set ${how}: a retry comes no later than its delay`, async () => {
    const rig = await startRig({ store: sqliteStore(inboxFiles().db), handoff: { backoff: () => 10_000 } });
    const event = signalEvent();
    await rig.deliver(event);
    await eventually("the callback", () => rig.calls.length === 1);
    rig.calls[0]!.reject();
    await eventually("the failure to be stored", async () => (await rig.entry(event.id))?.state === "ready");
    await jump(rig, ...by);
    await rig.clock.advance(11_000);
    await eventually("the retry", () => rig.calls.length === 2);
    rig.calls[1]!.resolve();
    await eventually("its end", async () => (await countDone(rig)) === 1);
  });
}

for (const { how, ahead, back } of SET_BACK) {
  test(`a clock set ${how}: a retry does not come before its delay either`, async () => {
    const rig = await startRig({ store: sqliteStore(inboxFiles().db), handoff: { backoff: () => 2 * HOUR_MS } });
    const event = signalEvent();
    // Forward first: a delay that such a jump goes past is over, whatever the clock does next.
    rig.clock.setNow(rig.clock.now() + ahead);
    await rig.deliver(event);
    await eventually("the callback", () => rig.calls.length === 1);
    rig.calls[0]!.reject();
    await eventually("the failure to be stored", async () => (await rig.entry(event.id))?.state === "ready");
    await jump(rig, back);
    for (let minutes = 0; minutes < 119; minutes++) await rig.clock.advance(60_000);
    expect(rig.calls.length).toBe(1);
    await rig.clock.advance(60_000);
    await eventually("the retry", () => rig.calls.length === 2);
  });
}

for (const { how, ahead, back } of SET_BACK) {
  test(`a clock set ${how} between two lives: what waited is handed off`, async () => {
    const { db } = inboxFiles();
    // The clock of the first life is ahead, if that is what it was.
    const clock = createManualClock(T0 + ahead);
    const first = await startRig({ store: sqliteStore(db), clock, handoff: { concurrency: 1, backoff: () => 10_000 } });
    const events = await first.deliverMany(5);
    await eventually("the callback", () => first.calls.length === 1);
    first.calls[0]!.reject();
    await eventually("the next callback", () => first.calls.length === 2);
    // One waits for its second attempt; four are given back, and due at once.
    await first.receiver.close({ graceMs: 0 });

    clock.setNow(clock.now() + back);
    const second = await startRig({ store: sqliteStore(db), clock, onSignal: () => {} });
    await clock.advance(1000);
    await eventually("four at once", async () => (await countDone(second)) === 4);
    await clock.advance(10_000);
    await eventually("the fifth", async () => (await countDone(second)) === events.length);
  });
}

test("what waited for its turn by a clock an hour ahead is handed off at once, however many there are", async () => {
  const { db } = inboxFiles();
  const store = await opened(sqliteStore(db), createManualClock(T0 + HOUR_MS));
  // More than one claim moves.
  const accepts = Array.from({ length: 1200 }, () => newEvent());
  await store.commit(batchOf({ accepts }));
  await store.close("default");
  const seen: string[] = [];
  const rig = await startRig({ store: sqliteStore(db), onSignal: ({ id }) => void seen.push(id) });
  await eventually("all to be done", async () => (await countDone(rig)) === accepts.length);
  expect(seen.toSorted()).toEqual(accepts.map(({ eventId }) => eventId).toSorted());
});

test("forty days forward and back: what is done may be forgotten, nothing else, and the rest goes on", async () => {
  const store = sqliteStore(inboxFiles().db);
  const rig = await startRig({ store, handoff: { concurrency: 2, timeoutMs: 20 * DAY_MS, maxAttempts: 1 } });
  const [done, dead, leased] = [signalEvent(), signalEvent(), signalEvent()];
  await rig.deliver(done);
  await eventually("the first", () => rig.calls.length === 1);
  rig.calls[0]!.resolve();
  await rig.deliver(dead);
  await eventually("the second", () => rig.calls.length === 2);
  rig.calls[1]!.reject();
  await rig.deliver(leased);
  await rig.deliver({ ...signalEvent(), data: "no object" });
  await eventually("the third", () => rig.calls.length === 3);
  const { accepts } = await store.commit(batchOf({ accepts: [newEvent({ state: "leased" })] }));
  const delayed = {
    state: "ready",
    delayMs: 100 * DAY_MS,
    attempts: 0,
    possiblyRepeated: false,
    lastError: null,
  } as const;
  await store.commit(batchOf({ settlements: [{ seq: accepts[0]!.seq, token: 1, ...delayed }] }));
  const statesNow = async (): Promise<Record<string, unknown>> => {
    const { done: d, dead: x, leased: l, ready: r, quarantined: q } = await rig.receiver.inbox.stats();
    return { done: d, dead: x, leased: l, ready: r, quarantined: q };
  };
  const others = { dead: 1, leased: 1, ready: 1, quarantined: 1 };
  await eventually("all to stand", async () => (await countDone(rig)) === 1);
  expect(await statesNow()).toEqual({ ...others, done: 1 });

  rig.clock.setNow(T0 + 40 * DAY_MS);
  await rig.clock.advance(60_000);
  await eventually("a prune", async () => (await countDone(rig)) === 0);
  // Another round, in which others would go that are not done.
  await rig.clock.advance(60_000);
  expect(await statesNow()).toEqual({ ...others, done: 0 });

  rig.clock.setNow(T0);
  await rig.clock.advance(120_000);
  expect(await statesNow()).toEqual({ ...others, done: 0 });
  for (const { eventId, state } of await rig.entries()) {
    expect((await store.get("default", eventId))?.rawBody?.byteLength, state).toBeGreaterThan(0);
  }
  expect(rig.calls.length).toBe(3);
  rig.calls[2]!.resolve();
  expect(await rig.receiver.inbox.replay(dead.id)).toBe("moved");
  await eventually("the replay", () => rig.calls.length === 4);
  rig.calls[3]!.resolve();
  await eventually("both to be done", async () => (await countDone(rig)) === 2);
});
