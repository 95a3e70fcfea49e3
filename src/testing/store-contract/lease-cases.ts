import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { CLOCK_SLACK_MS, type InboxEntry } from "../../inbox/store.js";
import {
  ENDPOINT,
  T0,
  accept,
  bring,
  claim,
  claimOne,
  commit,
  crash,
  settle,
  stateOf,
  storeCase,
  type StoreCase,
  idsOf,
} from "./stage.js";

/** G5 and G7: claims and settlements. */
export const LEASE_CASES: readonly StoreCase[] = [
  storeCase("G5", "a settlement with a token that is not current changes nothing", async ({ store }) => {
    const seq = await accept(store, "evt_1");
    const first = await claimOne(store);
    strictEqual(await settle(store, { seq, token: first.token, state: "ready" }), true);
    const second = await claimOne(store);
    ok(second.token > first.token, "each claim has a larger token");
    strictEqual(
      await settle(store, { seq, token: first.token, state: "dead" }),
      false,
      "a late settlement was applied",
    );
    strictEqual(await stateOf(store, "evt_1"), "leased", "a late settlement changed the event");
    await crash(store, T0 + 60_000);
    const third = await claimOne(store, { now: T0 + 60_000 });
    strictEqual(await settle(store, { seq, token: second.token }), false, "a dead holder's settlement was applied");
    strictEqual(await settle(store, { seq, token: third.token }), true);
    strictEqual(await settle(store, { seq, token: third.token, state: "dead" }), false, "it was settled twice");
    strictEqual(await stateOf(store, "evt_1"), "done");
  }),
  storeCase("G5", "of neighbours that end alike in one batch, each is judged by its own token", async ({ store }) => {
    const seqs: number[] = [];
    for (const id of ["evt_1", "evt_2", "evt_3", "evt_4", "evt_5"]) {
      seqs.push(await accept(store, id, { state: "leased", dueAt: T0 + 60_000 }));
    }
    strictEqual(await settle(store, { seq: seqs[2] as number, token: 1, state: "ready", dueAt: T0 + 9000 }), true);
    const alike = { token: 1, state: "done", dueAt: T0 + 5, settledAt: T0 + 5, attempts: 1 } as const;
    const { settlements } = await commit(store, {
      settlements: seqs.map((seq) => ({ ...alike, seq, possiblyRepeated: false, lastError: null })),
    });
    deepStrictEqual(settlements, [true, true, false, true, true], "whose token was current");
    const entries = await store.list({ endpoint: ENDPOINT });
    deepStrictEqual(
      entries.map(({ state, dueAt }) => `${state} ${dueAt - T0}`),
      ["done 5", "done 5", "ready 9000", "done 5", "done 5"],
    );
  }),
  storeCase("G5", "neighbours that end at once with values of their own keep them", async ({ store }) => {
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
    const usual = {
      token: 1,
      state: "done",
      dueAt: T0,
      settledAt: T0,
      attempts: 1,
      possiblyRepeated: false,
    } as const;
    await commit(store, {
      settlements: ends.map((end, index) => ({ ...usual, lastError: null, seq: seqs[index] as number, ...end })),
    });
    const entries = await store.list({ endpoint: ENDPOINT });
    for (const [index, end] of ends.entries()) {
      const { state, dueAt, attempts, possiblyRepeated, lastError } = entries[index] as InboxEntry;
      const { token: _token, settledAt: _settledAt, ...expected } = { ...usual, lastError: null, ...end };
      deepStrictEqual({ state, dueAt, attempts, possiblyRepeated, lastError }, expected);
    }
  }),
  storeCase("G5", "a settlement writes its values, and null keeps the error before", async ({ store }) => {
    const seq = await accept(store, "evt_1", { state: "leased", dueAt: T0 + 60_000 });
    const values = { dueAt: T0 + 5, attempts: 3, possiblyRepeated: true, lastError: "Error: down" };
    await settle(store, { seq, token: 1, state: "ready", ...values });
    const { token } = await claimOne(store, { now: T0 + 5 });
    await settle(store, { seq, token, attempts: 4, possiblyRepeated: true, dueAt: T0 + 9 });
    const entry = await store.get(ENDPOINT, "evt_1");
    strictEqual(entry?.lastError, "Error: down");
    deepStrictEqual([entry.attempts, entry.possiblyRepeated, entry.dueAt, entry.state], [4, true, T0 + 9, "done"]);
  }),
  storeCase("G7", "a claim takes what is due, earliest first, and says when the next comes", async ({ store }) => {
    await accept(store, "evt_late", { dueAt: T0 + 1000 });
    await accept(store, "evt_b", { dueAt: T0 - 1 });
    await accept(store, "evt_a", { dueAt: T0 - 2 });
    await bring(store, "evt_done", "done");
    await bring(store, "evt_dead", "dead");
    await bring(store, "evt_quarantined", "quarantined");
    const first = await claim(store, { limit: 1 });
    deepStrictEqual(idsOf(first.events), ["evt_a"]);
    const second = await claim(store);
    deepStrictEqual(idsOf(second.events), ["evt_b"]);
    strictEqual(second.nextDueAt, T0 + 1000);
    deepStrictEqual((await claim(store)).events, [], "an event was claimed twice");
    const third = await claim(store, { now: T0 + 1000 });
    deepStrictEqual(idsOf(third.events), ["evt_late"]);
    strictEqual(third.nextDueAt, null);
  }),
  storeCase(
    "G7",
    "when the clock was set back, a ready event waits no longer than before, whichever process claims",
    async ({ store, sibling }) => {
      const hour = 3_600_000;
      await accept(store, "evt_fresh", { dueAt: T0 + hour, received: { at: T0 + hour, headers: {} } });
      await accept(store, "evt_other", {
        endpoint: "second",
        dueAt: T0 + hour,
        received: { at: T0 + hour, headers: {} },
      });
      await accept(store, "evt_long", { dueAt: T0 + 2 * hour });
      const retried = await accept(store, "evt_retry", { state: "leased", dueAt: T0 + 2 * hour });
      const delayed = { state: "ready", dueAt: T0 + hour + 10_000, settledAt: T0 + hour } as const;
      await settle(store, { seq: retried, token: 1, ...delayed });
      const idsAt = async (now: number, from = store): Promise<string[]> =>
        (await claim(from, { now })).events.map(({ eventId }) => eventId);

      deepStrictEqual(await idsAt(T0), ["evt_fresh"], "a fresh event waits for a clock that was set back");
      // A second look, by whomever, changes nothing more.
      deepStrictEqual(await idsAt(T0 + 9999, sibling), [], "a retry came before its delay was over");
      deepStrictEqual(await idsAt(T0 + 10_000), ["evt_retry"], "a retry waits for a clock that was set back");
      strictEqual((await store.get("second", "evt_other"))?.dueAt, T0 + hour, "another endpoint's event was moved");
      strictEqual((await store.get(ENDPOINT, "evt_long"))?.dueAt, T0 + 2 * hour, "a long delay was taken for a clock");
    },
  ),
  storeCase("G7", "clocks that are read a moment apart are no clock set back", async ({ store }) => {
    const dueAt = T0 + CLOCK_SLACK_MS;
    await accept(store, "evt_1", { dueAt, received: { at: dueAt, headers: {} } });
    deepStrictEqual((await claim(store)).events, []);
    strictEqual((await store.get(ENDPOINT, "evt_1"))?.dueAt, dueAt);
  }),
  storeCase("G7", "a claim sees only its own endpoint", async ({ store }) => {
    await accept(store, "evt_1", { endpoint: "second" });
    const { events, nextDueAt } = await claim(store);
    deepStrictEqual([events, nextDueAt], [[], null]);
    await accept(store, "evt_1", { endpoint: "second_2", dueAt: T0 + 1 });
    strictEqual((await claim(store)).nextDueAt, null);
  }),
  storeCase("G7", "simultaneous claims never share an event", async ({ store, sibling }) => {
    for (let index = 0; index < 30; index++) await accept(store, `evt_${index}`);
    const claims = Array.from({ length: 6 }, (_, index) => claim(index % 2 === 0 ? store : sibling, { limit: 5 }));
    const ids = (await Promise.all(claims)).flatMap(({ events }) => events.map(({ eventId }) => eventId));
    strictEqual(new Set(ids).size, 30);
    strictEqual(ids.length, 30);
  }),
];
