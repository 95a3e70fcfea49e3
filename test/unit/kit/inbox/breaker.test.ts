import { expect, test } from "vitest";
import { createBreaker } from "../../../../src/kit/inbox/dispatch/breaker.js";
import { PermanentFailure } from "../../../../src/kit/index.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { createManualClock, signalEvent } from "../../../../src/kit/testing/index.js";
import { turns, until } from "../../until.js";
import { faultyStore } from "./faulty-store.js";
import { batchOf, newEvent } from "./new-event.js";
import { startRig } from "./receiver-rig.js";

const HOUR_MS = 3_600_000;

test("events whose commit was in flight when it opened are not tried", async () => {
  const store = faultyStore();
  const rig = await startRig({ store });
  await rig.begin(10);
  const release = store.hold();
  const late = rig.deliverMany(50);
  await turns();
  rig.failAll();
  await turns();
  expect(rig.receiver.health().breaker).toBe("open");
  release();
  await late;
  await turns();
  expect(rig.calls.length).toBe(10);
  await rig.clock.advance(1000);
  expect(rig.calls.length).toBe(11);
});

test("the event of a failed probe is not the next probe while another is due", async () => {
  let failures = 0;
  const rig = await startRig({ handoff: { backoff: () => ((failures += 1) <= 10 ? 2500 : 50) } });
  await rig.begin(10);
  rig.failAll();
  const [poison] = await rig.deliverMany(1);
  await rig.clock.advance(1000);
  expect(rig.calls[10]?.signal.id).toBe(poison.id);
  rig.calls[10]!.reject();
  // Both have one failed attempt now, and the poison is due earlier.
  await rig.clock.advance(2500);
  expect(rig.calls.length).toBe(12);
  expect(rig.calls[11]?.signal.id).not.toBe(poison.id);
});

test("close leaves no timer of a probe whose claim is under way", async () => {
  const store = faultyStore();
  const rig = await startRig({ store, handoff: { backoff: () => HOUR_MS } });
  await rig.begin(10);
  rig.failAll();
  await until(() => store.calls.length > 1);
  await turns();
  const release = store.hold();
  await rig.clock.advance(1000);
  const closed = rig.receiver.close({ graceMs: 0 });
  await turns();
  release();
  await closed;
  expect(rig.clock.pendingTimers()).toBe(0);
});

test("events whose claim was in flight when it opened are not tried", async () => {
  const inner = memoryStore();
  const store = faultyStore(inner);
  const rig = await startRig({ store });
  await rig.begin(10);
  await inner.commit(batchOf({ accepts: Array.from({ length: 50 }, () => newEvent()) }));
  const release = store.hold();
  await rig.clock.advance(999);
  // The poll after a second brings the claim; the failures come while it waits.
  await rig.clock.advance(1);
  expect(store.commits.at(-1)?.claim).not.toBeNull();
  rig.failAll();
  await turns();
  release();
  await turns();
  expect(rig.receiver.health().breaker).toBe("open");
  expect(rig.calls.length).toBe(10);
});

test("only one callback runs while it probes, whatever arrives", async () => {
  const rig = await startRig();
  await rig.deliverMany(40);
  await rig.called(16);
  for (const call of rig.calls.slice(0, 16)) call.reject();
  await rig.clock.advance(1000);
  expect(rig.receiver.health()).toMatchObject({ breaker: "probing", running: 1 });
  await rig.deliverMany(10);
  await rig.clock.advance(5000);
  expect(rig.receiver.health().running).toBe(1);
  expect(rig.calls.length).toBe(17);
  rig.calls[16]!.resolve();
  await rig.called(33);
  expect(rig.receiver.health()).toMatchObject({ breaker: "closed", running: 16 });
});

