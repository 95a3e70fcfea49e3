import { expect, test } from "vitest";
import { memoryStore } from "../../../src/stores/memory.js";
import { createManualClock, signalEvent } from "../../../src/testing/index.js";
import { turns, until } from "../until.js";
import { batchOf, crashedEvent, newEvent, opened, T0 } from "./new-event.js";
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
  await store.commit(batchOf({ accepts }));

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
    // The others' turn lasts as long as the suspect's, also for an event that comes when all older ones are done.
    await rig.clock.advance(29_000);
    await rig.deliverMany(1);
    await turns();
    expect(order.slice(before)).toEqual(Array.from({ length: 5 }, () => "innocent"));
    await rig.clock.advance(1000);
  }
  expect(await rig.receiver.inbox.stats()).toMatchObject({ done: 15, ready: 3 });
});

test("suspects that hang do not starve the others, also when they are older and fill a whole claim", async () => {
  const store = await opened(memoryStore());
  const suspects = new Set<string>();
  while (suspects.size < 65) suspects.add(await crashedEvent(store, 2));
  const waits: number[] = [];
  const rig = await startRig({
    store,
    handoff: { timeoutMs: 30_000, backoff: () => 3_600_000 },
    onSignal: ({ id }, { receivedAt }) => {
      if (suspects.has(id)) return new Promise(() => {});
      return waits.push(rig.clock.now() - receivedAt.getTime());
    },
  });
  for (let second = 0; second < 200; second++) {
    await rig.deliver();
    await rig.clock.advance(1000);
  }
  await rig.clock.advance(30_000);
  expect(waits.length).toBe(200);
  expect(Math.max(...waits)).toBeLessThanOrEqual(31_000);
});

test("the others get as much time as the suspects, and neither waits for the other's end", async () => {
  const store = await opened(memoryStore());
  const suspects = new Set<string>();
  while (suspects.size < 3) suspects.add(await crashedEvent(store, 2));
  await store.commit(batchOf({ accepts: Array.from({ length: 1000 }, () => newEvent()) }));
  const clock = createManualClock(T0);
  const order: string[] = [];
  await startRig({
    store,
    clock,
    handoff: { concurrency: 1, timeoutMs: 30_000, backoff: () => 3_600_000 },
    onSignal: ({ id }) => {
      const isSuspect = suspects.has(id);
      order.push(isSuspect ? "suspect" : "other");
      return new Promise((resolve) => clock.setTimeout(() => !isSuspect && resolve(undefined), 100));
    },
  });
  await clock.advance(200_000);
  const turnsOfOthers = order
    .join(" ")
    .split(/ ?suspect ?/)
    .map((others) => others.split(" ").length);
  expect(turnsOfOthers.length).toBe(4);
  // A suspect has 30 seconds, in which 300 callbacks of others run.
  for (const length of turnsOfOthers.slice(1, 3)) expect(length).toBeGreaterThanOrEqual(300);
  for (const length of turnsOfOthers.slice(0, 3)) expect(length).toBeLessThan(500);
});

test("a crash beside a suspect that is due does not count against the suspect", async () => {
  const store = await opened(memoryStore());
  const suspect = await crashedEvent(store, 4, 1000);
  const dead = await startRig({ store });
  await dead.begin(1);
  await dead.clock.advance(5000);
  const next = await startRig({ store, clock: createManualClock(T0 + 6000) });
  await until(() => next.calls.length === 1, "the event that ran is handed off again");
  next.calls[0]!.resolve();
  await until(() => next.calls.length === 2, "the suspect is handed off");
  expect(next.calls[1]!.signal.id).toBe(suspect);
  expect(await next.entry(suspect)).toMatchObject({ state: "leased", crashes: 4 });
});

test("a suspect is handed off as a probe of the breaker, too", async () => {
  const store = await opened(memoryStore());
  const suspect = await crashedEvent(store, 2, 500);
  const rig = await startRig({ store, handoff: { backoff: () => 3_600_000 } });
  await rig.begin(10);
  for (const { reject } of rig.calls) reject();
  await until(() => rig.receiver.health().breaker === "open");
  await rig.clock.advance(1000);
  expect(rig.calls.map(({ signal }) => signal.id)).toContain(suspect);
  rig.calls.at(-1)!.resolve();
  await until(() => rig.receiver.health().breaker === "closed");
  await rig.begin(2);
});

test("a suspect whose lease is too old once it is claimed does not stop the hand-offs for good", async () => {
  const store = await opened(memoryStore());
  const suspect = await crashedEvent(store, 2);
  const other = newEvent();
  await store.commit(batchOf({ accepts: [other] }));
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
