import { expect, test } from "vitest";
import type { SettleResult } from "../../../../src/kit/inbox/batch.js";
import { PermanentFailure, type InboxStore } from "../../../../src/kit/index.js";
import { memoryStore } from "../../../../src/kit/stores/memory.js";
import { until } from "../../until.js";
import { faultyStore, mediumError } from "./faulty-store.js";
import { startRig, type Rig } from "./receiver-rig.js";

interface Transactions extends InboxStore {
  /**
   * What the callbacks' transactions make of a settlement; null: they have rolled back, or there
   * was none.
   */
  outcome: Exclude<SettleResult, true> | null;
}

/** A memory store in whose database the callbacks have transactions. */
function withTransactions(inner: InboxStore = memoryStore()): Transactions {
  const store: Transactions = {
    ...inner,
    outcome: null,
    completeSql: ({ seq, token }) => `complete ${seq} ${token}`,
    async commit(batch) {
      const { outcome } = store;
      if (outcome === null) return inner.commit(batch);
      const settlements = batch.settlements.filter(({ mayBeCompleted }) => mayBeCompleted !== true);
      const result = await inner.commit({ ...batch, settlements });
      return {
        ...result,
        settlements: batch.settlements.map(({ mayBeCompleted }) =>
          mayBeCompleted === true ? outcome : (result.settlements.shift() as SettleResult),
        ),
      };
    },
  };
  return store;
}

/** Begins a hand-off whose callback reads `completeSql`. */
async function beginReading(rig: Rig) {
  const [event] = await rig.begin(1);
  expect(rig.calls[0]!.handoff.completeSql).toMatch(/^complete \d+ \d+$/);
  return event;
}

const details = ({ seen }: Rig) =>
  seen
    .filter(({ name }) => name !== "accepted")
    .map(({ name, willRetry }) => [name, ...(willRetry === undefined ? [] : [willRetry])]);

test.each([new Error("later"), new PermanentFailure("never")])(
  "a callback that fails after its transaction has committed is done, and no retry or death is announced: %s",
  async (error) => {
    const store = withTransactions();
    const rig = await startRig({ store });
    await beginReading(rig);
    store.outcome = "completed";
    rig.calls[0]!.reject(error);
    await rig.saw("handedOff");
    expect(details(rig)).toEqual([["handoffFailed", false], ["handedOff"]]);
  },
);

test("a failure is announced with its retry when the transaction has rolled back", async () => {
  const rig = await startRig({ store: withTransactions() });
  await beginReading(rig);
  rig.calls[0]!.reject();
  await rig.saw("handoffFailed");
  expect(details(rig)).toEqual([["handoffFailed", true]]);
});

test("while its transaction is open, a failed attempt holds up nothing, and is settled each second", async () => {
  const store = withTransactions();
  const rig = await startRig({
    store,
    handoff: { timeoutMs: 1000, concurrency: 1, backoff: () => 1 },
  });
  const slow = await beginReading(rig);
  store.outcome = "locked";
  await rig.clock.advance(1000);
  await rig.saw("handoffFailed");
  expect(details(rig)).toEqual([["handoffFailed", true]]);
  await rig.begin(1);
  rig.calls[1]!.resolve();
  await rig.saw("handedOff");
  await rig.clock.advance(5000);
  expect(rig.calls.length).toBe(2);
  expect(await rig.entry(slow.id)).toMatchObject({ state: "leased" });
  store.outcome = null;
  await rig.clock.advance(1001);
  await rig.called(3);
  expect(rig.calls[2]!.handoff).toMatchObject({ attempt: 2, possiblyRepeated: true });
  expect(details(rig)).toEqual([["handoffFailed", true], ["handedOff"]]);
});

test("a callback that resolves is done if its transaction has committed, and has failed if none has", async () => {
  const store = withTransactions();
  const rig = await startRig({ store, handoff: { backoff: () => 1 } });
  const event = await beginReading(rig);
  // The callback did not wait for its transaction, which rolls back.
  store.outcome = "locked";
  rig.calls[0]!.resolve();
  await rig.clock.advance(1000);
  expect(details(rig)).toEqual([]);
  store.outcome = null;
  await rig.clock.advance(1001);
  await rig.called(2);
  expect(details(rig)).toEqual([["handoffFailed", true]]);
  expect((await rig.entry(event.id))?.lastError).toContain(
    "no transaction has completed the event",
  );
  expect(rig.calls[1]!.handoff.completeSql).toBeDefined();
  store.outcome = "completed";
  rig.calls[1]!.resolve();
  await rig.saw("handedOff");
  expect(details(rig)).toEqual([["handoffFailed", true], ["handedOff"]]);
});

test("an outage while its transaction is open does not free a failed attempt's event, which would not be flagged", async () => {
  const inner = faultyStore();
  const store = withTransactions(inner);
  const rig = await startRig({ store, handoff: { timeoutMs: 1000, backoff: () => 1 } });
  const slow = await beginReading(rig);
  store.outcome = "locked";
  await rig.clock.advance(1000);
  await rig.saw("handoffFailed");
  inner.fail(mediumError());
  await rig.clock.advance(1000);
  await until(() => !rig.receiver.health().ok);
  // The outage has ended the transaction.
  store.outcome = null;
  inner.fail(null);
  await rig.clock.advance(1000);
  await rig.clock.advance(1000);
  await rig.called(2);
  expect(rig.calls[1]!.handoff).toMatchObject({ attempt: 2, possiblyRepeated: true });
  expect(await rig.entry(slow.id)).toMatchObject({ crashes: 0 });
});

test.each([
  ["is open, and the event stays leased", "locked", []],
  ["was open, and the settlement is tried once more", null, [{ state: "ready" }]],
] as const)("a receiver closes while a transaction %s", async (_, outcome, settlements) => {
  const inner = faultyStore();
  const store = withTransactions(inner);
  const rig = await startRig({ store });
  const event = await beginReading(rig);
  store.outcome = "locked";
  rig.calls[0]!.reject();
  await rig.saw("handoffFailed");
  expect(await rig.entry(event.id)).toMatchObject({ state: "leased" });
  store.outcome = outcome;
  const drained = rig.receiver.drain();
  await rig.receiver.close({ graceMs: 0 });
  expect(await drained).toBe(false);
  expect(inner.commits.at(-1)?.settlements).toMatchObject(settlements);
  expect(rig.clock.pendingTimers()).toBe(0);
});

test("it is not read by an attempt that has failed while the next one of the same event runs", async () => {
  const rig = await startRig({ store: withTransactions(), handoff: { backoff: () => 0 } });
  await rig.begin(1);
  rig.calls[0]!.reject();
  await rig.called(2);
  expect(() => rig.calls[0]!.handoff.completeSql).toThrow(
    expect.objectContaining({ code: "handoff_ended" }),
  );
  expect(rig.calls[1]!.handoff.completeSql).toBeDefined();
});
