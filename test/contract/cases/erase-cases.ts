import type { StoredEvent } from "../../../src/kit/inbox/stored-events.js";
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { hash } from "node:crypto";
import { laneKey, type Lane } from "../../../src/kit/inbox/lane.js";
import type { InboxStore } from "../../../src/kit/inbox/store.js";
import { EVENT_STATES } from "../../../src/kit/inbox/stored-events.js";
import {
  ENDPOINT,
  accept,
  acceptAs,
  claim,
  commit,
  crash,
  idsOf,
  newEvent,
  settle,
  settlement,
  stateOf,
  storeCase,
  type StoreCase,
} from "./store-case.js";

const LANE: Lane = { key: laneKey("a"), skips: false };

const erase = (store: InboxStore, eventIds: string[], hidden: string | null = null) =>
  store.erase(
    eventIds.map((eventId) => ({ endpoint: ENDPOINT, eventId })),
    hidden,
  );

async function assertErased(store: InboxStore, eventId: string, state = "done"): Promise<void> {
  const event = await store.get(ENDPOINT, eventId);
  const { rawBody, received, history, subject, lastError, lane, type } = event ?? {};
  deepStrictEqual(
    { rawBody, headers: received?.headers, history, subject, lastError, lane, state: event?.state },
    {
      rawBody: null,
      headers: {},
      history: [],
      subject: null,
      lastError: "erased",
      lane: null,
      state,
    },
    `something of ${eventId} is left`,
  );
  strictEqual(type, "signal.published", "the type is gone");
}

/** G20: erase. */
export const ERASE_CASES: readonly StoreCase[] = [
  storeCase(
    "G20",
    "an erased event keeps its id and type alone, in every state, and is never handed off",
    async ({ store }) => {
      for (const state of EVENT_STATES) {
        const lease = await acceptAs(store, `evt_${state}`, state);
        if (state === "ready") await accept(store, "evt_kept", { subject: "acme" });
        if (state === "leased") await erase(store, ["evt_leased"]);
        if (state === "leased") await assertErased(store, "evt_leased", "leased");
        if (state === "leased")
          strictEqual(
            await settle(store, lease, { state: "ready", lastError: "Error: Ann" }),
            true,
          );
      }
      const ids = EVENT_STATES.map((state) => `evt_${state}`);
      deepStrictEqual(await erase(store, [...ids, "evt_none"]), [
        ...ids.map(() => "moved"),
        "not_found",
      ]);
      for (const id of ids) await assertErased(store, id);
      deepStrictEqual(idsOf((await claim(store)).events), ["evt_kept"], "an erased event is due");
      const kept = await store.get(ENDPOINT, "evt_kept");
      deepStrictEqual(
        [kept?.subject, kept?.rawBody?.length],
        ["acme", 17],
        "another one was erased",
      );
      const [moved] = await store.replay([{ endpoint: ENDPOINT, eventId: "evt_done" }], () => null);
      strictEqual(moved, "payload_gone", "an erased event can be replayed");
    },
  ),
  storeCase(
    "G20",
    "an event that is erased while it is leased ends with its settlement, whatever that says",
    async ({ store }) => {
      for (const state of ["ready", "dead", "done"] as const) {
        const lease = await accept(store, `evt_${state}`, { state: "leased" });
        await erase(store, [`evt_${state}`]);
        const end = () => settle(store, lease, { state, lastError: "Error: Ann", delayMs: 1 });
        strictEqual(await end(), true, "the settlement was refused");
        await assertErased(store, `evt_${state}`);
        strictEqual(await end(), true, "the repeated settlement was refused");
        await assertErased(store, `evt_${state}`);
      }
    },
  ),
  storeCase(
    "G20",
    "an event that is erased while it is leased ends with its process",
    async (context) => {
      const { store } = context;
      await accept(store, "evt_1", { state: "leased" });
      await erase(store, ["evt_1"]);
      if (store.leasedSince === undefined) await crash(context);
      else
        strictEqual(
          (await store.reclaim({ endpoint: ENDPOINT, held: [], crashed: false })).freed,
          1,
        );
      await assertErased(store, "evt_1");
    },
  ),
  storeCase(
    "G20",
    "a redelivery of an erased event is its duplicate, whatever else is said of it",
    async ({ store }) => {
      const given = { subject: "ann@example.com", type: "signal.published" };
      await accept(store, "evt_1", given);
      await accept(store, "ann@example.com", { ...given, state: "done" });
      deepStrictEqual(await erase(store, ["evt_1", "ann@example.com"], "Ann@example"), [
        "moved",
        "moved",
      ]);
      strictEqual(
        await stateOf(store, "ann@example.com"),
        undefined,
        "an id that is personal is there",
      );
      await assertErased(store, `erased:${hash("sha256", "ann@example.com", "hex")}`);
      const again = [
        newEvent("evt_1", given),
        newEvent("ann@example.com", { ...given, body: Buffer.from("{}") }),
      ];
      const { accepts } = await commit(store, { accepts: [...again, newEvent("evt_2")] });
      deepStrictEqual(
        accepts.map((each) => [each.status, "isBackfilled" in each && each.isBackfilled]),
        [
          ["duplicate", true],
          ["duplicate", true],
          ["accepted", false],
        ],
        "a redelivery is new",
      );
    },
  ),
  storeCase(
    "G20",
    "an erased event leaves its lane, and the next one is due; one that is leased first ends",
    async ({ store }) => {
      const lane = { lane: LANE, leaseMs: 60_000, state: "leased" as const };
      const ids = ["evt_1", "evt_2", "evt_3", "evt_4"];
      const { accepts } = await commit(store, { accepts: ids.map((id) => newEvent(id, lane)) });
      const [head] = accepts;
      ok(head?.status === "accepted");
      await erase(store, ["evt_1", "evt_2"]);
      await assertErased(store, "evt_2");
      deepStrictEqual((await claim(store)).events, [], "the lane did not wait for its leased head");
      const ends = [settlement(head, { state: "ready", lastError: "Error: no", lane: LANE.key })];
      const { promoted } = await commit(store, { settlements: ends });
      strictEqual(promoted, 1, "the settlement did not say that it promoted");
      await assertErased(store, "evt_1");
      await erase(store, ["evt_3"]);
      deepStrictEqual(idsOf((await claim(store)).events), ["evt_4"], "the next one is not due");
      strictEqual((await store.stats(ENDPOINT)).waiting, 0, "an erased event waits");
    },
  ),
  storeCase(
    "G20",
    "an event that is erased while it is leased is moved to another store as done",
    async ({ store }) => {
      await accept(store, "evt_1", { state: "leased" });
      await erase(store, ["evt_1"]);
      const moved = (await store.get(ENDPOINT, "evt_1")) as StoredEvent;
      strictEqual(await store.restore?.(ENDPOINT, [{ ...moved, eventId: "evt_2" }]), 1);
      strictEqual((await store.get(ENDPOINT, "evt_2"))?.state, "done", "it is handed off");
    },
  ),
  storeCase("G20", "what reports say of refused deliveries goes with a text", async ({ store }) => {
    await store.saveReport(ENDPOINT, "a", `{"examples":[{"eventId":"ann"}]}`);
    await store.saveReport(ENDPOINT, "b", `{"examples":[]}`);
    await accept(store, "evt_1");
    await erase(store, ["evt_1"], "ann");
    deepStrictEqual(
      (await store.reports(ENDPOINT)).map(({ report }) => report),
      [`{"examples":[]}`],
    );
  }),
];
