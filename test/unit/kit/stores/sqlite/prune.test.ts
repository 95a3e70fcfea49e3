import { expect, onTestFinished, test } from "vitest";
import type { NewEvent } from "../../../../../src/kit/inbox/batch.js";
import type { InboxStore } from "../../../../../src/kit/index.js";
import { DAY_MS } from "../../../../../src/base/time/units.js";
import { memoryStore } from "../../../../../src/kit/stores/memory.js";
import { openDatabase } from "../../../../../src/kit/stores/sqlite/open-database.js";
import { createManualClock } from "../../../../../src/kit/testing/index.js";
import { batchOf, newEvent, opened, T0 } from "../../inbox/new-event.js";
import { accept, inboxPath, settleDone } from "./open-store.js";

const BODY = Buffer.from("{}");
const AGES = { payloadsOlderThanMs: 7 * DAY_MS, keysOlderThanMs: 30 * DAY_MS };

async function clocked() {
  const clock = createManualClock(T0);
  return { clock, store: await opened(memoryStore(), clock) };
}

const prune = (store: InboxStore, limit = 500) =>
  store.prune({ endpoint: "default", ...AGES, limit });

/** Events that are received now. */
async function add(
  store: InboxStore,
  clock: { now(): number },
  count: number,
  over: Partial<NewEvent> & { name?: string; endpoint?: string } = {},
): Promise<void> {
  const { name = `evt_${clock.now()}`, endpoint = "default", ...rest } = over;
  for (let index = 0; index < count; index += 1000) {
    const accepts = Array.from({ length: Math.min(1000, count - index) }, (_, each) =>
      newEvent({
        eventId: `${name}_${index + each}`,
        body: BODY,
        state: "done",
        received: { at: clock.now(), headers: {} },
        ...rest,
      }),
    );
    await store.commit(batchOf({ endpoint, accepts }));
  }
}

/** Prunes until a call has looked at everything. @returns how much was deleted, in how many calls */
async function pruneAll(store: InboxStore) {
  const total = { payloads: 0, keys: 0, calls: 0 };
  for (;;) {
    const { payloads, keys, isAtEnd } = await prune(store);
    total.payloads += payloads;
    total.keys += keys;
    total.calls += 1;
    expect(total.calls, "prune does not end").toBeLessThan(100);
    if (isAtEnd === true) return total;
  }
}

test("a done event stands in no index but those of the keys, and of its burst", () => {
  const { db, release } = openDatabase(inboxPath(), "owner");
  onTestFinished(() => release({ keepWal: false }));
  const sql = "SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL";
  const conditions = db
    .prepare<[], string>(sql)
    .pluck()
    .all()
    .map((index) => /WHERE (.*)/.exec(index)?.[1] ?? "none");
  expect(conditions.toSorted()).toEqual([
    "burst IS NOT NULL",
    "content_key IS NOT NULL",
    "none",
    "state = 'dead'",
    "state = 'leased'",
    "state = 'quarantined'",
    "state = 'ready'",
    "state = 'ready'",
    "state = 'ready' AND last_error IS NOT NULL",
  ]);
});

test("an event that becomes done long after its neighbours were pruned is pruned when it is old", async () => {
  const { store, clock } = await clocked();
  const { accepts } = await accept(
    store,
    newEvent({ eventId: "evt_late", state: "leased", leaseMs: 1 }),
  );
  await add(store, clock, 1, { name: "evt_dead", state: "quarantined" });
  await add(store, clock, 3000);
  clock.setNow(T0 + 8 * DAY_MS);
  await add(store, clock, 1, { name: "evt_new" });
  expect(await pruneAll(store)).toMatchObject({ payloads: 3000, keys: 0 });
  await settleDone(store, accepts[0]!.seq);
  const dead = { endpoint: "default", eventId: "evt_dead_0" };
  const read = { eventId: dead.eventId, type: "signal.published", subtype: null, subject: null };
  expect(await store.replay([dead], () => read)).toEqual(["moved"]);
  expect(await pruneAll(store)).toMatchObject({ payloads: 0, keys: 0 });
  clock.setNow(T0 + 15.1 * DAY_MS);
  expect(await pruneAll(store)).toMatchObject({ payloads: 2, keys: 0 });
  expect(await store.get("default", "evt_late")).toMatchObject({ rawBody: null });
  clock.setNow(T0 + 30.1 * DAY_MS);
  expect(await pruneAll(store)).toMatchObject({ payloads: 0, keys: 3000 });
  clock.setNow(T0 + 38.1 * DAY_MS);
  // The event with the largest seq stays.
  expect(await pruneAll(store)).toMatchObject({ payloads: 0, keys: 1 });
  expect((await store.list({})).map(({ eventId }) => eventId)).toEqual(["evt_dead_0", "evt_new_0"]);
});

