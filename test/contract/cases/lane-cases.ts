import { deepStrictEqual, strictEqual } from "node:assert/strict";
import type { NewEvent } from "../../../src/kit/inbox/batch.js";
import { laneKey, type Lane } from "../../../src/kit/inbox/lane.js";
import type { InboxStore } from "../../../src/kit/inbox/store.js";
import { MAX_CRASHES } from "../../../src/kit/inbox/crashes.js";
import {
  DAY_MS,
  ENDPOINT,
  claim,
  commit,
  idsOf,
  newEvent,
  settlement,
  storeCase,
  type Lease,
  type StoreCase,
} from "./store-case.js";

const LANE: Lane = { key: laneKey("a"), skips: false };
const SKIPPING: Lane = { key: laneKey("b"), skips: true };

/** Accepts events of one lane that are to be leased. @returns their leases */
async function acceptAll(store: InboxStore, lane: Lane, ...ids: string[]): Promise<Lease[]> {
  const given: Partial<NewEvent> = { lane, state: "leased", leaseMs: 60_000 };
  const { accepts } = await commit(store, { accepts: ids.map((id) => newEvent(id, given)) });
  return accepts.map((each) => {
    strictEqual(each.status, "accepted", "an event of a lane was not accepted");
    return { seq: each.seq, token: "token" in each ? each.token : 0 };
  });
}

async function end(
  store: InboxStore,
  lease: Lease | undefined,
  state: "done" | "dead",
  lane: Lane,
) {
  const { seq = 0, token = 0 } = lease ?? {};
  const error = state === "dead" ? "Error: no" : null;
  const settlements = [settlement({ seq, token }, { state, lastError: error, lane: lane.key })];
  return (await commit(store, { settlements })).promoted ?? 0;
}

async function headsOf(store: InboxStore, ...ids: string[]): Promise<string[]> {
  const found = await Promise.all(ids.map((id) => store.get(ENDPOINT, id)));
  return found.flatMap((each) => (each?.lane?.place === "head" ? each.eventId : []));
}

const keyOf = (eventId: string) => [{ endpoint: ENDPOINT, eventId }];

