import { deepStrictEqual, strictEqual } from "node:assert/strict";
import type { ClaimedEvent, NewEvent } from "../../../src/kit/inbox/batch.js";
import { laneKey, rankOf } from "../../../src/kit/inbox/lane.js";
import type { InboxStore } from "../../../src/kit/inbox/store.js";
import {
  claim,
  commit,
  DAY_MS,
  ENDPOINT,
  SECOND,
  idsOf,
  newEvent,
  settlement,
  storeCase,
  type Lease,
  type StoreCase,
} from "./store-case.js";

const KEY = laneKey("a");
const QUIET_MS = 10_000;

/** An event of a burst. @param rank by which it is older or newer; by its arrival without one */
function burstEvent(id: string, rank?: number, quietMs = QUIET_MS): NewEvent {
  const burst = { quietMs, longestMs: 25_000, rank: rank === undefined ? null : rankOf(rank) };
  return newEvent(id, { lane: { key: KEY, skips: false, burst } });
}

/** Which of the events were superseded, by which, and which is the head. */
async function fatesOf(store: InboxStore, ...ids: string[]): Promise<Record<string, unknown>> {
  const found = await Promise.all(ids.map((id) => store.get(ENDPOINT, id)));
  return Object.fromEntries(
    found.map((each) => [
      each?.eventId,
      each?.lane?.place ?? (each?.state === "done" ? each.lastError : each?.state),
    ]),
  );
}

const earlierOf = ({ earlier }: ClaimedEvent) => [
  earlier?.count ?? 0,
  ...(earlier?.events.map(({ eventId }) => eventId) ?? []),
];

const keyOf = (eventId: string) => [{ endpoint: ENDPOINT, eventId }];

async function end(store: InboxStore, lease: Lease | undefined, state: "done" | "dead") {
  const lastError = state === "dead" ? "Error: no" : null;
  const ended = settlement(lease ?? { seq: 0, token: 0 }, { state, lastError, lane: KEY });
  await commit(store, { settlements: [ended] });
}

