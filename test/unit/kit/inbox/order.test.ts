import { NEVER } from "../../../../src/kit/inbox/stored-events.js";
import { expect, test } from "vitest";
import { PermanentFailure, type Signal, type SignalEvent } from "../../../../src/kit/index.js";
import type { ReceiverOptions } from "../../../../src/kit/receiver/options.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { signalEvent } from "../../../../src/kit/testing/index.js";
import { logLines } from "../../../http/log-lines.js";
import { turns } from "../../until.js";
import { batchOf, newEvent, opened } from "./new-event.js";
import { startRig, type Rig } from "./receiver-rig.js";

const HANDOFF = { backoff: () => 1000, maxAttempts: 2 };

function about(slug: string): SignalEvent {
  return signalEvent({ data: { product: { slug } } });
}

function startOrdered(options: Partial<ReceiverOptions> = {}): Promise<Rig> {
  return startRig({ order: true, handoff: HANDOFF, ...options });
}

/** Delivers events one after another. @returns them */
async function deliverAll(rig: Rig, ...slugs: string[]): Promise<SignalEvent[]> {
  const events = slugs.map(about);
  for (const event of events) expect((await rig.deliver(event)).status).toBe(200);
  await turns();
  return events;
}

function begun(rig: Rig): string[] {
  return rig.calls.map(({ signal }) => signal.id);
}

test("events with one key come one at a time, in their order, and others beside them", async () => {
  const rig = await startOrdered();
  const [a1, a2, b1, a3] = (await deliverAll(rig, "a", "a", "b", "a")) as [
    SignalEvent,
    SignalEvent,
    SignalEvent,
    SignalEvent,
  ];
  expect(begun(rig)).toEqual([a1.id, b1.id]);
  expect(await rig.receiver.inbox.get(a3.id)).toMatchObject({
    state: "ready",
    dueAt: NEVER,
    waitsBehind: a1.id,
  });
  expect(await rig.receiver.inbox.stats()).toMatchObject({ ready: 2, waiting: 2, leased: 2 });
  // The first one fails, and nothing overtakes it.
  rig.calls[0]!.reject();
  await rig.clock.advance(999);
  expect(begun(rig)).toEqual([a1.id, b1.id]);
  await rig.clock.advance(1);
  rig.calls[2]!.resolve();
  await rig.called(4);
  rig.calls[3]!.resolve();
  await rig.called(5);
  expect(begun(rig)).toEqual([a1.id, b1.id, a1.id, a2.id, a3.id]);
});

test("a dead event holds the later ones, until it is discarded, replayed with success, or unblocked", async () => {
  const rig = await startOrdered({ handoff: { ...HANDOFF, maxAttempts: 1 } });
  const [a1, a2, a3, a4] = await deliverAll(rig, "a", "a", "a", "a");
  const id = (event: SignalEvent | undefined): string => event?.id ?? "";
  rig.calls[0]!.reject();
  await rig.clock.advance(60_000);
  expect(begun(rig)).toEqual([a1, a2].map(id).slice(0, 1));
  expect(await rig.receiver.inbox.retryNow(id(a2))).toBe("wrong_state");
  expect(await rig.receiver.inbox.discard(id(a1))).toBe("moved");
  await rig.called(2);
  rig.calls[1]!.reject();
  await turns();
  expect(await rig.receiver.inbox.replay(id(a2))).toBe("moved");
  await rig.called(3);
  rig.calls[2]!.resolve();
  await rig.called(4);
  rig.calls[3]!.reject();
  await turns();
  expect(await rig.receiver.inbox.unblock("b")).toBe(false);
  expect(await rig.receiver.inbox.unblock("a")).toBe(true);
  await rig.called(5);
  expect(begun(rig)).toEqual([a1, a2, a2, a3, a4].map(id));
  expect(await rig.entry(id(a3))).toMatchObject({ state: "dead" });
});

test("a settlement claims the next event of its key in one commit, and none for a key that is blocked", async () => {
  const inner = memoryStore();
  const settling: boolean[] = [];
  const commit: typeof inner.commit = (batch) => {
    if (batch.settlements.length > 0) settling.push(batch.claim !== null);
    return inner.commit(batch);
  };
  const rig = await startOrdered({ store: { ...inner, commit } });
  await deliverAll(rig, "a", "a", "a");
  rig.calls[0]!.reject(new PermanentFailure());
  await turns();
  await deliverAll(rig, "b", "c", "c");
  for (const call of [1, 2]) rig.calls[call]!.resolve();
  await turns();
  settling.length = 0;
  rig.calls[3]!.resolve();
  await turns();
  await deliverAll(rig, "d", "e", "e");
  rig.calls[4]!.resolve();
  await turns();
  rig.calls[5]!.resolve();
  await rig.called(7);
  expect(settling).toEqual([false, false, true]);
});

