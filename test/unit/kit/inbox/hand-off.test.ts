import { expect, test } from "vitest";
import { signalEvent } from "../../../../src/kit/testing/index.js";
import { turns, until } from "../../until.js";
import { faultyStore } from "./faulty-store.js";
import { batchOf, newEvent, T0 } from "./new-event.js";
import { startRig } from "./receiver-rig.js";

test("a new event is born leased, handed off at once, and done when the callback resolves", async () => {
  const store = faultyStore();
  const { deliver, calls, entry, namesSeen } = await startRig({ store });
  const event = signalEvent();
  expect((await deliver(event)).body).toBe('{"received":true}');
  await until(() => calls.length === 1);
  expect(await entry(event.id)).toMatchObject({ state: "leased", attempts: 0, dueAt: T0 + 60_000 });
  // The path of most events: no claim between the accept and the settlement.
  expect(store.commits.map(({ accepts }) => accepts.map(({ state }) => state))).toContainEqual([
    "leased",
  ]);
  calls[0]!.resolve();
  await until(() => namesSeen().includes("handedOff"));
  expect(await entry(event.id)).toMatchObject({ state: "done", attempts: 1, lastError: null });
  expect(calls.length).toBe(1);
});

test("the callback gets the event and all about its hand-off", async () => {
  const { deliver, calls } = await startRig({ endpoint: "crm" });
  const event = signalEvent();
  const body = Buffer.from(JSON.stringify(event, null, 2));
  await deliver(body);
  await until(() => calls.length === 1);
  const { signal, handoff } = calls[0]!;
  expect(signal).toEqual(event);
  const copy = {
    deliveryKey: `crm/${event.id}`,
    endpoint: "crm",
    sender: "signals",
    attempt: 1,
    receivedAt: new Date(T0),
    possiblyRepeated: false,
    replayed: false,
    rawBody: body,
    eventId: event.id,
    tenant: null,
    earlier: [],
    earlierCount: 0,
  };
  // `completeSql` throws here: what logs or copies the hand-off must not read it.
  expect(() => handoff.completeSql).toThrow(expect.objectContaining({ code: "store_unsupported" }));
  expect({ ...handoff }).toEqual(copy);
  expect(JSON.stringify(handoff)).toBe(JSON.stringify({ ...handoff }));
  expect(handoff.abortSignal.aborted).toBe(false);
  expect(handoff.abortSignal).toBe(handoff.abortSignal);
  expect(handoff.logger.bindings()).toMatchObject({ deliveryKey: `crm/${event.id}`, attempt: 1 });
  expect(handoff.logger).toBe(handoff.logger);
});

test("whatever the callback returns, but a rejection, is success", async () => {
  // oxlint-disable-next-line unicorn/no-thenable -- a promise of another library's making
  const thenable = { then: (resolve: () => void) => resolve() };
  const answers = [undefined, null, false, 0, "text", thenable];
  const rig = await startRig({ onSignal: () => answers.pop() });
  await rig.deliverMany(6);
  await until(() => rig.namesSeen().filter((name) => name === "handedOff").length === 6);
  expect(await rig.receiver.inbox.stats()).toMatchObject({ done: 6, total: 6 });
});

test("a duplicate is acknowledged and not handed off again, while the first is in flight and after [receiving/queue-and-answer]", async () => {
  const { deliver, calls, namesSeen } = await startRig();
  const event = signalEvent();
  const answers = await Promise.all([deliver(event), deliver(event), deliver(event)]);
  expect(answers.map(({ body }) => body).toSorted()).toEqual([
    '{"received":true,"duplicate":true}',
    '{"received":true,"duplicate":true}',
    '{"received":true}',
  ]);
  await until(() => calls.length === 1);
  calls[0]!.resolve();
  await until(() => namesSeen().includes("handedOff"));
  expect((await deliver(event)).body).toBe('{"received":true,"duplicate":true}');
  await turns();
  expect(calls.length).toBe(1);
});

