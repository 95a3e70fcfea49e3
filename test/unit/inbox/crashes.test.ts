import { expect, test } from "vitest";
import { memoryStore } from "../../../src/stores/memory.js";
import { createManualClock, signalEvent } from "../../../src/testing/index.js";
import { turns, until } from "../until.js";
import { crashedEvent, newEvent, opened, T0 } from "./new-event.js";
import { startRig, type Rig } from "./receiver-rig.js";

// A process that dies is a receiver that is never closed, whose clock stands still, and whose store another one opens.

test("what a dead process had in hand is handed off again at once, flagged, and with no attempt used up", async () => {
  const store = memoryStore();
  const dead = await startRig({ store });
  const events = await dead.begin(3);
  const next = await startRig({ store });
  await until(() => next.calls.length === 3);
  expect(next.calls.map(({ signal }) => signal.id).toSorted()).toEqual(events.map(({ id }) => id).toSorted());
  for (const { handoff } of next.calls) {
    expect(handoff).toMatchObject({ attempt: 1, possiblyRepeated: true, replayed: false });
  }
  next.calls[0]!.resolve();
  await until(() => next.namesSeen().includes("handedOff"));
  expect(await next.entry(next.calls[0]!.signal.id)).toMatchObject({ state: "done", attempts: 1, crashes: 1 });
});

test("the dead process's late settlement changes nothing", async () => {
  const store = memoryStore();
  const dead = await startRig({ store });
  const [event] = await dead.begin(1);
  const next = await startRig({ store });
  await until(() => next.calls.length === 1);
  dead.calls[0]!.resolve();
  await turns();
  expect(await next.entry(event.id)).toMatchObject({ state: "leased", attempts: 0 });
  expect(dead.namesSeen()).not.toContain("handedOff");
});

test("an event that was done, dead, or waiting at the crash is neither flagged nor counted", async () => {
  const store = memoryStore();
  const dead = await startRig({ store, handoff: { maxAttempts: 1, concurrency: 2 } });
  const events = await dead.begin(2);
  dead.calls[0]!.resolve();
  dead.calls[1]!.reject();
  await turns();
  const next = await startRig({ store });
  await turns();
  expect(next.calls).toEqual([]);
  const entries = await Promise.all(events.map(({ id }) => next.entry(id)));
  expect(entries.map((entry) => [entry?.state, entry?.crashes, entry?.possiblyRepeated])).toEqual([
    ["done", 0, false],
    ["dead", 0, false],
  ]);
});

test("the fifth crash makes an event dead, as a crash loop, with its payload", async () => {
  const store = memoryStore();
  const event = signalEvent();
  const first = await startRig({ store });
  await first.deliver(event);
  let last: Rig = first;
  for (let crash = 1; crash <= 5; crash++) {
    await until(() => last.calls.length === 1, `the hand-off before crash ${crash}`);
    last = await startRig({ store });
  }
  await turns();
  expect(last.calls).toEqual([]);
  expect(last.seen).toEqual([expect.objectContaining({ name: "dead", eventId: event.id, reason: "crash_loop" })]);
  expect(await last.receiver.inbox.get(event.id)).toMatchObject({
    state: "dead",
    crashes: 5,
    attempts: 0,
    lastError: "crash_loop",
    rawBody: expect.any(Uint8Array),
  });
  expect(await last.receiver.inbox.replay(event.id)).toBe("moved");
  await until(() => last.calls.length === 1);
  expect(last.calls[0]!.handoff).toMatchObject({ attempt: 1, replayed: true, possiblyRepeated: true });
});

test("a suspect is handed off with no other beside it, before and after others, and nothing is lost", async () => {
  const store = await opened(memoryStore());
  const suspects = [await crashedEvent(store, 2), await crashedEvent(store, 3)];
  const accepts = Array.from({ length: 30 }, () => newEvent());
  await store.commit({ settlements: [], accepts, claim: null });

  const running = new Set<string>();
  const companies: string[][] = [];
  const rig = await startRig({
    store,
    handoff: { concurrency: 4 },
    onSignal: async ({ id }) => {
      running.add(id);
      companies.push([...running]);
      await turns(3);
      running.delete(id);
    },
  });
  const late = await rig.deliverMany(20);
  const handedOff = () => rig.seen.filter(({ name }) => name === "handedOff").map(({ eventId }) => String(eventId));
  await until(() => handedOff().length === 52, "all done");
  for (const company of companies) {
    if (company.some((id) => suspects.includes(id))) expect(company.length).toBe(1);
  }
  const all = [...suspects, ...accepts.map(({ eventId }) => eventId), ...late.map(({ id }) => id)];
  expect(handedOff().toSorted()).toEqual(all.toSorted());
});

test("an event that crashed once is no suspect", async () => {
  const store = await opened(memoryStore());
  for (let index = 0; index < 3; index++) await crashedEvent(store, 1);
  const rig = await startRig({ store });
  await until(() => rig.calls.length === 3);
  expect(rig.receiver.health().running).toBe(3);
});

test("deliveries are accepted while a suspect runs, and wait for it", async () => {
  const store = await opened(memoryStore());
  const suspect = await crashedEvent(store, 2);
  const rig = await startRig({ store });
  await until(() => rig.calls.length === 1);
  expect(rig.calls[0]!.signal.id).toBe(suspect);
  await rig.deliverMany(5);
  await rig.clock.advance(3000);
  expect(rig.calls.length).toBe(1);
  rig.calls[0]!.resolve();
  await until(() => rig.calls.length === 6);
  expect(rig.receiver.health().running).toBe(5);
});

test("suspects that hang do not starve the innocent", async () => {
  const store = await opened(memoryStore());
  const suspects = new Set<string>();
  while (suspects.size < 3) suspects.add(await crashedEvent(store, 2));
  const order: string[] = [];
  const rig = await startRig({
    store,
    handoff: { timeoutMs: 30_000, backoff: () => 3_600_000 },
    onSignal: ({ id }) => {
      const isSuspect = suspects.has(id);
      order.push(isSuspect ? "suspect" : "innocent");
      return isSuspect ? new Promise(() => {}) : undefined;
    },
  });
  for (let round = 0; round < 3; round++) {
    await until(() => order.filter((each) => each === "suspect").length === round + 1);
    const before = order.length;
    await rig.deliverMany(4);
    await rig.clock.advance(30_000);
    // All four had their turn before the next suspect took its own.
    expect(order.slice(before, before + 4)).toEqual(["innocent", "innocent", "innocent", "innocent"]);
  }
  expect(await rig.receiver.inbox.stats()).toMatchObject({ done: 12, ready: 3 });
});

test("a suspect whose lease is too old once it is claimed does not stop the hand-offs for good", async () => {
  const store = await opened(memoryStore());
  const suspect = await crashedEvent(store, 2);
  const other = newEvent();
  await store.commit({ settlements: [], accepts: [other], claim: null });
  const clock = createManualClock(T0);
  let hasStalled = false;
  const commit: typeof store.commit = async (batch) => {
    const result = await store.commit(batch);
    // Past the 30 seconds by which a lease outlives its callback's time.
    if (batch.claim !== null && !hasStalled) await new Promise<void>((go) => void clock.setTimeout(go, 40_000));
    hasStalled ||= batch.claim !== null;
    return result;
  };
  const rig = await startRig({ store: { ...store, commit, shared: true }, clock, onSignal: () => undefined });
  await clock.advance(120_000);
  expect(await rig.entry(suspect)).toMatchObject({ state: "done" });
  expect(await rig.entry(other.eventId)).toMatchObject({ state: "done" });
});