test("with whenDead: skip the later ones go on", async () => {
  const by = (_event: Signal | object, { subject }: { subject: string | null }) => subject;
  const rig = await startOrdered({
    order: { by, whenDead: "skip" },
    handoff: { ...HANDOFF, maxAttempts: 1 },
  });
  const [a1, a2] = await deliverAll(rig, "a", "a");
  rig.calls[0]!.reject();
  await rig.called(2);
  expect(begun(rig)).toEqual([a1?.id, a2?.id]);
});

test("a replayed event waits behind what is under way, and does not displace it", async () => {
  const rig = await startOrdered();
  const [a1, a2, a3] = await deliverAll(rig, "a", "a", "a");
  rig.calls[0]!.resolve();
  await rig.called(2);
  await rig.receiver.inbox.replay(a1?.id ?? "");
  await turns();
  expect(begun(rig)).toEqual([a1?.id, a2?.id]);
  rig.calls[1]!.resolve();
  await rig.called(3);
  rig.calls[2]!.resolve();
  await rig.called(4);
  expect(begun(rig)).toEqual([a1?.id, a2?.id, a1?.id, a3?.id]);
});

test("events that are replayed together are handed off in the order in which they were accepted", async () => {
  const rig = await startOrdered({
    order: { by: (_event, { subject }) => subject, whenDead: "skip" },
  });
  // More than one transaction of a replay.
  const ids = (await deliverAll(rig, ...Array<string>(60).fill("a"))).map(({ id }) => id);
  for (let call = 0; call < ids.length; call += 1) {
    await rig.called(call + 1);
    rig.calls[call]!.reject(new PermanentFailure());
  }
  await turns();
  expect(new Set(await rig.receiver.inbox.replay(ids.toReversed()))).toEqual(new Set(["moved"]));
  for (let call = ids.length; call < 2 * ids.length; call += 1) {
    await rig.called(call + 1);
    rig.calls[call]!.resolve();
  }
  expect(begun(rig).slice(ids.length)).toEqual(ids);
});

test("what `by` throws or returns beside a text is logged, and its event is handed off without order", async () => {
  const log = logLines();
  const answers: (() => unknown)[] = [
    () => "",
    () => 7,
    () => Promise.reject(new Error("late")),
    () => undefined,
  ];
  const rig = await startOrdered({
    logger: log.logger,
    order: {
      by() {
        const answer = answers.shift();
        if (answer === undefined) throw new Error("no key");
        return answer() as string;
      },
    },
  });
  const events = await deliverAll(rig, "a", "a", "a", "a", "a");
  await rig.called(5);
  expect(begun(rig)).toEqual(events.map(({ id }) => id));
  const line = log.lines.find((each) => each.includes("order.by failed")) ?? "{}";
  expect(JSON.parse(line)).toMatchObject({ endpoint: "default", eventId: events[0]?.id });
});

test("a callback that goes on after its time-out holds its key until it returns, and no slot", async () => {
  const rig = await startOrdered({
    handoff: { ...HANDOFF, maxAttempts: 1, timeoutMs: 5000, concurrency: 1 },
    order: { by: (_event, { subject }) => subject, whenDead: "skip" },
  });
  const [a1, a2, b1] = await deliverAll(rig, "a", "a", "b");
  await rig.clock.advance(5000);
  await rig.called(2);
  rig.calls[1]!.resolve();
  await rig.clock.advance(600_000);
  expect(begun(rig)).toEqual([a1?.id, b1?.id]);
  rig.calls[0]!.resolve();
  await rig.called(3);
  expect(begun(rig)).toEqual([a1?.id, b1?.id, a2?.id]);
  expect(await rig.entry(a1?.id ?? "")).toMatchObject({ state: "dead" });
});

test("ten failures of two keys open the breaker, and those of one do not", async () => {
  const rig = await startOrdered({ handoff: { backoff: () => 0, maxAttempts: 100 } });
  await deliverAll(rig, "a", "a");
  for (let failure = 1; failure <= 15; failure += 1) {
    await rig.called(failure);
    rig.calls[failure - 1]!.reject();
  }
  await rig.called(16);
  expect(rig.receiver.health().breaker).toBe("closed");
  await deliverAll(rig, "b");
  rig.failAll();
  await turns();
  expect(rig.receiver.health().breaker).toBe("open");
});

