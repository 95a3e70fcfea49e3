import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { CRASH_LOOP, MAX_CRASHES } from "../../inbox/store.js";
import {
  ENDPOINT,
  T0,
  accept,
  bring,
  claim,
  claimOne,
  crash,
  idsOf,
  stateOf,
  takeOver,
  storeCase,
  type StoreCase,
} from "./stage.js";

/** G8: what a dead process had in hand. */
export const CRASH_CASES: readonly StoreCase[] = [
  storeCase(
    "G8",
    "leases of a dead owner are taken over, counted as crashes and marked as possible repeats",
    async ({ store }) => {
      await bring(store, "evt_1", "leased");
      await bring(store, "evt_2", "leased");
      const held = await store.get(ENDPOINT, "evt_2");
      if (store.shared) {
        strictEqual(await takeOver(store, new Set()), 0, "a living process's lease was taken over");
        deepStrictEqual((await claim(store, { now: T0 + 59_999 })).events, []);
        deepStrictEqual(
          (await claim(store, { now: T0 + 60_000 })).events.map(({ crashes }) => crashes),
          [1, 1],
        );
        return;
      }
      strictEqual(await takeOver(store, new Set([held?.seq ?? -1])), 1);
      const event = await claimOne(store);
      deepStrictEqual([event.eventId, event.crashes, event.possiblyRepeated], ["evt_1", 1, true]);
      strictEqual(event.attempts, 0, "a crash was counted as an attempt");
      strictEqual(await stateOf(store, "evt_2"), "leased", "a held lease was taken over");
    },
  ),
  storeCase(
    "G8",
    "a lease whose hand-off never began is freed without a crash, and its token is spent",
    async ({ store }) => {
      await bring(store, "evt_1", "leased");
      const { freed } = await store.takeOver({ endpoint: ENDPOINT, now: T0, held: new Set(), crashed: false });
      if (store.shared) {
        strictEqual(freed, 0, "a living process's lease was freed");
        return;
      }
      strictEqual(freed, 1);
      const { crashes, possiblyRepeated, attempts, token } = await claimOne(store);
      deepStrictEqual([crashes, possiblyRepeated, attempts], [0, false, 0]);
      ok(token > 1, "a token was given out twice");
    },
  ),
  storeCase(
    "G8",
    "a process never takes over an event that it has in hand, however late it is",
    async ({ store, sibling }) => {
      const seq = await bring(store, "evt_1", "leased");
      await accept(store, "evt_2", { dueAt: T0 + 1e9 });
      const late = T0 + 1e9;
      const { events } = await claim(store, { now: late, held: new Set([seq]) });
      deepStrictEqual(idsOf(events), ["evt_2"]);
      strictEqual(await stateOf(store, "evt_1"), "leased", "a lease in hand was taken over");
      if (!store.shared) return;
      const others = await claim(sibling, { now: late, limit: 1, held: new Set([events[0]?.seq ?? -1]) });
      deepStrictEqual(idsOf(others.events), ["evt_1"]);
    },
  ),
  storeCase("G8", "an endpoint's leases are not taken over by another", async ({ store }) => {
    await accept(store, "evt_1", { endpoint: "second", state: "leased", dueAt: T0 + 60_000 });
    strictEqual(await takeOver(store, new Set()), 0);
    strictEqual((await store.get("second", "evt_1"))?.state, "leased");
  }),
  storeCase("G8", "a claim tells how often an event crashed, and the fifth crash makes it dead", async ({ store }) => {
    await bring(store, "evt_1", "leased");
    for (let crashes = 1; crashes < MAX_CRASHES; crashes++) {
      const now = T0 + crashes * 100_000;
      deepStrictEqual(await crash(store, now), []);
      strictEqual((await claimOne(store, { now })).crashes, crashes);
    }
    deepStrictEqual(await crash(store, T0 + 900_000), ["evt_1"], "an event died of crashes and was not reported");
    const entry = await store.get(ENDPOINT, "evt_1");
    deepStrictEqual([entry?.state, entry?.lastError, entry?.crashes], ["dead", CRASH_LOOP, MAX_CRASHES]);
  }),
];
