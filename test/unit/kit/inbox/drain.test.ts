import { expect, test } from "vitest";
import { createReceiver, RetryLater } from "../../../../src/kit/index.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { turns, until } from "../../until.js";
import { faultyStore, mediumError, rowError } from "./faulty-store.js";
import { batchOf, newEvent } from "./new-event.js";
import { SECRET, startRig, type Rig } from "./receiver-rig.js";

/** What the promise has resolved with, as far as it has. */
function watched(drained: Promise<boolean>): { result: boolean | null } {
  const watch: { result: boolean | null } = { result: null };
  void drained.then((result) => (watch.result = result));
  return watch;
}

async function drains({ receiver }: Rig): Promise<boolean | null> {
  const drained = watched(receiver.drain());
  await turns();
  return drained.result;
}

test("it waits for the callback and for its settlement, and the receiver goes on", async () => {
  const store = faultyStore();
  const rig = await startRig({ store });
  const timers = rig.clock.pendingTimers();
  await rig.begin(1);
  const drained = watched(rig.receiver.drain());
  await turns();
  const release = store.hold();
  rig.calls[0]!.resolve();
  await turns();
  expect(drained.result).toBe(null);
  release();
  await until(() => drained.result === true);
  expect(await rig.receiver.inbox.stats()).toMatchObject({ done: 1 });
  expect(rig.clock.pendingTimers()).toBe(timers);
  await rig.begin(1);
});

test("an event that is due in the store is handed off first; one whose next attempt is later is not waited for", async () => {
  const store = memoryStore();
  const rig = await startRig({ store });
  await until(async () => (await drains(rig)) === true);
  await store.commit(batchOf({ accepts: [newEvent(), newEvent()] }));
  const drained = watched(rig.receiver.drain());
  await rig.called(2);
  rig.calls[0]!.reject(new RetryLater("now", { delayMs: 0 }));
  await rig.called(3);
  rig.calls[1]!.reject(new RetryLater("later", { delayMs: 1 }));
  await turns();
  expect(drained.result).toBe(null);
  rig.calls[2]!.resolve();
  await until(() => drained.result === true);
  expect(await rig.receiver.inbox.stats()).toMatchObject({ done: 1, ready: 1 });
});

test("a claim that was under way does not count, because it can have missed an event", async () => {
  const store = memoryStore();
  let answered = Promise.resolve();
  const commit: typeof store.commit = async (batch) => {
    const result = await store.commit(batch);
    await answered;
    return result;
  };
  const rig = await startRig({ store: { ...store, commit } });
  await rig.receiver.drain();
  let answer = (): void => {};
  answered = new Promise((resolve) => (answer = resolve));
  void rig.receiver.drain();
  await turns();
  await store.commit(batchOf({ accepts: [newEvent()] }));
  const drained = watched(rig.receiver.drain());
  answer();
  await rig.called(1);
  expect(drained.result).toBe(null);
  rig.calls[0]!.resolve();
  await until(() => drained.result === true);
});

test("while the store fails nothing is known, so it waits until the store works or the receiver closes", async () => {
  const store = faultyStore();
  const rig = await startRig({ store });
  expect(await rig.receiver.drain()).toBe(true);
  store.fail(mediumError());
  const drained = watched(rig.receiver.drain());
  await rig.clock.advance(3000);
  expect(drained.result).toBe(null);
  store.fail(null);
  await rig.clock.advance(1000);
  expect(drained.result).toBe(true);

  store.fail(mediumError());
  const closing = watched(rig.receiver.drain());
  await turns();
  await rig.receiver.close();
  expect(closing.result).toBe(false);
});

test("under steady traffic it ends with the events that were there", async () => {
  const rig = await startRig();
  await rig.begin(1);
  const drained = watched(rig.receiver.drain());
  await turns();
  await rig.begin(1);
  expect(drained.result).toBe(null);
  rig.calls[0]!.resolve();
  await until(() => drained.result === true);
  expect(rig.receiver.health().running).toBe(1);
});

test("it resolves with false when the store refuses the state of an event, which stays leased", async () => {
  const store = faultyStore();
  const rig = await startRig({ store });
  const [event] = await rig.begin(1);
  const drained = watched(rig.receiver.drain());
  await turns();
  store.fail(rowError());
  rig.calls[0]!.resolve();
  await until(() => drained.result !== null);
  expect(drained.result).toBe(false);
  expect(await rig.entry(event.id)).toMatchObject({ state: "leased" });
});

test("it resolves with false after its time, by default 5 seconds more than an attempt may take, and has aborted nothing", async () => {
  const store = faultyStore();
  const rig = await startRig({ store });
  await rig.begin(1);
  const release = store.hold();
  const drained = [watched(rig.receiver.drain({ timeoutMs: 500 })), watched(rig.receiver.drain())];
  await rig.clock.advance(500);
  expect(drained).toEqual([{ result: false }, { result: null }]);
  expect(rig.calls[0]!.handoff.abortSignal.aborted).toBe(false);
  await rig.clock.advance(34_499);
  expect(drained[1]).toEqual({ result: null });
  await rig.clock.advance(1);
  expect(drained[1]).toEqual({ result: false });
  release();
});

test("it resolves with false while the breaker is open, once nothing runs", async () => {
  const rig = await startRig();
  await rig.begin(11);
  const drained = watched(rig.receiver.drain());
  for (const call of rig.calls.slice(1)) call.reject();
  await turns();
  expect([rig.receiver.health().breaker, drained.result]).toEqual(["open", null]);
  rig.calls[0]!.reject();
  await until(() => drained.result === false);
  expect(await drains(rig)).toBe(false);
});

test("it resolves with false for a receiver that is not started, that closes, and that is closed", async () => {
  const idle = createReceiver({
    secrets: SECRET,
    store: memoryStore(),
    onSignal: () => {},
    logger: false,
  });
  expect(await idle.drain()).toBe(false);
  const rig = await startRig();
  await rig.begin(1);
  const drained = watched(rig.receiver.drain());
  await rig.receiver.close({ graceMs: 0 });
  await turns();
  expect(drained.result).toBe(false);
  expect(await rig.receiver.drain()).toBe(false);
});

test("close ends it while a probe runs", async () => {
  const rig = await startRig({ handoff: { backoff: () => 100 } });
  await rig.begin(10);
  rig.failAll();
  await until(() => rig.receiver.health().breaker === "open");
  await rig.clock.advance(1000);
  expect([rig.receiver.health().breaker, rig.calls.length]).toEqual(["probing", 11]);
  const drained = watched(rig.receiver.drain());
  await rig.receiver.close({ graceMs: 0 });
  expect([drained.result, rig.clock.pendingTimers()]).toEqual([false, 0]);
});

test("it waits for the next attempt of an event whose lease was lost", async () => {
  const store = memoryStore();
  const rig = await startRig({ store });
  await rig.begin(1);
  const drained = watched(rig.receiver.drain());
  await turns();
  // Another process took this one for dead, and has not claimed the event.
  await store.reclaim({ endpoint: "default", held: [], crashed: true });
  rig.calls[0]!.resolve();
  await rig.called(2);
  expect(drained.result).toBe(null);
  rig.calls[1]!.resolve();
  await until(() => drained.result === true);
  expect(await rig.receiver.inbox.stats()).toMatchObject({ done: 1 });
});