test("a drain waits for all that wait behind each other, and not for a callback past its time", async () => {
  const rig = await startOrdered({ handoff: { ...HANDOFF, timeoutMs: 5000 } });
  await deliverAll(rig, "a", "a", "a");
  let drained: boolean | undefined;
  void rig.receiver.drain({ timeoutMs: 60_000 }).then((isDone) => (drained = isDone));
  for (const call of [0, 1, 2]) {
    await rig.called(call + 1);
    expect(drained).toBe(undefined);
    rig.calls[call]!.resolve();
    await turns();
  }
  expect(drained).toBe(true);
  await deliverAll(rig, "a", "a");
  const late = rig.receiver.drain({ timeoutMs: 60_000 });
  await rig.clock.advance(5000);
  expect(await late).toBe(true);
});

test("a close waits for a callback past its time as for any other", async () => {
  const store = memoryStore();
  const rig = await startOrdered({
    store,
    handoff: { ...HANDOFF, maxAttempts: 1, timeoutMs: 5000 },
  });
  const [a1] = await deliverAll(rig, "a", "a");
  await rig.clock.advance(5000);
  let isClosed = false;
  const closed = rig.receiver.close({ graceMs: 30_000 }).then(() => (isClosed = true));
  await rig.clock.advance(20_000);
  expect(isClosed).toBe(false);
  rig.calls[0]!.resolve();
  await closed;
  const next = await startOrdered({ store });
  expect(await next.entry(a1?.id ?? "")).toMatchObject({ state: "dead" });
});

test("a close waits for a callback whose time ends meanwhile", async () => {
  const rig = await startOrdered({ handoff: { ...HANDOFF, timeoutMs: 5000 } });
  await deliverAll(rig, "a");
  let isClosed = false;
  const closed = rig.receiver.close({ graceMs: 30_000 }).then(() => (isClosed = true));
  await rig.clock.advance(20_000);
  expect(isClosed).toBe(false);
  rig.calls[0]!.resolve();
  await closed;
});

test("a callback that outlives the receiver does not count as a crash", async () => {
  const store = memoryStore();
  const rig = await startOrdered({ store, handoff: { ...HANDOFF, timeoutMs: 5000 } });
  const [a1] = await deliverAll(rig, "a");
  await rig.clock.advance(5000);
  await rig.receiver.close({ graceMs: 0 });
  const next = await startOrdered({ store });
  expect(await next.entry(a1?.id ?? "")).toMatchObject({ attempts: 1, crashes: 0 });
});

test("after a start without order nothing waits any more; with it, what waited does", async () => {
  const store = memoryStore();
  const first = await startOrdered({ store });
  const [a1, a2, a3] = await deliverAll(first, "a", "a", "a");
  await first.receiver.close({ graceMs: 0 });
  const second = await startOrdered({ store });
  await second.called(1);
  expect(begun(second)).toEqual([a1?.id]);
  await second.receiver.close({ graceMs: 0 });
  const third = await startRig({ store });
  await third.called(3);
  expect(new Set(begun(third))).toEqual(new Set([a1?.id, a2?.id, a3?.id]));
});

test("a quarantined event that is replayed waits in its lane", async () => {
  const store = await opened(memoryStore());
  const signal = about("a");
  const old = newEvent({ signal, state: "quarantined", reason: "unknown_type" });
  await store.commit(batchOf({ accepts: [old] }));
  const rig = await startOrdered({ store });
  const [a1] = await deliverAll(rig, "a");
  expect(await rig.receiver.inbox.replay(signal.id)).toBe("moved");
  expect(await rig.receiver.inbox.get(signal.id)).toMatchObject({ waitsBehind: a1?.id });
  rig.calls[0]!.resolve();
  await rig.called(2);
  expect(begun(rig)).toEqual([a1?.id, signal.id]);
});

test("events that another store restores keep their order", async () => {
  const rig = await startOrdered({ handoff: { ...HANDOFF, maxAttempts: 1 } });
  const events = await deliverAll(rig, "a", "a", "b", "a");
  rig.calls[0]!.reject();
  await turns();
  const stored = await Promise.all(events.map(({ id }) => rig.receiver.inbox.get(id)));
  const store = await opened(memoryStore());
  await store.restore?.(
    "default",
    stored.filter((each) => each !== undefined),
  );
  const next = await startOrdered({ store });
  await next.called(1);
  expect(begun(next)).toEqual([events[2]?.id]);
  await next.receiver.inbox.replay(events[0]?.id ?? "");
  await next.called(2);
  next.calls[1]!.resolve();
  await next.called(3);
  next.calls[2]!.resolve();
  await next.called(4);
  expect(begun(next)).toEqual([2, 0, 1, 3].map((index) => events[index]?.id));
});