test("what cannot be deleted, and the events of others, are passed in a few calls", async () => {
  const { store, clock } = await clocked();
  await store.open({ endpoint: "other", clock });
  await add(store, clock, 2500, { name: "evt_dead", state: "quarantined" });
  await add(store, clock, 2500, { name: "evt_other", endpoint: "other" });
  await add(store, clock, 700);
  clock.setNow(T0 + 40 * DAY_MS);
  await add(store, clock, 1, { name: "evt_new" });
  const pruned = await pruneAll(store);
  expect(pruned).toMatchObject({ payloads: 700, keys: 700 });
  expect(pruned.calls).toBeLessThan(14);
  expect(await store.stats("default")).toMatchObject({ quarantined: 2500, done: 1 });
  expect(await store.stats("other")).toMatchObject({ done: 2500 });
  // Each pass begins at the first event again.
  await store.discard([{ endpoint: "default", eventId: "evt_dead_3" }]);
  clock.setNow(T0 + 80 * DAY_MS);
  expect(await pruneAll(store)).toMatchObject({ payloads: 1, keys: 1 });
});

test("a prune does not look at the events that are too young", async () => {
  const { store, clock } = await clocked();
  await add(store, clock, 100);
  clock.setNow(T0 + 31 * DAY_MS);
  await add(store, clock, 9000, { name: "evt_young" });
  expect(await pruneAll(store)).toEqual({ payloads: 100, keys: 100, calls: 1 });
});

test("events that were received while the clock was ahead hide none", async () => {
  const { store, clock } = await clocked();
  clock.setNow(T0 + 365 * DAY_MS);
  await add(store, clock, 4100, { name: "evt_ahead" });
  clock.setNow(T0);
  await add(store, clock, 100);
  clock.setNow(T0 + 8 * DAY_MS);
  await add(store, clock, 3000, { name: "evt_young" });
  expect(await pruneAll(store)).toMatchObject({ payloads: 100, keys: 0 });
  clock.setNow(T0 + 31 * DAY_MS);
  expect(await pruneAll(store)).toMatchObject({ payloads: 3000, keys: 100 });
});

test("the walk of each endpoint continues where it was", async () => {
  const { store, clock } = await clocked();
  await store.open({ endpoint: "other", clock });
  await add(store, clock, 10, { name: "evt_other", endpoint: "other" });
  await add(store, clock, 1500, { name: "evt_dead", state: "quarantined" });
  clock.setNow(T0 + 8 * DAY_MS);
  await add(store, clock, 1, { name: "evt_new" });
  expect(await prune(store)).toMatchObject({ payloads: 0, isAtEnd: false });
  expect(await store.prune({ endpoint: "other", ...AGES, limit: 500 })).toMatchObject({
    payloads: 10,
  });
});

test("an event that has its payload keeps its id", async () => {
  const { store, clock } = await clocked();
  await add(store, clock, 10);
  clock.setNow(T0 + 40 * DAY_MS);
  const ages = { payloadsOlderThanMs: 60 * DAY_MS, keysOlderThanMs: 30 * DAY_MS };
  const pruned = await store.prune({ endpoint: "default", ...ages, limit: 500 });
  expect(pruned).toMatchObject({ payloads: 0, keys: 0 });
});
