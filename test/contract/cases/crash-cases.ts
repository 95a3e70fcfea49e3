import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { ClaimedEvent } from "../../../src/kit/inbox/batch.js";
import { CRASH_DELAYS_MS, CRASH_LOOP, MAX_CRASHES } from "../../../src/kit/inbox/crashes.js";
import {
  ENDPOINT,
  LEASE_MS,
  SECOND,
  accept,
  acceptAs,
  assertBetween,
  claim,
  claimOne,
  crash,
  crashesOf,
  dueAtOf,
  idsOf,
  stateOf,
  reclaim,
  storeCase,
  type StoreCase,
} from "./store-case.js";

/** G8: events of a process that died. */
export const CRASH_CASES: readonly StoreCase[] = [
  storeCase(
    "G8",
    "leases of a dead process are freed, as crashes and possible repeats",
    async (context) => {
      const { store, advance } = context;
      await acceptAs(store, "evt_1", "leased");
      const held = await acceptAs(store, "evt_2", "leased");
      if (store.shared) {
        strictEqual(await reclaim(store, []), 0, "a living process's lease was taken over");
        await advance(LEASE_MS - 1);
        deepStrictEqual((await claim(store)).events, [], "a lease was taken over too early");
        // A store may look for expired leases once a second.
        await advance(1001);
        deepStrictEqual(
          idsOf((await claim(store)).events),
          ["evt_1", "evt_2"],
          "expired leases were not taken over",
        );
        const crashes = [await crashesOf(store, "evt_1"), await crashesOf(store, "evt_2")];
        deepStrictEqual(crashes, [1, 1], "expired leases were not taken over as crashes");
        return;
      }
      strictEqual(await reclaim(store, [held.seq]), 1, "not exactly one lease was freed");
      const event = await claimOne(store);
      const found = [event.eventId, await crashesOf(store, "evt_1"), event.possiblyRepeated];
      deepStrictEqual(found, ["evt_1", 1, true], "a freed lease was not marked as a crash");
      strictEqual(event.attempts, 0, "a crash was counted as an attempt");
      strictEqual(await stateOf(store, "evt_2"), "leased", "a held lease was taken over");
    },
  ),
  storeCase(
    "G8",
    "a lease whose hand-off never began is freed without a crash",
    async ({ store }) => {
      const lease = await acceptAs(store, "evt_1", "leased");
      const { freed } = await store.reclaim({ endpoint: ENDPOINT, held: [], crashed: false });
      if (store.shared && store.leasedSince === undefined) {
        strictEqual(freed, 0, "a living process's lease was freed");
        return;
      }
      strictEqual(freed, 1, "the lease was not freed");
      const { possiblyRepeated, attempts, token } = await claimOne(store);
      const found = [await crashesOf(store, "evt_1"), possiblyRepeated, attempts];
      deepStrictEqual(found, [0, false, 0], "a crash or an attempt was counted");
      ok(token > lease.token, "a token was used twice");
    },
  ),
  storeCase("G8", "a process never takes over an event that it holds itself", async (context) => {
    const { store, sibling, advance } = context;
    const { seq } = await acceptAs(store, "evt_1", "leased");
    await advance(LEASE_MS);
    await accept(store, "evt_2");
    const { events } = await claim(store, { held: [seq] });
    deepStrictEqual(idsOf(events), ["evt_2"], "a held event was claimed");
    strictEqual(await stateOf(store, "evt_1"), "leased", "a held lease was taken over");
    if (!store.shared || store.leasedSince !== undefined) return;
    const others = await claim(sibling, { limit: 1, held: [events[0]?.seq ?? -1] });
    deepStrictEqual(
      idsOf(others.events),
      ["evt_1"],
      "another process did not take over the expired lease",
    );
  }),
  storeCase(
    "G8",
    "the leases of a dead process are taken over, and those of a living one are not",
    async (context) => {
      const { store, sibling, medium, advance } = context;
      if (store.leasedSince === undefined) return;
      ok(
        medium.createSibling !== undefined && medium.kill !== undefined,
        "the medium has no createSibling or no kill",
      );
      // Older than the leases since birth, so that a store that looks only from these on misses it.
      await accept(store, "evt_3");
      const lease = await acceptAs(store, "evt_1", "leased");
      const held = await acceptAs(sibling, "evt_2", "leased");
      await claim(store, { held: [lease.seq], limit: 0 });
      const claimed = await claimOne(store, { held: [lease.seq] });
      /**
       * Both processes claim once a second, as dispatchers do. @returns what the sibling was given
       */
      const live = async (seconds: number, isStoreAlive: boolean): Promise<ClaimedEvent[]> => {
        const taken: ClaimedEvent[] = [];
        for (let second = 0; second < seconds && taken.length < 2; second++) {
          await advance(1000);
          if (isStoreAlive) {
            const { events } = await claim(store, { held: [lease.seq, claimed.seq] });
            deepStrictEqual(events, [], "a living process's lease was taken over");
          }
          taken.push(
            ...(await claim(sibling, { held: [held.seq, ...taken.map(({ seq }) => seq)] })).events,
          );
        }
        return taken;
      };
      deepStrictEqual(
        await live(1 + LEASE_MS / 1000, true),
        [],
        "a living process's lease was taken over",
      );
      await medium.kill(store);
      const taken = await live(LEASE_MS / 1000, false);
      deepStrictEqual(
        idsOf(taken).toSorted(),
        ["evt_1", "evt_3"],
        "a dead process's leases were not taken over",
      );
      for (const { eventId, possiblyRepeated } of taken) {
        const found = [await crashesOf(sibling, eventId), possiblyRepeated];
        deepStrictEqual(found, [1, true], "a lease that was taken over was not marked as a crash");
      }
      strictEqual(await stateOf(sibling, "evt_2"), "leased", "a held lease was taken over");
    },
  ),
  storeCase("G8", "an endpoint's leases are not taken over by another", async ({ store }) => {
    await accept(store, "evt_1", { state: "leased" }, SECOND);
    strictEqual(await reclaim(store, []), 0, "another endpoint's lease was freed");
    strictEqual(
      (await store.get(SECOND, "evt_1"))?.state,
      "leased",
      "another endpoint's event was changed",
    );
  }),
  storeCase(
    "G8",
    "after its first crash an event is due at once, after the second within its delay",
    async (context) => {
      const { store, advance } = context;
      const ids = ["evt_1", "evt_2", "evt_3", "evt_4", "evt_5"];
      for (const id of ids) await acceptAs(store, id, "leased");
      await crash(context);
      const { events } = await claim(store);
      deepStrictEqual(
        idsOf(events).toSorted(),
        ids,
        "after its first crash an event was not due at once",
      );
      await crash(context);
      const dueAt = await Promise.all(ids.map((id) => dueAtOf(store, id)));
      ok(new Set(dueAt).size > 1, "events that crashed together are due at the same time");
      const [, mostMs = 0] = CRASH_DELAYS_MS;
      const { nextDueInMs } = await claim(store, { limit: 0 });
      const spreadMs = Math.max(...dueAt) - Math.min(...dueAt);
      assertBetween(
        nextDueInMs,
        0,
        mostMs - spreadMs,
        "an event was due after more than its delay",
      );
      await advance(Math.max(0, (nextDueInMs ?? 0) + spreadMs - 1));
      const early = idsOf((await claim(store)).events);
      ok(early.length < ids.length, "an event was claimed before its delay was over");
      await advance(1);
      const late = idsOf((await claim(store)).events);
      deepStrictEqual(
        [...early, ...late].toSorted(),
        ids,
        "an event was not claimed when its delay was over",
      );
    },
  ),
  storeCase("G8", "each crash is counted, and the fifth makes an event dead", async (context) => {
    const { store, advance } = context;
    await acceptAs(store, "evt_1", "leased");
    for (let crashes = 1; crashes < MAX_CRASHES; crashes++) {
      deepStrictEqual(await crash(context), [], `an event was dead after ${crashes} crashes`);
      strictEqual(await crashesOf(store, "evt_1"), crashes, "the number of crashes is wrong");
      const failing = await store.failing(ENDPOINT, "ready", Number.MAX_SAFE_INTEGER);
      deepStrictEqual(
        failing.map(({ lastError }) => lastError),
        crashes < 2 ? [] : [CRASH_LOOP],
        `after ${crashes} crashes it is told wrongly whether the event fails`,
      );
      await advance(CRASH_DELAYS_MS[crashes - 1] ?? 0);
      await claimOne(store);
    }
    deepStrictEqual(await crash(context), ["evt_1"], "an event that became dead was not reported");
    const entry = await store.get(ENDPOINT, "evt_1");
    const found = [entry?.state, entry?.lastError, entry?.crashes];
    deepStrictEqual(
      found,
      ["dead", CRASH_LOOP, MAX_CRASHES],
      "an event was stored wrongly after its last crash",
    );
  }),
];
