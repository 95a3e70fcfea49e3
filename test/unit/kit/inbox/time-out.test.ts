import { expect, test } from "vitest";
import type { SignalEvent } from "../../../../src/kit/index.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { signalEvent } from "../../../../src/kit/testing/index.js";
import { logLines } from "../../../http/log-lines.js";
import { turns } from "../../until.js";
import { faultyStore } from "./faulty-store.js";
import { startRig, type Rig } from "./receiver-rig.js";

test("a callback past its time is aborted, and its event retried and flagged as possibly repeated", async () => {
  const rig = await startRig({ handoff: { timeoutMs: 5000, backoff: () => 1000 } });
  const [event] = await rig.begin(1);
  const { abortSignal } = rig.calls[0]!.handoff;
  let aborted: unknown;
  abortSignal.addEventListener("abort", () => (aborted = abortSignal.reason));
  await rig.clock.advance(4999);
  expect(abortSignal.aborted).toBe(false);
  await rig.clock.advance(1);
  expect(abortSignal.aborted).toBe(true);
  expect(aborted).toMatchObject({ name: "TimeoutError" });
  expect(await rig.entry(event.id)).toMatchObject({
    state: "ready",
    attempts: 1,
    possiblyRepeated: true,
  });
  await rig.clock.advance(1000);
  expect(rig.calls[1]!.handoff).toMatchObject({
    attempt: 2,
    possiblyRepeated: true,
    replayed: false,
  });
});

test("a late end of the first attempt does not end the second", async () => {
  const rig = await startRig({ handoff: { timeoutMs: 5000, backoff: () => 1000 } });
  const event = signalEvent();
  await rig.deliver(event);
  await rig.clock.advance(6000);
  expect(rig.calls.length).toBe(2);
  // Asked for only now.
  expect(rig.calls[0]!.handoff.abortSignal.aborted).toBe(true);
  rig.calls[0]!.resolve();
  await turns();
  expect(await rig.entry(event.id)).toMatchObject({ state: "leased", attempts: 1 });
  expect(rig.receiver.health().running).toBe(1);
  rig.calls[1]!.resolve();
  await turns();
  expect(await rig.entry(event.id)).toMatchObject({ state: "done", attempts: 2 });
});

test("a late success does not close the breaker", async () => {
  const rig = await startRig({ handoff: { timeoutMs: 5000 } });
  await rig.begin(10);
  await rig.clock.advance(5000);
  rig.calls[0]!.resolve();
  await turns();
  expect(rig.receiver.health().breaker).toBe("open");
});

test("a callback that never settles frees its slot, and others flow", async () => {
  const stuck = new Set<string>();
  const done: string[] = [];
  const rig = await startRig({
    handoff: { concurrency: 2, timeoutMs: 5000, backoff: () => 3_600_000 },
    onSignal: (signal) =>
      stuck.has(signal.id) ? new Promise(() => {}) : void done.push(signal.id),
  });
  const first = [signalEvent(), signalEvent()];
  for (const event of first) {
    stuck.add(event.id);
    await rig.deliver(event);
  }
  const rest = await rig.deliverMany(10);
  await turns();
  expect(done).toEqual([]);
  await rig.clock.advance(5000);
  expect(done.toSorted()).toEqual(rest.map(({ id }) => id).toSorted());
  expect(await rig.receiver.inbox.stats()).toMatchObject({ done: 10, ready: 2, running: 0 });
});

/** @returns an event that waits, leased, for the end of the only callback */
async function waitingBehindOne(rig: Rig): Promise<SignalEvent> {
  // Two callbacks in a second, so that as many events may wait for the next one.
  for (const quick of [0, 1]) {
    await rig.begin(1);
    rig.calls[quick]!.resolve();
    await turns();
  }
  await rig.clock.advance(1000);
  const [, second] = await rig.deliverMany(2);
  return second as SignalEvent;
}

test("where leases expire, one that gets old in the queue is released long before its callback could outlive it", async () => {
  const store = { ...memoryStore(), shared: true };
  const rig = await startRig({ store, handoff: { concurrency: 1, timeoutMs: 30_000 } });
  const second = await waitingBehindOne(rig);
  const left = async (): Promise<number> => {
    const { state, dueAt } = (await rig.entry(second.id))!;
    return state === "leased" ? dueAt - rig.clock.now() : Infinity;
  };
  expect(await left()).toBe(60_000);
  for (let seconds = 1; seconds <= 30; seconds++) {
    await rig.clock.advance(1000);
    // The callback's time, and 10 s for its settlement; the queue is checked each second.
    expect(await left()).toBeGreaterThanOrEqual(39_000);
  }
  expect(rig.calls.map(({ signal }) => signal.id)).toContain(second.id);
  expect(await rig.entry(second.id)).toMatchObject({ crashes: 0, possiblyRepeated: false });
});

test("while others may take this process for dead, it leases nothing, and logs it once", async () => {
  let leasedSince = -Infinity;
  const inner = faultyStore();
  const { logger, lines } = logLines();
  const store = Object.assign(inner, { shared: true, leasedSince: () => leasedSince });
  const rig = await startRig({ store, logger });
  await turns();
  leasedSince = Infinity;
  const before = inner.commits.length;
  const event = signalEvent();
  await rig.deliver(event);
  await turns();
  expect(inner.commits.length).toBe(before + 1);
  for (let n = 0; n < 3; n++) await rig.clock.advance(1000);
  expect(await rig.entry(event.id)).toMatchObject({ state: "ready" });
  const leases = () =>
    lines.flatMap((line) => (JSON.parse(line) as { leases?: string }).leases ?? []);
  expect(leases()).toEqual(["unsure"]);
  leasedSince = rig.clock.elapsed();
  await rig.clock.advance(1000);
  await rig.called(1);
  expect(leases()).toEqual(["unsure", "sure"]);
  expect(rig.calls[0]!.handoff).toMatchObject({ attempt: 1, possiblyRepeated: false });
});

test("an event that waits when its lease may have been lost is released, and its callback not begun under that lease", async () => {
  let leasedSince = -Infinity;
  const store = { ...memoryStore(), shared: true, leasedSince: () => leasedSince };
  const rig = await startRig({ store, handoff: { concurrency: 1 } });
  const waits = await waitingBehindOne(rig);
  await rig.called(3);
  expect((await rig.entry(waits.id))?.state).toBe("leased");
  // Heartbeats failed for a moment: what was leased before may be another process's now.
  await rig.clock.advance(10);
  leasedSince = rig.clock.elapsed();
  const leasedAgain: number[] = [];
  const { commit } = store;
  store.commit = async (batch) => {
    const result = await commit(batch);
    leasedAgain.push(...(result.claim?.events ?? []).map(({ seq }) => seq));
    return result;
  };
  rig.calls[2]!.resolve();
  await rig.called(4);
  expect(rig.calls[3]!.signal.id).toBe(waits.id);
  expect(leasedAgain).toEqual([(await rig.entry(waits.id))!.seq]);
});