test("never more callbacks at once than allowed, and every event comes once", async () => {
  let running = 0;
  let most = 0;
  const handed: string[] = [];
  const rig = await startRig({
    handoff: { concurrency: 3 },
    onSignal: async (signal) => {
      most = Math.max(most, (running += 1));
      handed.push(signal.id);
      for (let turn = handed.length % 4; turn > 0; turn--)
        await new Promise((resume) => setImmediate(resume));
      running -= 1;
    },
  });
  const events = await rig.deliverMany(40);
  await until(async () => (await rig.receiver.inbox.stats()).done === 40);
  expect(most).toBe(3);
  expect(handed.toSorted()).toEqual(events.map(({ id }) => id).toSorted());
});

test("large bodies leave memory: past 16 MiB in hand, events are born ready", async () => {
  const rig = await startRig({ handoff: { concurrency: 1 }, bodyLimitBytes: 5 * 1024 * 1024 });
  const data = { summary: "x".repeat(4 * 1024 * 1024) };
  for (let index = 0; index < 6; index++) await rig.deliver(signalEvent({ data }));
  expect((await rig.entries()).map(({ state }) => state)).toEqual([
    "leased",
    "leased",
    "leased",
    "leased",
    "ready",
    "ready",
  ]);
  for (let index = 0; index < 6; index++) {
    await rig.called(index + 1);
    rig.calls[index]!.resolve();
  }
  await until(async () => (await rig.receiver.inbox.stats()).done === 6);
  const [later] = await rig.deliverMany(1);
  expect((await rig.entry(later.id))?.state).toBe("leased");
});

test("a test event goes to onTest, and is done at birth without one", async () => {
  const seen: string[] = [];
  const event = {
    id: "evt_test",
    version: "1",
    type: "webhook.test",
    created_at: "now",
    data: { message: "hi" },
  };
  const heard = await startRig({
    onTest: ({ data }, { attempt }) => seen.push(`${data.message} ${attempt}`),
  });
  await heard.deliver(event);
  await heard.saw("handedOff");
  expect(seen).toEqual(["hi 1"]);
  const unheard = await startRig();
  expect((await unheard.deliver(event)).body).toBe('{"received":true}');
  expect(await unheard.entry("evt_test")).toMatchObject({ state: "done", attempts: 0 });
  expect(unheard.calls).toEqual([]);
});

test("a lease is settled under the token that the store gave it", async () => {
  const store = faultyStore();
  const commit: typeof store.commit = async (batch) => {
    const settlements = batch.settlements.map((settlement) => ({
      ...settlement,
      token: settlement.token - 7,
    }));
    const result = await store.commit({ ...batch, settlements });
    const accepts = result.accepts.map((each) =>
      "token" in each ? { ...each, token: each.token + 7 } : each,
    );
    return { ...result, accepts };
  };
  const rig = await startRig({ store: { ...store, commit } });
  const [event] = await rig.begin(1);
  rig.calls[0]!.resolve();
  await rig.saw("handedOff");
  expect(await rig.entry(event.id)).toMatchObject({ state: "done" });
});

test("what another program puts into the store is found within a second", async () => {
  const store = faultyStore();
  const { calls, clock } = await startRig({ store });
  await turns();
  await store.commit(batchOf({ accepts: [newEvent()] }));
  await clock.advance(1000);
  expect(calls.length).toBe(1);
});

test("duplicates, and events that the store refused, leave the room for events in hand free", async () => {
  const store = faultyStore();
  const rig = await startRig({ store, handoff: { concurrency: 1 } });
  const event = signalEvent();
  for (let times = 0; times < 300; times++) await rig.deliver(event);
  const refused = Array.from({ length: 300 }, () => signalEvent());
  store.refuse(refused.map(({ id }) => id));
  for (const each of refused) expect((await rig.deliver(each)).status).toBe(503);
  const [later] = await rig.deliverMany(1);
  expect((await rig.entry(later.id))?.state).toBe("leased");
});

test("more events than the process takes in hand wait in the store and come in their turn", async () => {
  const rig = await startRig({ handoff: { concurrency: 1 } });
  const events = await rig.deliverMany(400);
  expect((await rig.receiver.inbox.stats()).ready).toBeGreaterThan(100);
  for (let index = 0; index < 400; index++) {
    await rig.called(index + 1);
    rig.calls[index]!.resolve();
  }
  await until(async () => (await rig.receiver.inbox.stats()).done === 400);
  const handed = rig.calls.map(({ signal, handoff }) => `${signal.id} ${handoff.attempt}`);
  expect(handed.toSorted()).toEqual(events.map(({ id }) => `${id} 1`).toSorted());
});
