import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { ENDPOINT, T0, accept, bring, claim, claimOne, crash, settle, stateOf, type Promised } from "./stage.js";

/** G5 and G7: claims and settlements. */
export const LEASE_CASES: readonly Promised[] = [
  [
    "G5",
    "a settlement with a token that is not current changes nothing",
    async ({ store }) => {
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
    },
  ],
  [
    "G5",
    "a settlement writes its values, and null keeps the error before",
    async ({ store }) => {
      const seq = await accept(store, "evt_1", { state: "leased", dueAt: T0 + 60_000 });
      const values = { dueAt: T0 + 5, attempts: 3, possiblyRepeated: true, lastError: "Error: down" };
      await settle(store, { seq, token: 1, state: "ready", ...values });
      const { token } = await claimOne(store, { now: T0 + 5 });
      await settle(store, { seq, token, attempts: 4, possiblyRepeated: true, dueAt: T0 + 9 });
      const entry = await store.get(ENDPOINT, "evt_1");
      strictEqual(entry?.lastError, "Error: down");
      deepStrictEqual([entry.attempts, entry.possiblyRepeated, entry.dueAt, entry.state], [4, true, T0 + 9, "done"]);
    },
  ],
  [
    "G7",
    "a claim takes what is due, earliest first, and says when the next comes",
    async ({ store }) => {
      await accept(store, "evt_late", { dueAt: T0 + 1000 });
      await accept(store, "evt_b", { dueAt: T0 - 1 });
      await accept(store, "evt_a", { dueAt: T0 - 2 });
      await bring(store, "evt_done", "done");
      await bring(store, "evt_dead", "dead");
      await bring(store, "evt_quarantined", "quarantined");
      const first = await claim(store, { limit: 1 });
      deepStrictEqual(
        first.events.map(({ eventId }) => eventId),
        ["evt_a"],
      );
      const second = await claim(store);
      deepStrictEqual(
        second.events.map(({ eventId }) => eventId),
        ["evt_b"],
      );
      strictEqual(second.nextDueAt, T0 + 1000);
      deepStrictEqual((await claim(store)).events, [], "an event was claimed twice");
      const third = await claim(store, { now: T0 + 1000 });
      deepStrictEqual(
        third.events.map(({ eventId }) => eventId),
        ["evt_late"],
      );
      strictEqual(third.nextDueAt, null);
    },
  ],
  [
    "G7",
    "a claim sees its own endpoint alone",
    async ({ store }) => {
      await accept(store, "evt_1", { endpoint: "second" });
      const { events, nextDueAt } = await claim(store);
      deepStrictEqual([events, nextDueAt], [[], null]);
      await accept(store, "evt_1", { endpoint: "second_2", dueAt: T0 + 1 });
      strictEqual((await claim(store)).nextDueAt, null);
    },
  ],
  [
    "G7",
    "simultaneous claims never share an event",
    async ({ store, sibling }) => {
      for (let index = 0; index < 30; index++) await accept(store, `evt_${index}`);
      const claims = Array.from({ length: 6 }, (_, index) => claim(index % 2 === 0 ? store : sibling, { limit: 5 }));
      const ids = (await Promise.all(claims)).flatMap(({ events }) => events.map(({ eventId }) => eventId));
      strictEqual(new Set(ids).size, 30);
      strictEqual(ids.length, 30);
    },
  ],
];
