import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { CLOCK_SLACK_MS, type InboxEntry } from "../../inbox/store.js";
import {
  ENDPOINT,
  HEADERS,
  T0,
  accept,
  acceptAs,
  claim,
  claimOne,
  commit,
  crash,
  settle,
  stateOf,
  storeCase,
  type StoreCase,
  idsOf,
} from "./store-case.js";

/** G5 and G7: claims and settlements. */
export const LEASE_CASES: readonly StoreCase[] = [
  storeCase("G5", "a settlement with a token that is not current changes nothing", async ({ store }) => {
    const seq = await accept(store, "evt_1");
    const first = await claimOne(store);
    const isSettled = await settle(store, { seq, token: first.token, state: "ready" });
    strictEqual(isSettled, true, "a settlement with the current token was not applied");
    const second = await claimOne(store);
    ok(second.token > first.token, "a later claim did not get a larger token");
    const isLateSettled = await settle(store, { seq, token: first.token, state: "dead" });
    strictEqual(isLateSettled, false, "a late settlement was reported as applied");
    strictEqual(await stateOf(store, "evt_1"), "leased", "a late settlement changed the event");
    await crash(store, T0 + 60_000);
    const third = await claimOne(store, { now: T0 + 60_000 });
    strictEqual(await settle(store, { seq, token: second.token }), false, "a dead process's settlement was applied");
    strictEqual(await settle(store, { seq, token: third.token }), true, "the current token was refused");
    strictEqual(await settle(store, { seq, token: third.token, state: "dead" }), false, "an event was settled twice");
    strictEqual(await stateOf(store, "evt_1"), "done", "a second settlement changed the event");
  }),
  storeCase("G5", "equal settlements in one batch are each checked by their own token", async ({ store }) => {
    const seqs: number[] = [];
    for (const id of ["evt_1", "evt_2", "evt_3", "evt_4", "evt_5"]) {
      seqs.push(await accept(store, id, { state: "leased", dueAt: T0 + 60_000 }));
    }
    await settle(store, { seq: seqs[2] as number, token: 1, state: "ready", dueAt: T0 + 9000 });
    const alike = { token: 1, state: "done", dueAt: T0 + 5, settledAt: T0 + 5, attempts: 1 } as const;
    const { settlements } = await commit(store, {
      settlements: seqs.map((seq) => ({ ...alike, seq, possiblyRepeated: false, lastError: null })),
    });
    deepStrictEqual(
      settlements,
      [true, true, false, true, true],
      "a settlement was checked with the token of another settlement",
    );
    const entries = await store.list({ endpoint: ENDPOINT });
    const found = entries.map(({ state, dueAt }) => `${state} ${dueAt - T0}`);
    deepStrictEqual(found, ["done 5", "done 5", "ready 9000", "done 5", "done 5"], "a wrong event was settled");
  }),
  storeCase("G5", "different settlements in one batch each write their own values", async ({ store }) => {
    const ends = [
      { dueAt: T0 + 5 },
      { dueAt: T0 + 6 },
      { attempts: 2 },
      { possiblyRepeated: true },
      { lastError: "Error: no" },
      { state: "dead" },
      {},
    ] as const;
    const seqs: number[] = [];
    for (const [index] of ends.entries()) {
      seqs.push(await accept(store, `evt_${index}`, { state: "leased", dueAt: T0 + 60_000 }));
    }
    const values = { state: "done", dueAt: T0, attempts: 1, possiblyRepeated: false, lastError: null } as const;
    await commit(store, {
      settlements: ends.map((end, index) => ({
        seq: seqs[index] as number,
        token: 1,
        settledAt: T0,
        ...values,
        ...end,
      })),
    });
    const entries = await store.list({ endpoint: ENDPOINT });
    for (const [index, end] of ends.entries()) {
      const { state, dueAt, attempts, possiblyRepeated, lastError } = entries[index] as InboxEntry;
      const found = { state, dueAt, attempts, possiblyRepeated, lastError };
      deepStrictEqual(found, { ...values, ...end }, `settlement ${index} wrote other values`);
    }
  }),
  storeCase("G5", "a settlement writes its values, and null keeps the previous error", async ({ store }) => {
    const seq = await accept(store, "evt_1", { state: "leased", dueAt: T0 + 60_000 });
    const lastError = `Error: down\n${"é".repeat(3987)}\n`;
    const retry = { dueAt: T0 + 5, attempts: 3, possiblyRepeated: true, lastError };
    await settle(store, { seq, token: 1, state: "ready", ...retry });
    const { token } = await claimOne(store, { now: T0 + 5 });
    await settle(store, { seq, token, attempts: 4, possiblyRepeated: true, dueAt: T0 + 9 });
    const entry = await store.get(ENDPOINT, "evt_1");
    strictEqual(entry?.lastError, lastError, "the error was not kept whole, or null replaced it");
    const found = [entry.attempts, entry.possiblyRepeated, entry.dueAt, entry.state];
    deepStrictEqual(found, [4, true, T0 + 9, "done"], "a settlement wrote other values");
  }),
  storeCase("G7", "a claim takes due events, earliest first, and reports the next due time", async ({ store }) => {
    await accept(store, "evt_late", { dueAt: T0 + 1000 });
    await accept(store, "evt_b", { dueAt: T0 - 1 });
    await accept(store, "evt_a", { dueAt: T0 - 2 });
    await acceptAs(store, "evt_done", "done");
    await acceptAs(store, "evt_dead", "dead");
    await acceptAs(store, "evt_quarantined", "quarantined");
    const first = await claim(store, { limit: 1 });
    deepStrictEqual(idsOf(first.events), ["evt_a"], "the earliest due event was not claimed first");
    const second = await claim(store);
    deepStrictEqual(idsOf(second.events), ["evt_b"], "the claimed events were not exactly the due events");
    strictEqual(second.nextDueAt, T0 + 1000, "the next due time was wrong");
    deepStrictEqual((await claim(store)).events, [], "an event was claimed twice");
    const third = await claim(store, { now: T0 + 1000 });
    deepStrictEqual(idsOf(third.events), ["evt_late"], "an event was not claimed when it was due");
    strictEqual(third.nextDueAt, null, "a next due time was reported without a ready event");
  }),
  storeCase("G7", "when the clock was set back, a ready event keeps its delay", async ({ store, sibling }) => {
    const hour = 3_600_000;
    const inAnHour = { dueAt: T0 + hour, received: { at: T0 + hour, headers: HEADERS } };
    await accept(store, "evt_fresh", inAnHour);
    await accept(store, "evt_other", { endpoint: "second", ...inAnHour });
    await accept(store, "evt_long", { dueAt: T0 + 2 * hour });
    const retried = await accept(store, "evt_retry", { state: "leased", dueAt: T0 + 2 * hour });
    const delayed = { state: "ready", dueAt: T0 + hour + 10_000, settledAt: T0 + hour } as const;
    await settle(store, { seq: retried, token: 1, ...delayed });
    const idsAt = async (now: number, from = store): Promise<string[]> =>
      (await claim(from, { now })).events.map(({ eventId }) => eventId);

    deepStrictEqual(await idsAt(T0), ["evt_fresh"], "a new event waited for the old time");
    // A second claim, even by another process, must not move the events again.
    deepStrictEqual(await idsAt(T0 + 9999, sibling), [], "a retry was claimed before the end of its delay");
    deepStrictEqual(await idsAt(T0 + 10_000), ["evt_retry"], "a retry waited for the old time");
    strictEqual((await store.get("second", "evt_other"))?.dueAt, T0 + hour, "another endpoint's event was moved");
    strictEqual((await store.get(ENDPOINT, "evt_long"))?.dueAt, T0 + 2 * hour, "a long delay was shortened");
  }),
  storeCase("G7", "a small difference between two clocks moves no event", async ({ store }) => {
    const dueAt = T0 + CLOCK_SLACK_MS;
    await accept(store, "evt_1", { dueAt, received: { at: dueAt, headers: HEADERS } });
    deepStrictEqual((await claim(store)).events, [], "an event was claimed before it was due");
    strictEqual((await store.get(ENDPOINT, "evt_1"))?.dueAt, dueAt, "an event was moved");
  }),
  storeCase("G7", "a claim sees only its own endpoint", async ({ store }) => {
    await accept(store, "evt_1", { endpoint: "second" });
    const { events, nextDueAt } = await claim(store);
    deepStrictEqual([events, nextDueAt], [[], null], "a claim saw another endpoint's due event");
    await accept(store, "evt_1", { endpoint: "second_2", dueAt: T0 + 1 });
    strictEqual((await claim(store)).nextDueAt, null, "a claim saw another endpoint's next event");
  }),
  storeCase("G7", "simultaneous claims never share an event", async ({ store, sibling }) => {
    for (let index = 0; index < 30; index++) await accept(store, `evt_${index}`);
    const claims = Array.from({ length: 6 }, (_, index) => claim(index % 2 === 0 ? store : sibling, { limit: 5 }));
    const ids = (await Promise.all(claims)).flatMap(({ events }) => events.map(({ eventId }) => eventId));
    strictEqual(new Set(ids).size, 30, "not all events were claimed");
    strictEqual(ids.length, 30, "an event was claimed twice");
  }),
];