test("a poison event delays no other: it neither opens the breaker nor is the probe twice in a row", async () => {
  const poison = signalEvent();
  let isDown = false;
  const waits: number[] = [];
  const rig = await startRig({
    handoff: { backoff: () => 50 },
    onSignal: ({ id }, { receivedAt }) => {
      if (id === poison.id || isDown) throw new Error("no");
      waits.push(rig.clock.now() - receivedAt.getTime());
    },
  });
  await rig.deliver(poison);
  for (let time = 0; time < 12; time++) {
    await rig.clock.advance(50);
    await turns();
  }
  expect((await rig.entry(poison.id))?.attempts).toBeGreaterThan(10);
  expect(rig.receiver.health()).toMatchObject({ breaker: "closed", paused: null });
  await rig.deliver();
  await until(() => waits.length === 1);

  // Now the system is down for a moment, and the poison is always due first.
  isDown = true;
  await rig.deliverMany(20);
  await until(() => rig.receiver.health().breaker === "open");
  expect(rig.receiver.health().paused).toBe("callback_failing");
  isDown = false;
  await rig.clock.advance(5000);
  expect(rig.receiver.health().breaker).toBe("closed");
  await rig.clock.advance(1000);
  expect(waits.length).toBe(21);
});

test("the only event that is due is the probe, also when it was the last one", async () => {
  let failures = 0;
  const rig = await startRig({
    handoff: { backoff: () => ((failures += 1) <= 10 ? HOUR_MS : 50) },
  });
  await rig.begin(10);
  rig.failAll();
  await rig.deliverMany(1);
  await rig.clock.advance(1000);
  expect(rig.calls.length).toBe(11);
  rig.calls[10]!.reject();
  await rig.clock.advance(2000);
  expect(rig.calls[11]!.signal.id).toBe(rig.calls[10]!.signal.id);
  rig.calls[11]!.resolve();
  await until(() => rig.receiver.health().breaker === "closed");
});

test("permanent failures say nothing about the system and do not open it", async () => {
  const rig = await startRig({ onSignal: () => Promise.reject(new PermanentFailure()) });
  await rig.deliverMany(30);
  await turns(60);
  expect(rig.receiver.health().breaker).toBe("closed");
  expect(await rig.receiver.inbox.stats()).toMatchObject({ dead: 30 });
});

/** The breaker alone. */
function alone() {
  const clock = createManualClock(0);
  const changes: string[] = [];
  const breaker = createBreaker(clock, {
    onOpen: () => changes.push("open"),
    onProbe: () => changes.push("probe"),
    onClose: () => changes.push("closed"),
  });
  let lastSeq = 0;
  /** So many events fail, each once. */
  const fail = (events: number) => {
    for (let event = 0; event < events; event++)
      breaker.failed({ seq: (lastSeq += 1) }, "Error: no");
  };
  return { clock, changes, breaker, fail };
}

test("the tenth event that fails since the last success opens it, and a success closes it, also at once", async () => {
  const { breaker, fail, changes, clock } = alone();
  fail(9);
  breaker.succeeded();
  fail(9);
  expect(breaker.state()).toBe("closed");
  fail(1);
  breaker.succeeded();
  await clock.advance(120_000);
  expect([breaker.state(), changes]).toEqual(["closed", ["open", "closed"]]);
});

test("each failed probe doubles the wait, up to a minute, and a success starts anew", async () => {
  const { breaker, fail, clock } = alone();
  fail(10);
  for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
    await clock.advance(seconds * 1000 - 1);
    expect(breaker.state(), `${seconds} s`).toBe("open");
    await clock.advance(1);
    expect(breaker.state(), `${seconds} s`).toBe("probing");
    breaker.failed({ seq: 1 }, "Error: no");
  }
  await clock.advance(60_000);
  breaker.succeeded();
  fail(10);
  await clock.advance(1000);
  expect(breaker.state()).toBe("probing");
});

test("failures of callbacks that began before it opened do not put the probe off", async () => {
  const { breaker, fail, clock } = alone();
  fail(10);
  await clock.advance(900);
  fail(6);
  await clock.advance(100);
  expect(breaker.state()).toBe("probing");
});

test("a probe that found nothing to try waits for the next one, and reports no change", async () => {
  const { breaker, fail, clock, changes } = alone();
  fail(10);
  await clock.advance(1000);
  breaker.probeUnused();
  expect(breaker.state()).toBe("open");
  await clock.advance(60_000);
  expect(breaker.state()).toBe("probing");
  expect(changes).toEqual(["open", "probe", "probe"]);
  breaker.succeeded();
  breaker.probeUnused();
  expect(breaker.state()).toBe("closed");
});
