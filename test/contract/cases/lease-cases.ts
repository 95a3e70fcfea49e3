import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { CLOCK_SLACK_MS } from "../../../src/kit/inbox/store.js";
import type { InboxEntry } from "../../../src/kit/inbox/stored-events.js";
import {
  ENDPOINT,
  HEADERS,
  LEASE_MS,
  RECEIVED_AT,
  SECOND,
  accept,
  acceptAs,
  acceptDelayed,
  claim,
  claimOne,
  commit,
  crash,
  dueAtOf,
  idsOf,
  settle,
  settlement,
  stateOf,
  storeCase,
  type Lease,
  type StoreCase,
} from "./store-case.js";

/** G5 and G7: claims and settlements. */
export const LEASE_CASES: readonly StoreCase[] = [
  storeCase(
    "G5",
    "a settlement with a token that is not current changes nothing",
    async (context) => {
      const { store } = context;
      const { seq } = await accept(store, "evt_1");
      const first = await claimOne(store);
      const isSettled = await settle(store, first, { state: "ready" });
      strictEqual(isSettled, true, "a settlement with the current token was not applied");
      const second = await claimOne(store);
      ok(second.token > first.token, "a later claim did not get a larger token");
      const isLateSettled = await settle(store, first, { state: "dead" });
      strictEqual(isLateSettled, false, "a late settlement was reported as applied");
      strictEqual(await stateOf(store, "evt_1"), "leased", "a late settlement changed the event");
      await crash(context);
      strictEqual(
        await settle(store, second),
        false,
        "a settlement was applied after its lease was taken over",
      );
      const third = await claimOne(store);
      strictEqual(await settle(store, second), false, "a dead process's settlement was applied");
      strictEqual(await settle(store, third), true, "the current token was refused");
      strictEqual(await stateOf(store, "evt_1"), "done", "a settlement did not end the lease");
      strictEqual(
        await settle(store, { ...third, seq: seq + 1 }),
        false,
        "a missing event was settled",
      );
    },
  ),
  storeCase("G5", "a settlement that was applied before counts as applied", async ({ store }) => {
    for (const state of ["ready", "dead"] as const) {
      const lease = await accept(store, `evt_${state}`, { state: "leased" });
      const results = [
        await settle(store, lease, { state }),
        await settle(store, lease, { state }),
      ];
      deepStrictEqual(
        results,
        [true, true],
        `a repeated settlement as ${state} was not reported as applied`,
      );
    }
    const ids = ["evt_1", "evt_2", "evt_3", "evt_4"];
    const leases: Lease[] = [];
    for (const id of ids) leases.push(await accept(store, id, { state: "leased" }));
    await settle(store, leases[1] as Lease);
    const results = (await commit(store, { settlements: leases.map((lease) => settlement(lease)) }))
      .settlements;
    const expected = [true, true, true, true];
    deepStrictEqual(
      results,
      expected,
      "a repeated settlement among others was not reported as applied",
    );
    const states = await Promise.all(ids.map((id) => stateOf(store, id)));
    deepStrictEqual(
      states,
      ["done", "done", "done", "done"],
      "a settlement beside a repeated one was not applied",
    );
  }),
  storeCase(
    "G5",
    "a settlement that was applied before changes nothing",
    async ({ store, advance }) => {
      const replayed = await acceptAs(store, "evt_replayed", "done");
      await store.replay([{ endpoint: ENDPOINT, eventId: "evt_replayed" }], () => null);
      const discarded = await acceptAs(store, "evt_discarded", "dead");
      await store.discard([{ endpoint: ENDPOINT, eventId: "evt_discarded" }]);
      const retried = await accept(store, "evt_retried", { state: "leased" });
      const retry = { state: "ready", delayMs: 60_000 } as const;
      await settle(store, retried, retry);
      const before = await store.list({ endpoint: ENDPOINT });
      await advance(1000);
      await settle(store, replayed);
      await settle(store, discarded, { state: "dead" });
      await settle(store, retried, retry);
      deepStrictEqual(
        await store.list({ endpoint: ENDPOINT }),
        before,
        "a repeated settlement changed an event",
      );
    },
  ),
  storeCase(
    "G5",
    "equal settlements in one batch are each checked by their own token",
    async ({ store }) => {
      const leases: Lease[] = [];
      for (const id of ["evt_1", "evt_2"])
        leases.push(await accept(store, id, { state: "leased" }));
      // Never leased, and so not under the token of its neighbours.
      leases.push({ ...(leases[0] as Lease), seq: (await accept(store, "evt_3")).seq });
      for (const id of ["evt_4", "evt_5"])
        leases.push(await accept(store, id, { state: "leased" }));
      const results = (
        await commit(store, { settlements: leases.map((lease) => settlement(lease)) })
      ).settlements;
      const expected = [true, true, false, true, true];
      deepStrictEqual(
        results,
        expected,
        "a settlement was checked with the token of another settlement",
      );
      const states = (await store.list({ endpoint: ENDPOINT })).map(({ state }) => state);
      deepStrictEqual(
        states,
        ["done", "done", "ready", "done", "done"],
        "a wrong event was settled",
      );
    },
  ),
  storeCase(
    "G5",
    "different settlements in one batch each write their own values",
    async ({ store }) => {
      const ends = [
        { state: "ready", delayMs: 50_000 },
        { state: "ready", delayMs: 80_000 },
        // Between them an ordinary one, from which each differs in one value alone.
        {},
        { attempts: 2 },
        {},
        { possiblyRepeated: true },
        {},
        { lastError: "Error: no" },
        {},
        { state: "dead" },
        {},
      ] as const;
      const leases: Lease[] = [];
      for (const [index] of ends.entries())
        leases.push(await accept(store, `evt_${index}`, { state: "leased" }));
      const leased = await store.list({ endpoint: ENDPOINT });
      const settlements = ends.map((end, index) => settlement(leases[index] as Lease, end));
      await commit(store, { settlements });
      const entries = await store.list({ endpoint: ENDPOINT });
      for (const [index, wanted] of settlements.entries()) {
        const { state, dueAt, attempts, possiblyRepeated, lastError } = entries[
          index
        ] as InboxEntry;
        const { delayMs, receivedAt: _receivedAt, ...values } = wanted;
        const found = {
          seq: wanted.seq,
          token: wanted.token,
          state,
          attempts,
          possiblyRepeated,
          lastError,
        };
        deepStrictEqual(found, values, `settlement ${index} wrote other values`);
        const acceptedAt = (leased[index]?.dueAt ?? NaN) - LEASE_MS;
        strictEqual(dueAt - acceptedAt, delayMs, `settlement ${index} wrote another time`);
      }
    },
  ),
  storeCase(
    "G5",
    "a settlement writes its values, and null keeps the previous error",
    async (context) => {
      const { store, advance } = context;
      const lease = await accept(store, "evt_1", { state: "leased" });
      const lastError = `Error: down\n${"é".repeat(3987)}\n`;
      await settle(store, lease, {
        state: "ready",
        delayMs: 50_000,
        attempts: 3,
        possiblyRepeated: true,
        lastError,
      });
      const dueAt = await dueAtOf(store, "evt_1");
      await advance(50_000);
      const claimed = await claimOne(store);
      await advance(9000);
      await settle(store, claimed, { attempts: 4, possiblyRepeated: true });
      const entry = await store.get(ENDPOINT, "evt_1");
      strictEqual(entry?.lastError, lastError, "the error was not kept whole, or null replaced it");
      const found = [entry.attempts, entry.possiblyRepeated, entry.state];
      deepStrictEqual(found, [4, true, "done"], "a settlement wrote other values");
      strictEqual(entry.dueAt - dueAt, 9000, "a done event does not say since when it is done");
    },
  ),
  storeCase(
    "G7",
    "a claim takes due events, earliest first, and reports the next due time",
    async (context) => {
      const { store, advance } = context;
      const delayMs = 60_000;
      await acceptDelayed(store, "evt_late", delayMs);
      const later = await accept(store, "evt_b", { state: "leased" });
      await accept(store, "evt_a");
      for (const state of ["done", "dead", "quarantined"] as const)
        await acceptAs(store, `evt_${state}`, state);
      await advance(1000);
      await settle(store, later, { state: "ready" });
      const first = await claim(store, { limit: 1 });
      deepStrictEqual(
        idsOf(first.events),
        ["evt_a"],
        "the earliest due event was not claimed first",
      );
      const second = await claim(store);
      deepStrictEqual(
        idsOf(second.events),
        ["evt_b"],
        "the claimed events were not exactly the due events",
      );
      const leftMs = delayMs - 1000;
      strictEqual(second.nextDueInMs, leftMs, "the next due time was wrong");
      await advance(leftMs - 1);
      deepStrictEqual(
        (await claim(store)).events,
        [],
        "an event was claimed twice, or before it was due",
      );
      await advance(1);
      const third = await claim(store);
      deepStrictEqual(
        idsOf(third.events),
        ["evt_late"],
        "an event was not claimed when it was due",
      );
      strictEqual(third.nextDueInMs, null, "a next due time was reported without a ready event");
    },
  ),
  storeCase("G7", "a claim says for how long an event was due", async ({ store, advance }) => {
    await accept(store, "evt_1");
    await acceptDelayed(store, "evt_2", 60_000);
    await advance(61_000);
    const [first, second] = (await claim(store)).events;
    strictEqual(first?.dueForMs, 61_000, "a new event was due for longer");
    strictEqual(second?.dueForMs, 1000, "a retry was not due since the end of its delay");
  }),
  storeCase(
    "G7",
    "an event that is released keeps its place in the queue",
    async ({ store, advance }) => {
      await accept(store, "evt_1");
      const lease = await claimOne(store);
      await advance(1000);
      await accept(store, "evt_2");
      await advance(1000);
      await settle(store, lease, { state: "ready", delayMs: -2000, attempts: 0 });
      deepStrictEqual(
        idsOf((await claim(store)).events),
        ["evt_1", "evt_2"],
        "a released event lost its place",
      );
    },
  ),
  storeCase(
    "G7",
    "the time at which a process received an event decides nothing",
    async ({ store }) => {
      for (const [index, at] of [RECEIVED_AT + 1e12, 0].entries()) {
        await accept(store, `evt_${index}`, { received: { at, headers: HEADERS } });
      }
      const lease = await accept(store, "evt_retried", {
        state: "leased",
        received: { at: 0, headers: HEADERS },
      });
      await settle(store, lease, { state: "ready", delayMs: 60_000 });
      const { events, nextDueInMs } = await claim(store);
      deepStrictEqual(
        idsOf(events),
        ["evt_0", "evt_1"],
        "the events were not due, or in another order",
      );
      strictEqual(nextDueInMs, 60_000, "the next due time was wrong");
    },
  ),
  storeCase(
    "G7",
    "when the store's clock was set back, a ready event keeps its delay",
    async (context) => {
      const { store, sibling, advance } = context;
      if (store.leasedSince !== undefined) return;
      const hour = 3_600_000;
      const delayMs = LEASE_MS / 2;
      await acceptDelayed(store, "evt_long", 3 * hour);
      await advance(2 * hour);
      await accept(store, "evt_fresh");
      await accept(store, "evt_other", {}, SECOND);
      await acceptDelayed(store, "evt_retry", delayMs);
      const [other, long] = [
        await dueAtOf(store, "evt_other", SECOND),
        await dueAtOf(store, "evt_long"),
      ];
      await advance(-2 * hour);
      deepStrictEqual(
        idsOf((await claim(store)).events),
        ["evt_fresh"],
        "a new event waited for the old time",
      );
      // A second claim, even by another process, must not move the events again.
      await advance(delayMs - 1);
      const early = idsOf((await claim(sibling)).events);
      deepStrictEqual(early, [], "a retry was claimed before the end of its delay");
      await advance(1);
      deepStrictEqual(
        idsOf((await claim(store)).events),
        ["evt_retry"],
        "a retry waited for the old time",
      );
      strictEqual(
        await dueAtOf(store, "evt_other", SECOND),
        other,
        "another endpoint's event was moved",
      );
      strictEqual(await dueAtOf(store, "evt_long"), long, "a long delay was shortened");
    },
  ),
  storeCase(
    "G7",
    "a small correction of the store's clock moves no event",
    async ({ store, advance }) => {
      if (store.leasedSince !== undefined) return;
      await accept(store, "evt_1");
      const dueAt = await dueAtOf(store, "evt_1");
      await advance(-CLOCK_SLACK_MS);
      deepStrictEqual((await claim(store)).events, [], "an event was claimed before it was due");
      strictEqual(await dueAtOf(store, "evt_1"), dueAt, "an event was moved");
    },
  ),
  storeCase("G7", "a claim sees only its own endpoint", async ({ store }) => {
    await accept(store, "evt_1", {}, SECOND);
    const { events, nextDueInMs } = await claim(store);
    deepStrictEqual([events, nextDueInMs], [[], null], "a claim saw another endpoint's due event");
    const lease = await accept(store, "evt_2", { state: "leased" }, SECOND);
    await commit(store, {
      endpoint: SECOND,
      settlements: [settlement(lease, { state: "ready", delayMs: 60_000 })],
    });
    strictEqual(
      (await claim(store)).nextDueInMs,
      null,
      "a claim saw another endpoint's next event",
    );
  }),
  storeCase("G7", "simultaneous claims never share an event", async ({ store, sibling }) => {
    for (let index = 0; index < 30; index++) await accept(store, `evt_${index}`);
    const claims = Array.from({ length: 6 }, (_, index) =>
      claim(index % 2 === 0 ? store : sibling, { limit: 5 }),
    );
    const ids = (await Promise.all(claims)).flatMap(({ events }) =>
      events.map(({ eventId }) => eventId),
    );
    strictEqual(new Set(ids).size, 30, "not all events were claimed");
    strictEqual(ids.length, 30, "an event was claimed twice");
  }),
];