/** G18: bursts. */
export const BURST_CASES: readonly StoreCase[] = [
  storeCase(
    "G18",
    "the last of a burst is handed off when none follows, and names the others",
    async ({ store, advance }) => {
      const { superseded } = await commit(store, {
        accepts: [burstEvent("evt_3"), burstEvent("evt_1")],
      });
      strictEqual(superseded, 1, "a commit did not say what was superseded");
      await advance(QUIET_MS - 1000);
      await commit(store, { accepts: [burstEvent("evt_2")] });
      await advance(QUIET_MS - 1000);
      deepStrictEqual(idsOf((await claim(store)).events), [], "an event did not prolong the wait");
      strictEqual((await store.get(ENDPOINT, "evt_2"))?.earlierCount, 2);
      await advance(1000);
      const { events } = await claim(store);
      deepStrictEqual(events.map(earlierOf), [[2, "evt_3", "evt_1"]]);
      deepStrictEqual(await fatesOf(store, "evt_3", "evt_1", "evt_2"), {
        evt_3: "superseded by evt_1",
        evt_1: "superseded by evt_2",
        evt_2: "head",
      });
    },
  ),
  storeCase("G18", "a burst that does not end is due at last", async ({ store, advance }) => {
    for (let count = 1; count <= 5; count += 1) {
      await commit(store, { accepts: [burstEvent(`evt_${count}`)] });
      // The clock is set back after the first one.
      await advance(count === 1 ? -3_600_000 : 8000);
    }
    const { events } = await claim(store);
    deepStrictEqual(events.map(earlierOf), [[4, "evt_1", "evt_2", "evt_3", "evt_4"]]);
  }),
  storeCase(
    "G18",
    "by rank a late event is the older one, and of equal ones the last is the newest",
    async ({ store, advance }) => {
      await commit(store, {
        accepts: [burstEvent("evt_1", 5), burstEvent("evt_2", -1), burstEvent("evt_3", 5)],
      });
      await advance(QUIET_MS);
      const { events } = await claim(store);
      deepStrictEqual(idsOf(events), ["evt_3"]);
      deepStrictEqual(events.map(earlierOf), [[2, "evt_1", "evt_2"]]);
      strictEqual((await store.get(ENDPOINT, "evt_2"))?.lastError, "superseded by evt_1");
    },
  ),
  storeCase(
    "G18",
    "what was begun with, replayed or is of no burst is no neighbour",
    async ({ store, advance }) => {
      await commit(store, { accepts: [burstEvent("evt_1")] });
      await advance(QUIET_MS);
      const [begun] = (await claim(store)).events;
      await commit(store, { accepts: [burstEvent("evt_2"), burstEvent("evt_3")] });
      await commit(store, {
        accepts: [
          newEvent("evt_4", { lane: { key: KEY, skips: false } }),
          burstEvent("evt_5"),
          burstEvent("evt_6"),
        ],
      });
      const ids = ["evt_1", "evt_2", "evt_3", "evt_4", "evt_5", "evt_6"];
      deepStrictEqual(await fatesOf(store, ...ids), {
        evt_1: "head",
        evt_2: "superseded by evt_3",
        evt_3: "waiting",
        evt_4: "waiting",
        evt_5: "superseded by evt_6",
        evt_6: "waiting",
      });
      await end(store, begun, "dead");
      deepStrictEqual(await store.replay(keyOf("evt_1"), () => null), ["moved"]);
      await advance(QUIET_MS);
      await end(store, (await claim(store)).events[0], "done");
      const [next] = (await claim(store)).events;
      deepStrictEqual(next && [next.eventId, ...earlierOf(next)], ["evt_3", 1, "evt_2"]);
    },
  ),
  storeCase(
    "G18",
    "an event that failed and waits for its next attempt is no neighbour",
    async ({ store, advance }) => {
      await commit(store, { accepts: [burstEvent("evt_1")] });
      await advance(QUIET_MS);
      const [begun] = (await claim(store)).events;
      const later = settlement(begun ?? { seq: 0, token: 0 }, {
        state: "ready",
        delayMs: 60_000,
        lastError: "Error: no",
        lane: KEY,
      });
      await commit(store, { settlements: [later] });
      await commit(store, { accepts: [burstEvent("evt_2")] });
      deepStrictEqual(await fatesOf(store, "evt_1", "evt_2"), { evt_1: "head", evt_2: "waiting" });
    },
  ),
  storeCase(
    "G18",
    "a burst waits for its head, and then for the rest of its quiet time",
    async ({ store, advance }) => {
      await commit(store, { accepts: [newEvent("evt_0", { lane: { key: KEY, skips: false } })] });
      const [head] = (await claim(store)).events;
      await commit(store, { accepts: [burstEvent("evt_1"), burstEvent("evt_2")] });
      await advance(QUIET_MS - 1000);
      await end(store, head, "done");
      deepStrictEqual(idsOf((await claim(store)).events), [], "its quiet time was forgotten");
      await advance(1000);
      deepStrictEqual(idsOf((await claim(store)).events), ["evt_2"]);
    },
  ),
  storeCase(
    "G18",
    "the event before a discarded one takes its place, until none is left",
    async ({ store, advance }) => {
      await commit(store, {
        accepts: [burstEvent("evt_1", 3), burstEvent("evt_2", 9), burstEvent("evt_3", 1)],
      });
      await commit(store, { accepts: [newEvent("evt_4", { lane: { key: KEY, skips: false } })] });
      await advance(QUIET_MS);
      for (const [id, ...earlier] of [["evt_2", "evt_1", "evt_3"], ["evt_1", "evt_3"], ["evt_3"]]) {
        const { events } = await claim(store);
        deepStrictEqual(idsOf(events), [id]);
        deepStrictEqual(events.map(earlierOf), [[earlier.length, ...earlier]]);
        strictEqual(events[0]?.possiblyRepeated, id !== "evt_2", "it may repeat what had begun");
        await end(store, events[0], "dead");
        deepStrictEqual(await store.discard(keyOf(String(id))), ["moved"]);
      }
      deepStrictEqual(idsOf((await claim(store)).events), ["evt_4"], "nothing followed");
    },
  ),
  storeCase(
    "G18",
    "a discarded event does not come back, and none for an event that is done",
    async ({ store, advance }) => {
      await commit(store, {
        accepts: [burstEvent("evt_1"), burstEvent("evt_2"), burstEvent("evt_3")],
      });
      // As after a start without the option `order`.
      await store.tendLanes(ENDPOINT, false);
      await advance(QUIET_MS);
      const [newest] = (await claim(store)).events;
      await end(store, newest, "done");
      strictEqual((await store.get(ENDPOINT, "evt_3"))?.earlierCount, 0, "its burst goes on");
      deepStrictEqual(await store.discard([...keyOf("evt_3"), ...keyOf("evt_2")]), [
        "moved",
        "moved",
      ]);
      deepStrictEqual(idsOf((await claim(store)).events), [], "one came back");
      await commit(store, { accepts: [burstEvent("evt_4"), burstEvent("evt_5")] });
      deepStrictEqual(await store.discard(keyOf("evt_4")), ["moved"]);
      await advance(QUIET_MS);
      await end(store, (await claim(store)).events[0], "dead");
      deepStrictEqual(await store.discard(keyOf("evt_5")), ["moved"]);
      deepStrictEqual(idsOf((await claim(store)).events), [], "a discarded one came back");
    },
  ),
  storeCase(
    "G18",
    "the event before an erased one takes its place, and an erased one is not named",
    async ({ store, advance }) => {
      const ids = ["evt_1", "evt_2", "ann@example.com", "evt_4"];
      await commit(store, { accepts: ids.map((id) => burstEvent(id)) });
      deepStrictEqual(await store.erase(keyOf("ann@example.com"), "ann@"), ["moved"]);
      strictEqual(JSON.stringify(await store.list({})).includes("ann@"), false, "a name is left");
      deepStrictEqual(await store.erase(keyOf("evt_4"), null), ["moved"]);
      await advance(QUIET_MS);
      const { events } = await claim(store);
      deepStrictEqual(
        events.map((each) => [each.eventId, ...earlierOf(each)]),
        [["evt_2", 1, "evt_1"]],
      );
    },
  ),
  storeCase("G18", "an erased event is not named by what is restored", async ({ store }) => {
    if (store.restore === undefined) return;
    const ids = ["evt_1", "ann@example.com"];
    await commit(store, { accepts: ids.map((id) => burstEvent(id)) });
    const stored = await Promise.all(ids.map((id) => store.get(ENDPOINT, id)));
    await store.restore(
      SECOND,
      stored.filter((each) => each !== undefined),
    );
    await store.erase([{ endpoint: SECOND, eventId: "ann@example.com" }], "ann@");
    const named = JSON.stringify(await store.list({ endpoint: SECOND }));
    strictEqual(named.includes("ann@"), false, "a name is left");
  }),
  storeCase(
    "G18",
    "nothing of a burst is pruned before its newest event is done",
    async ({ store, advance }) => {
      await commit(store, { accepts: [burstEvent("evt_1"), burstEvent("evt_2")] });
      // The event with the largest seq is kept in any case.
      await commit(store, { accepts: [newEvent("evt_3", { state: "done" })] });
      await advance(3 * DAY_MS);
      const all = { endpoint: ENDPOINT, payloadsOlderThanMs: 0, keysOlderThanMs: 0, limit: 100 };
      const prune = async () => {
        for (let walk = 0; walk < 3; walk += 1) await store.prune(all);
      };
      await prune();
      const [lease] = (await claim(store)).events;
      deepStrictEqual(lease && earlierOf(lease), [1, "evt_1"], "an earlier event is gone");
      await end(store, lease, "done");
      strictEqual((await store.get(ENDPOINT, "evt_2"))?.earlierCount, 0, "its burst has not ended");
      await advance(DAY_MS);
      await prune();
      strictEqual(await store.get(ENDPOINT, "evt_1"), undefined, "it was not pruned");
    },
  ),
  storeCase(
    "G18",
    "a superseded event that is replayed is handed off alone, after the newest",
    async ({ store, advance }) => {
      await commit(store, {
        accepts: [burstEvent("evt_1"), burstEvent("evt_2"), burstEvent("evt_3")],
      });
      deepStrictEqual(await store.replay(keyOf("evt_1"), () => null), ["moved"]);
      await advance(QUIET_MS);
      const [newest] = (await claim(store)).events;
      deepStrictEqual(newest && [newest.eventId, ...earlierOf(newest)], ["evt_3", 1, "evt_2"]);
      strictEqual((await store.get(ENDPOINT, "evt_1"))?.lastError, null);
      await end(store, newest, "done");
      const { events } = await claim(store);
      deepStrictEqual(
        events.map((each) => [each.eventId, ...earlierOf(each)]),
        [["evt_1", 0]],
      );
    },
  ),
  storeCase(
    "G18",
    "a hand-off names the last 100 of its earlier events, and counts all",
    async ({ store, advance }) => {
      const ids = Array.from({ length: 131 }, (_, index) => `evt_${index}`);
      await commit(store, { accepts: ids.map((id) => burstEvent(id)) });
      await advance(QUIET_MS);
      const [newest] = (await claim(store)).events;
      deepStrictEqual(newest && earlierOf(newest), [130, ...ids.slice(30, 130)]);
    },
  ),
];
