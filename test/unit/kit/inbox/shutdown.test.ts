import { expect, test } from "vitest";
import { createReceiver } from "../../../../src/kit/index.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { sqliteStore } from "../../../../src/kit/stores/sqlite/sqlite-store.js";
import { signalEvent, signedDelivery } from "../../../../src/kit/testing/index.js";
import { rejectionOf } from "../../signalbox-error-of.js";
import { turns } from "../../until.js";
import { inboxPath } from "../stores/sqlite/open-store.js";
import { faultyStore, mediumError } from "./faulty-store.js";
import { SECRET, startRig, type Rig } from "./receiver-rig.js";

test("closing aborts what runs past the grace, and uses up no attempt", async () => {
  const store = memoryStore();
  const rig = await startRig({ store, handoff: { concurrency: 2 } });
  await rig.deliverMany(5);
  await rig.called(2);
  const signals = rig.calls.map(({ handoff }) => handoff.abortSignal);
  const closing = rig.receiver.close({ graceMs: 5000 });
  await rig.clock.advance(4999);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  await rig.clock.advance(1);
  await closing;
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);

  const next = await startRig({ store, clock: rig.clock });
  await next.called(5);
  const ids = (calls: Rig["calls"]): string[] => calls.map(({ signal }) => signal.id);
  expect(ids(next.calls).slice(0, 2)).toEqual(ids(rig.calls));
  const flags = next.calls.map(({ handoff, signal }) => {
    const ran = rig.calls.some((call) => call.signal.id === signal.id);
    return [handoff.attempt, handoff.possiblyRepeated === ran];
  });
  expect(flags).toEqual(Array.from({ length: 5 }, () => [1, true]));
  expect((await next.entries()).map(({ crashes }) => crashes)).toEqual([0, 0, 0, 0, 0]);
});

test("a delivery that was being stored when it closed is acknowledged and kept", async () => {
  const store = faultyStore();
  const rig = await startRig({ store });
  const release = store.hold();
  const event = signalEvent();
  const answer = rig.deliver(event);
  await turns();
  const closing = rig.receiver.close({ graceMs: 0 });
  await turns();
  release();
  expect((await answer).status).toBe(200);
  await closing;
  const next = await startRig({ store });
  await next.called(1);
  expect(next.calls[0]!.handoff).toMatchObject({ attempt: 1, possiblyRepeated: false });
});

test.each([
  ["an idle one", async () => {}],
  ["one with a callback that runs", async (rig: Rig) => void (await rig.deliver())],
  [
    "one with a retry that waits",
    async (rig: Rig) => {
      await rig.begin(1);
      rig.calls[0]!.reject();
    },
  ],
  [
    "one with an open breaker",
    async (rig: Rig) => {
      await rig.begin(10);
      rig.failAll();
    },
  ],
])("closing leaves no timer behind: %s", async (_what, prepare) => {
  const rig = await startRig();
  await prepare(rig);
  await turns();
  await rig.receiver.close({ graceMs: 0 });
  await turns();
  expect(rig.clock.pendingTimers()).toBe(0);
});

test("closing on a store that fails ends, leaves no timer behind, and the next start hands off again", async () => {
  const store = faultyStore();
  const rig = await startRig({ store });
  const [event] = await rig.begin(1);
  store.fail(mediumError());
  rig.calls[0]!.resolve();
  await turns();
  await rig.receiver.close({ graceMs: 0 });
  expect(rig.clock.pendingTimers()).toBe(0);
  store.fail(null);
  const next = await startRig({ store });
  await next.called(1);
  expect(next.calls[0]!.signal).toEqual(event);
  expect(next.calls[0]!.handoff).toMatchObject({ possiblyRepeated: true });
});

test("closing a receiver that could not start leaves the one that did alone", async () => {
  const store = sqliteStore(inboxPath());
  const options = { secrets: SECRET, store, onSignal: () => undefined, logger: false as const };
  const first = createReceiver(options);
  await first.start();
  const second = createReceiver(options);
  const starting = second.start();
  const closing = second.close();
  expect((await rejectionOf(starting)).code).toBe("store_in_use");
  await closing;
  const delivery = signedDelivery(signalEvent(), { secret: SECRET });
  expect((await first.handle({ method: "POST", ...delivery })).status).toBe(200);
  await first.close();
});

test("a callback that ends within the grace is done, closing waits no longer, and nothing new begins", async () => {
  const store = memoryStore();
  const rig = await startRig({ store, handoff: { concurrency: 1 } });
  const [event] = await rig.deliverMany(3);
  await rig.called(1);
  let closed = false;
  const closing = rig.receiver.close({ graceMs: 60_000 }).then(() => (closed = true));
  await turns();
  expect(closed).toBe(false);
  rig.calls[0]!.resolve();
  await closing;
  expect(rig.calls.length).toBe(1);
  const next = await startRig({ store });
  expect(await next.entry(event.id)).toMatchObject({ state: "done", attempts: 1 });
});
