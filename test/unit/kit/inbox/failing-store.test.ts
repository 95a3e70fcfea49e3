import { expect, test } from "vitest";
import { createReceiver, type InboxStore, RetryLater } from "../../../../src/kit/index.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { signalEvent } from "../../../../src/kit/testing/index.js";
import { logLines } from "../../../http/log-lines.js";
import { rejectionOf } from "../../signalbox-error-of.js";
import { turns, until } from "../../until.js";
import { faultyStore, mediumError, rowError } from "./faulty-store.js";
import { startRig } from "./receiver-rig.js";

const DUPLICATE = '{"received":true,"duplicate":true}';

test.each([
  ["was not", false, '{"received":true}'],
  ["was in truth", true, DUPLICATE],
])(
  "an event whose failed commit %s applied is handed off once after its redelivery, unflagged",
  async (_how, applied, answer) => {
    const store = faultyStore();
    const { deliver, calls, clock, receiver } = await startRig({ store });
    const event = signalEvent();
    store.fail(mediumError(), { applied });
    expect((await deliver(event)).status).toBe(503);
    await turns();
    expect(calls).toEqual([]);
    expect(receiver.health()).toMatchObject({ ok: false, store: { failure: "store_failed" } });
    store.fail(null);
    expect((await deliver(event)).body).toBe(answer);
    await until(() => calls.length === 1);
    expect(calls[0]!.handoff).toMatchObject({
      attempt: 1,
      possiblyRepeated: false,
      replayed: false,
    });
    calls[0]!.resolve();
    await clock.advance(120_000);
    expect(calls.length).toBe(1);
    expect(await receiver.inbox.stats()).toMatchObject({ done: 1, total: 1 });
    expect(receiver.health()).toMatchObject({ ok: true, store: { failure: null } });
  },
);

test("what a callback finished while the store was down is done once it works, and not handed off again", async () => {
  const store = faultyStore();
  const { begin, calls, clock, entry, namesSeen } = await startRig({ store });
  const [event] = await begin(1);
  store.fail(mediumError());
  calls[0]!.resolve();
  await clock.advance(60_000);
  expect(await entry(event.id)).toMatchObject({ state: "leased" });
  expect(namesSeen()).not.toContain("handedOff");
  store.fail(null);
  await clock.advance(2000);
  expect(await entry(event.id)).toMatchObject({ state: "done", attempts: 1 });
  expect(namesSeen().filter((name) => name === "handedOff").length).toBe(1);
  expect(calls.length).toBe(1);
});

test("an event that a failed commit settled and leased again is handed off", async () => {
  const inner = faultyStore();
  let hasFailed = false;
  const commit: typeof inner.commit = async (batch) => {
    const result = await inner.commit(batch);
    if (hasFailed || batch.settlements.length === 0 || batch.claim === null) return result;
    hasFailed = true;
    throw mediumError();
  };
  const { begin, deliver, calls, clock } = await startRig({ store: { ...inner, commit } });
  const [event] = await begin(1);
  const release = inner.hold();
  void deliver();
  await turns();
  // The settlement and the claim wait for the commit in flight, and so share the next one.
  calls[0]!.reject(new RetryLater("not now", { delayMs: 0 }));
  await clock.advance(1000);
  release();
  await clock.advance(3000);
  expect(hasFailed).toBe(true);
  expect(calls.filter(({ signal }) => signal.id === event.id).length).toBe(2);
});

test("a commit that never ends turns health red past the acknowledgement's time, and does not keep the receiver from closing", async () => {
  const store = faultyStore();
  const { logger, lines } = logLines();
  const { deliver, begin, clock, receiver } = await startRig({ store, ackTimeoutMs: 3000, logger });
  await begin(1);
  store.hold();
  const answer = deliver();
  await clock.advance(2999);
  expect(receiver.health()).toMatchObject({ ok: true, commitInFlightMs: 2999 });
  await clock.advance(2);
  expect((await answer).body).toContain("ack_timeout");
  expect(receiver.health()).toMatchObject({
    ok: false,
    commitInFlightMs: 3001,
    store: { failure: null },
  });
  let isClosed = false;
  void receiver.close({ graceMs: 100 }).then(() => (isClosed = true));
  await clock.advance(15_099);
  expect(isClosed).toBe(false);
  await clock.advance(1);
  expect(isClosed).toBe(true);
  expect(lines.join("")).toContain("the inbox does not answer");
});

test("a settlement that the store refuses is logged: its event stays leased", async () => {
  const store = faultyStore();
  const { logger, lines } = logLines();
  const commit: typeof store.commit = (batch) =>
    batch.settlements.length > 0 ? Promise.reject(rowError()) : store.commit(batch);
  const { begin, calls, entry } = await startRig({ store: { ...store, commit }, logger });
  const [event] = await begin(1);
  calls[0]!.resolve();
  await until(() =>
    lines.some((line) => line.includes("the result of a hand-off could not be stored")),
  );
  expect(lines.join("")).toContain(event.id);
  expect(await entry(event.id)).toMatchObject({ state: "leased" });
});

test("a delivery that is refused as late is not refused a second time when its commit fails", async () => {
  const store = faultyStore();
  const { deliver, clock, receiver, seen } = await startRig({ store });
  const release = store.hold();
  const answer = deliver();
  await clock.advance(3000);
  expect((await answer).status).toBe(503);
  store.fail(mediumError());
  release();
  await until(() => receiver.health().store.failure === "store_failed");
  expect(seen.filter(({ name }) => name === "rejected")).toEqual([
    expect.objectContaining({ code: "ack_timeout", status: 503 }),
  ]);
});

test("a claim that the store refuses turns health red and is logged, while deliveries are taken", async () => {
  const store = faultyStore();
  const commit: typeof store.commit = (batch) =>
    isRefused && batch.claim !== null ? Promise.reject(rowError()) : store.commit(batch);
  let isRefused = true;
  const { logger, lines } = logLines();
  const rig = await startRig({ store: { ...store, commit }, logger });
  await rig.clock.advance(3000);
  const refused = { ok: false, store: { failure: "store_row_refused" } };
  await rig.deliverMany(3);
  await rig.clock.advance(60_000);
  expect(rig.receiver.health()).toMatchObject(refused);
  expect(lines.filter((line) => line.includes('"code":"store_row_refused"'))).toHaveLength(1);
  isRefused = false;
  await rig.clock.advance(1000);
  expect(rig.receiver.health()).toMatchObject({ ok: true, store: { failure: null } });
});

test("a store that takes no new events is not called while nothing is to be done", async () => {
  const faulty = faultyStore();
  const store: typeof faulty = {
    ...faulty,
    commit: (batch) =>
      batch.accepts.length > 0 ? Promise.reject(mediumError()) : faulty.commit(batch),
  };
  const { deliver, clock } = await startRig({ store });
  expect((await deliver()).status).toBe(503);
  await turns(20);
  const before = faulty.calls.length;
  await turns(200);
  expect(faulty.calls.length).toBe(before);
  // The store is polled once a second for what others put there.
  await clock.advance(3000);
  expect(faulty.calls.length - before).toBeLessThanOrEqual(9);
});

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

test("when the start fails and the store cannot be closed either, the error is that of the start", async () => {
  const inner = faultyStore();
  inner.fail(mediumError());
  const close = (): Promise<void> => Promise.reject(new Error("and it cannot be closed"));
  const store = { ...inner, close };
  const receiver = createReceiver({
    secrets: "whsec_1",
    store,
    onSignal: () => undefined,
    logger: false,
  });
  const error = await rejectionOf(receiver.start());
  expect(error.message).toContain("The disk is full");
});