/** G17: events in their lanes. */
export const LANE_CASES: readonly StoreCase[] = [
  storeCase(
    "G17",
    "the first of the events of a commit is the head, whatever its id, and the others follow in their order",
    async ({ store }) => {
      const ids = ["evt_3", "evt_1", "evt_2"];
      const leases = await acceptAll(store, LANE, ...ids);
      deepStrictEqual(
        leases.map(({ token }) => token > 0),
        [true, false, false],
        "another than the first was leased",
      );
      let lease = leases[0];
      for (const [index, id] of ids.entries()) {
        deepStrictEqual(await headsOf(store, ...ids), [id], "the order is not that of arrival");
        strictEqual(
          await end(store, lease, "done", LANE),
          index < 2 ? 1 : 0,
          "a settlement did not say that it promoted",
        );
        lease = (await claim(store)).events[0];
      }
    },
  ),
  storeCase("G17", "a dead event holds its lane, unless it skips", async ({ store }) => {
    const [head] = await acceptAll(store, LANE, "evt_1", "evt_2");
    const [skipped] = await acceptAll(store, SKIPPING, "evt_3", "evt_4");
    strictEqual(await end(store, head, "dead", LANE), 0, "a dead event held nothing");
    strictEqual(await end(store, skipped, "dead", SKIPPING), 1, "a dead event was not skipped");
    strictEqual(await store.unblock(ENDPOINT, SKIPPING.key), false, "nothing was blocked");
    strictEqual(await store.unblock(ENDPOINT, LANE.key), true, "nothing was unblocked");
    const ids = ["evt_1", "evt_2", "evt_3", "evt_4"];
    deepStrictEqual(await headsOf(store, ...ids), ["evt_2", "evt_4"], "the next was no head");
    deepStrictEqual(idsOf((await claim(store)).events), ["evt_2", "evt_4"]);
  }),
  storeCase(
    "G17",
    "a replayed head stays the head, and an older event waits behind it",
    async ({ store }) => {
      const [first] = await acceptAll(store, LANE, "evt_1", "evt_2", "evt_3");
      await end(store, first, "done", LANE);
      await end(store, (await claim(store)).events[0], "dead", LANE);
      for (const id of ["evt_1", "evt_2"])
        deepStrictEqual(await store.replay(keyOf(id), () => null), ["moved"]);
      deepStrictEqual(idsOf((await claim(store)).events), ["evt_2"], "the head was displaced");
    },
  ),
  storeCase(
    "G17",
    "an id twice in one commit is one event, in the lane of the first",
    async ({ store }) => {
      const given = (lane: Lane, state: "leased" | "ready") =>
        newEvent("evt_1", { lane, state, leaseMs: state === "leased" ? 60_000 : null });
      await acceptAll(store, SKIPPING, "evt_0");
      const { accepts } = await commit(store, {
        accepts: [given(LANE, "ready"), given(LANE, "leased"), given(SKIPPING, "ready")],
      });
      deepStrictEqual(
        accepts.map(({ status }) => status),
        ["accepted", "duplicate", "duplicate"],
      );
      deepStrictEqual(await headsOf(store, "evt_0", "evt_1"), ["evt_0", "evt_1"]);
      strictEqual((await store.stats(ENDPOINT)).waiting, 0, "it waits in another lane too");
      deepStrictEqual(idsOf((await claim(store)).events), ["evt_1"], "it was leased to nobody");
    },
  ),
  storeCase("G17", "what is restored does not displace a head", async ({ store }) => {
    await acceptAll(store, LANE, "evt_1", "evt_2");
    const [, ...others] = await Promise.all(
      ["evt_1", "evt_2"].map((id) => store.get(ENDPOINT, id)),
    );
    const restored = others
      .flatMap((each) => each ?? [])
      .map((each) => ({
        ...each,
        eventId: "evt_3",
        state: "ready" as const,
        lane: { ...(each.lane as NonNullable<typeof each.lane>), place: "head" as const },
      }));
    await store.restore?.(ENDPOINT, restored);
    deepStrictEqual(await headsOf(store, "evt_1", "evt_2", "evt_3"), ["evt_1"]);
    deepStrictEqual(idsOf((await claim(store)).events), [], "a restored event is due");
  }),
  storeCase("G17", "of the heads that are restored together one is the head", async ({ store }) => {
    const [first, second] = await acceptAll(store, LANE, "evt_1", "evt_2");
    await end(store, first, "dead", LANE);
    const dead = await store.get(ENDPOINT, "evt_1");
    const waits = await store.get(ENDPOINT, "evt_2");
    strictEqual(second?.token, 0);
    if (store.restore === undefined || dead?.lane == null || waits?.lane == null) return;
    const lane = { ...dead.lane, key: Buffer.from(laneKey("c")).toString("hex") };
    await store.restore(ENDPOINT, [
      { ...waits, eventId: "evt_3", dueAt: 0, lane },
      { ...dead, eventId: "evt_4", lane },
      { ...waits, eventId: "evt_5", lane: { ...lane, place: "waiting" } },
    ]);
    deepStrictEqual(await headsOf(store, "evt_3", "evt_4", "evt_5"), ["evt_3"]);
    deepStrictEqual(await store.replay(keyOf("evt_4"), () => null), ["moved"]);
    const [head] = (await claim(store)).events;
    strictEqual(head?.eventId, "evt_3", "two of one key are due");
    await end(store, head, "done", { ...LANE, key: laneKey("c") });
    deepStrictEqual(idsOf((await claim(store)).events), ["evt_4"]);
  }),
  storeCase("G17", "a replayed event is due at once if nothing is before it", async ({ store }) => {
    const [only] = await acceptAll(store, LANE, "evt_1");
    await end(store, only, "done", LANE);
    deepStrictEqual(await store.replay(keyOf("evt_1"), () => null), ["moved"]);
    deepStrictEqual(idsOf((await claim(store)).events), ["evt_1"], "it waits for nothing");
  }),
  storeCase("G17", "what joins a lane does not make its head due sooner", async ({ store }) => {
    const [first] = await acceptAll(store, LANE, "evt_1", "evt_2");
    await end(store, first, "done", LANE);
    const head = (await claim(store)).events[0] as Lease;
    const later = settlement(head, { state: "ready", delayMs: 60_000, lane: LANE.key });
    await commit(store, { settlements: [later] });
    deepStrictEqual(await store.replay(keyOf("evt_1"), () => null), ["moved"]);
    deepStrictEqual(idsOf((await claim(store)).events), [], "the delay of the head was lost");
  }),
  storeCase(
    "G17",
    "an event that its crashes make dead lets the later ones go on, if it skips",
    async ({ store, advance }) => {
      await acceptAll(store, SKIPPING, "evt_1", "evt_2");
      for (let crashes = 1; crashes <= MAX_CRASHES && !store.shared; crashes += 1) {
        await store.reclaim({ endpoint: ENDPOINT, held: [], crashed: true });
        await advance(DAY_MS);
        const expected = crashes < MAX_CRASHES ? ["evt_1"] : ["evt_2"];
        deepStrictEqual(idsOf((await claim(store)).events), expected, "nothing went on");
      }
    },
  ),
  storeCase("G17", "what is discarded leaves its lane", async ({ store }) => {
    const [head] = await acceptAll(store, LANE, "evt_1", "evt_2");
    await end(store, head, "dead", LANE);
    deepStrictEqual(await store.discard(keyOf("evt_1")), ["moved"]);
    deepStrictEqual(idsOf((await claim(store)).events), ["evt_2"], "nothing went on");
  }),
  storeCase(
    "G17",
    "where a head has ended without a word of its lane, the next is promoted later",
    async ({ store }) => {
      const [head] = await acceptAll(store, LANE, "evt_1", "evt_2", "evt_3");
      // As a process of an older version does.
      await commit(store, { settlements: [settlement(head as Lease)] });
      deepStrictEqual(idsOf((await claim(store)).events), []);
      strictEqual((await store.tendLanes(ENDPOINT, true)).promoted, 1, "nothing was promoted");
      deepStrictEqual(idsOf((await claim(store)).events), ["evt_2"]);
      await store.tendLanes(ENDPOINT, false);
      deepStrictEqual(idsOf((await claim(store)).events), ["evt_3"], "a lane was not dissolved");
    },
  ),
];
