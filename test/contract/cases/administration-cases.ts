import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import type { InboxStore } from "../../../src/kit/inbox/store.js";
import { DEFAULT_SENDER, type StoredEvent } from "../../../src/kit/inbox/stored-events.js";
import {
  DAY_MS,
  ENDPOINT,
  ENDPOINTS,
  HEADERS,
  RECEIVED_AT,
  SECOND,
  accept,
  acceptAs,
  acceptDelayed,
  claim,
  commit,
  idsOf,
  newEvent,
  settle,
  settlement,
  stateOf,
  reclaim,
  storeCase,
  type StoreCase,
} from "./store-case.js";

/** Deletes what has been done for longer than these numbers of days. */
async function prune(store: InboxStore, payloadDays: number, keyDays: number, limit = 500) {
  const ages = { payloadsOlderThanMs: payloadDays * DAY_MS, keysOlderThanMs: keyDays * DAY_MS };
  const { payloads, keys } = await store.prune({ endpoint: ENDPOINT, ...ages, limit });
  return { payloads, keys };
}

/** G9 to G11: prune, replay, discard, close, list and stats. */
export const ADMINISTRATION_CASES: readonly StoreCase[] = [
  storeCase(
    "G9",
    "prune deletes old done events, payload first, and no others",
    async ({ store, advance }) => {
      const lease = await accept(store, "evt_done", { state: "leased" });
      for (const state of ["ready", "leased", "dead", "quarantined"] as const)
        await acceptAs(store, `evt_${state}`, state);
      await advance(10 * DAY_MS);
      await settle(store, lease);
      await advance(3 * DAY_MS);
      const none = { payloads: 0, keys: 0 };
      deepStrictEqual(
        await prune(store, 4, 4),
        none,
        "an event was pruned before it had been done for long enough",
      );
      deepStrictEqual(
        await prune(store, 2, 4),
        { payloads: 1, keys: 0 },
        "not exactly one payload was pruned",
      );
      strictEqual(
        (await store.get(ENDPOINT, "evt_done"))?.rawBody,
        null,
        "the pruned payload is still there",
      );
      const again = await commit(store, { accepts: [newEvent("evt_done")] });
      strictEqual(again.accepts[0]?.status, "duplicate", "the id was deleted with the payload");
      deepStrictEqual(
        await prune(store, 2, 4),
        none,
        "an event was deleted before it had been done for long enough",
      );
      deepStrictEqual(
        await prune(store, 2, 2),
        { payloads: 0, keys: 1 },
        "not exactly one event was pruned",
      );
      strictEqual(await stateOf(store, "evt_done"), undefined, "the pruned event is still there");
      for (const state of ["ready", "leased", "dead", "quarantined"]) {
        const entry = await store.get(ENDPOINT, `evt_${state}`);
        strictEqual(entry?.state, state, `prune removed a ${state} event`);
        ok(entry.rawBody !== null, `prune dropped the payload of a ${state} event`);
      }
    },
  ),
  storeCase(
    "G9",
    "prune and discard delete the headers with the payload",
    async ({ store, advance }) => {
      await acceptAs(store, "evt_done", "done");
      await acceptAs(store, "evt_dead", "dead");
      deepStrictEqual(
        (await store.get(ENDPOINT, "evt_done"))?.received.headers,
        HEADERS,
        "the headers were not stored",
      );
      await advance(2 * DAY_MS);
      await prune(store, 1, 3);
      await store.discard([{ endpoint: ENDPOINT, eventId: "evt_dead" }]);
      for (const eventId of ["evt_done", "evt_dead"]) {
        const received = (await store.get(ENDPOINT, eventId))?.received;
        deepStrictEqual(received, { at: RECEIVED_AT, headers: {} }, `${eventId} kept its headers`);
      }
    },
  ),
  storeCase(
    "G9",
    "the sizes of payloads are those of the endpoint's done events",
    async ({ store, advance }) => {
      await acceptAs(store, "evt_done", "done");
      await accept(store, "evt_other", { state: "done", leaseMs: null }, SECOND);
      for (const state of ["ready", "leased", "dead", "quarantined"] as const)
        await acceptAs(store, `evt_${state}`, state);
      await advance(DAY_MS);
      const { seq, received, rawBody } = (await store.get(ENDPOINT, "evt_done")) as StoredEvent;
      const bytes = JSON.stringify(received).length + (rawBody?.byteLength ?? 0);
      const sizes = await store.payloadSizes(ENDPOINT, 0, 10);
      deepStrictEqual(
        sizes.map((size) => size.bytes),
        [bytes, 0, 0, 0, 0, 0],
        "not the size of the done event alone",
      );
      const age = sizes[0]?.ageMs ?? 0;
      ok(age >= DAY_MS && age < DAY_MS + 60_000, `done for ${age} ms`);
      const later = await store.payloadSizes(ENDPOINT, seq + 1, 2);
      deepStrictEqual(
        later.map((size) => size.seq),
        sizes.slice(1, 3).map((size) => size.seq),
        "not the first two from there on",
      );
    },
  ),
  storeCase("G9", "a prune deletes at most its limit", async ({ store, advance }) => {
    for (let index = 0; index < 5; index++) await acceptAs(store, `evt_${index}`, "done");
    await advance(2 * DAY_MS);
    for (const payloads of [3, 2]) {
      const pruned = await prune(store, 1, 3, 3);
      deepStrictEqual(
        pruned,
        { payloads, keys: 0 },
        "the number of pruned payloads was not the limit, then the rest",
      );
    }
  }),
  storeCase("G9", "prune deletes nothing of another endpoint", async ({ store, advance }) => {
    const lease = await accept(store, "evt_1", { state: "leased" }, SECOND);
    await commit(store, { endpoint: SECOND, settlements: [settlement(lease)] });
    await advance(2 * DAY_MS);
    deepStrictEqual(
      await prune(store, 1, 1),
      { payloads: 0, keys: 0 },
      "another endpoint's event was pruned",
    );
    strictEqual(
      (await store.get(SECOND, "evt_1"))?.state,
      "done",
      "another endpoint's event was changed",
    );
  }),
  storeCase("G9", "the seq of a deleted event is not used again", async ({ store, advance }) => {
    await acceptAs(store, "evt_1", "done");
    const { seq } = await acceptAs(store, "evt_2", "done");
    await advance(2 * DAY_MS);
    // A payload can go before its key, and the last event can stay.
    for (let round = 0; round < 2; round++) await prune(store, 1, 1);
    strictEqual(await stateOf(store, "evt_1"), undefined, "an old event was not deleted");
    ok((await accept(store, "evt_3")).seq > seq, "the seq of a deleted event was used again");
  }),
  storeCase("G10", "replay moves only done, dead and quarantined events", async ({ store }) => {
    for (const state of ["ready", "leased", "done", "dead", "quarantined"] as const)
      await acceptAs(store, `evt_${state}`, state);
    const replay = async (eventId: string) => {
      const read = { eventId, type: "signal.published", subtype: null, subject: null };
      return (await store.replay([{ endpoint: ENDPOINT, eventId }], () => read))[0];
    };
    strictEqual(await replay("evt_missing"), "not_found", "an unknown event was replayed");
    for (const state of ["ready", "leased"])
      strictEqual(await replay(`evt_${state}`), "wrong_state", `a ${state} event was replayed`);
    for (const state of ["done", "dead", "quarantined"])
      strictEqual(await replay(`evt_${state}`), "moved", `a ${state} event was not replayed`);
    const { events } = await claim(store);
    const replayed = new Map(events.map((event) => [event.eventId, event]));
    const ids = ["evt_dead", "evt_done", "evt_quarantined", "evt_ready"];
    deepStrictEqual([...replayed.keys()].toSorted(), ids, "the replayed events were not claimed");
    strictEqual(
      replayed.get("evt_dead")?.replayed,
      true,
      "a replayed event was not marked as replayed",
    );
    strictEqual(replayed.get("evt_dead")?.attempts, 0, "a replayed event kept its attempts");
    strictEqual(
      replayed.get("evt_done")?.possiblyRepeated,
      true,
      "a done event was not marked as a possible repeat",
    );
    strictEqual(
      replayed.get("evt_ready")?.replayed,
      false,
      "an event that was not replayed was marked as replayed",
    );
  }),
  storeCase(
    "G10",
    "a replay reads a quarantined event by its sender, its delivery and its body",
    async ({ store }) => {
      const received = {
        at: RECEIVED_AT,
        headers: { "x-event": "push" },
        signatureHeader: "x-sign",
      };
      const body = Buffer.from("body");
      const quarantined = { state: "quarantined", reason: "not_json", received, body } as const;
      await accept(store, "sha256:a", quarantined);
      await accept(store, "sha256:b", { ...quarantined, sender: "github" });
      const read = new Map<string, unknown>();
      const events = ["sha256:a", "sha256:b"].map((eventId) => ({ endpoint: ENDPOINT, eventId }));
      await store.replay(events, (event) => {
        read.set(event.sender, { ...event, body: Buffer.from(event.body).toString() });
        return null;
      });
      const wanted = [DEFAULT_SENDER, "github"].map((sender) => ({
        sender,
        received,
        body: "body",
      }));
      deepStrictEqual([...read.values()], wanted, "an event was read again with something else");
    },
  ),
  storeCase(
    "G10",
    "a quarantined event gets its real id, unless that id is stored already",
    async ({ store }) => {
      await accept(store, "sha256:a", { state: "quarantined", reason: "data_invalid" });
      await accept(store, "sha256:b", { state: "quarantined", reason: "data_invalid" });
      const replay = async (eventId: string, isUsable = true) => {
        const read = { eventId: "evt_1", type: "signal.published", subtype: null, subject: null };
        return (
          await store.replay([{ endpoint: ENDPOINT, eventId }], () => (isUsable ? read : null))
        )[0];
      };
      strictEqual(
        await replay("sha256:a", false),
        "still_unusable",
        "an unusable event was replayed",
      );
      strictEqual(await stateOf(store, "sha256:a"), "quarantined", "an unusable event was changed");
      strictEqual(await replay("sha256:a"), "moved", "a usable event was not replayed");
      strictEqual(
        await stateOf(store, "evt_1"),
        "ready",
        "a replayed event did not get its real id",
      );
      strictEqual(await replay("sha256:b"), "duplicate", "an event with a stored id was replayed");
      strictEqual(await stateOf(store, "sha256:b"), "done", "a duplicate did not become done");
      strictEqual((await claim(store)).events.length, 1, "a duplicate was claimed");
    },
  ),
  storeCase(
    "G10",
    "a quarantined event whose real id another event has gets an id of its own",
    async ({ store }) => {
      const facts = { type: "a", subtype: null, subject: "c" };
      const read = { ...facts, eventId: "evt_1", ownId: "evt_1~own" };
      const quarantined = { state: "quarantined", reason: "event_invalid", type: "" } as const;
      const replay = (eventId: string) =>
        store.replay([{ endpoint: ENDPOINT, eventId }], () => read);
      const body = Buffer.from("same");
      await accept(store, "evt_1", { ...facts, subject: "x", body });
      await accept(store, "sha256:a", { ...quarantined, body });
      deepStrictEqual(
        await replay("sha256:a"),
        ["moved"],
        "an event vanished behind another one with its id",
      );
      strictEqual(
        await stateOf(store, "evt_1~own"),
        "ready",
        "the event did not get an id of its own",
      );
      await accept(store, "sha256:b", { ...quarantined, body });
      deepStrictEqual(await replay("sha256:b"), ["duplicate"], "an event got its own id twice");
      await accept(store, "evt_2", { ...facts, body });
      await accept(store, "sha256:c", { ...quarantined, body });
      const again = await store.replay([{ endpoint: ENDPOINT, eventId: "sha256:c" }], () => ({
        ...read,
        eventId: "evt_2",
      }));
      deepStrictEqual(
        again,
        ["duplicate"],
        "an event was handed off twice, although it was the same in everything",
      );
    },
  ),
  storeCase(
    "G10",
    "discard deletes the payload of a done, dead or quarantined event and keeps its id",
    async ({ store }) => {
      for (const state of ["ready", "leased", "done", "dead", "quarantined"] as const)
        await acceptAs(store, `evt_${state}`, state);
      const discard = async (eventId: string) =>
        (await store.discard([{ endpoint: ENDPOINT, eventId }]))[0];
      strictEqual(await discard("evt_missing"), "not_found", "an unknown event was discarded");
      for (const state of ["ready", "leased"])
        strictEqual(await discard(`evt_${state}`), "wrong_state", `a ${state} event was discarded`);
      for (const eventId of ["evt_done", "evt_dead", "evt_quarantined"]) {
        strictEqual(await discard(eventId), "moved", `${eventId} was not discarded`);
        const entry = await store.get(ENDPOINT, eventId);
        deepStrictEqual(
          [entry?.state, entry?.rawBody],
          ["done", null],
          `${eventId} kept its state or payload`,
        );
        const replayed = await store.replay([{ endpoint: ENDPOINT, eventId }], () => null);
        deepStrictEqual(replayed, ["payload_gone"], "an event without payload was replayed");
      }
      const again = await commit(store, { accepts: [newEvent("evt_dead")] });
      strictEqual(again.accepts[0]?.status, "duplicate", "the id was deleted with the payload");
    },
  ),
  storeCase(
    "G11",
    "a closed store rejects; reopened, it has its events",
    async ({ store, medium, sibling, open }) => {
      await accept(store, "evt_1");
      for (const each of [sibling, store, store])
        for (const endpoint of ENDPOINTS) await each.close(endpoint);
      const events = [{ endpoint: ENDPOINT, eventId: "evt_1" }];
      const calls: Record<string, () => Promise<unknown>> = {
        commit: () => commit(store, { accepts: [newEvent("evt_2")] }),
        reclaim: () => reclaim(store, []),
        list: () => store.list({}),
        get: () => store.get(ENDPOINT, "evt_1"),
        stats: () => store.stats(ENDPOINT),
        search: () => store.search(ENDPOINT, {}),
        activity: () => store.activity(ENDPOINT, { minutes: 1, spans: 1 }),
        replay: () => store.replay(events, () => null),
        discard: () => store.discard(events),
        prune: () => prune(store, 1, 1),
      };
      for (const [name, call] of Object.entries(calls))
        await rejects(call, `a closed store did not reject ${name}`);
      const reopened = await open(medium.createStore());
      strictEqual(await stateOf(reopened, "evt_1"), "ready", "a reopened store lost an event");
      strictEqual(await stateOf(reopened, "evt_2"), undefined, "a closed store accepted an event");
    },
  ),
  storeCase("G11", "stats and list show all events", async ({ store, advance }) => {
    const oldest = async () => (await store.stats(ENDPOINT)).oldestReadyAgeMs;
    strictEqual(await oldest(), null, "oldestReadyAgeMs was not null without a ready event");
    await acceptDelayed(store, "evt_delayed", 60_000);
    strictEqual(await oldest(), 0, "oldestReadyAgeMs was not 0 before the event was due");
    for (const state of ["ready", "leased", "done", "dead", "quarantined"] as const)
      await acceptAs(store, `evt_${state}`, state);
    await advance(500);
    const {
      oldestReadyAgeMs,
      oldestReceivedAgeMs: _age,
      lastAcceptedAt: _at,
      ...counts
    } = await store.stats(ENDPOINT);
    const expected = {
      ready: 2,
      leased: 1,
      done: 1,
      dead: 1,
      quarantined: 1,
      total: 6,
      waiting: 0,
      blocking: null,
    };
    deepStrictEqual(counts, expected, "stats counted wrongly");
    strictEqual(oldestReadyAgeMs, 500, "oldestReadyAgeMs was not that of the earliest due time");
    const ids = (await store.list({ endpoint: ENDPOINT, state: "ready" })).map(
      ({ eventId }) => eventId,
    );
    deepStrictEqual(
      ids,
      ["evt_delayed", "evt_ready"],
      "list ignored the state or the order of seq",
    );
    const firstPage = await store.list({ endpoint: ENDPOINT, limit: 4 });
    const secondPage = await store.list({
      endpoint: ENDPOINT,
      afterSeq: firstPage.at(-1)?.seq ?? 0,
    });
    deepStrictEqual(
      [firstPage.length, secondPage.length],
      [4, 2],
      "list ignored limit or afterSeq",
    );
    deepStrictEqual(
      await store.list({ endpoint: SECOND }),
      [],
      "list returned another endpoint's events",
    );
  }),
  storeCase(
    "G10",
    "retryNow makes a waiting event due now, and changes no other",
    async ({ store }) => {
      await acceptDelayed(store, "evt_waits", DAY_MS);
      await acceptAs(store, "evt_dead", "dead");
      await accept(store, "evt_other", { state: "ready" }, SECOND);
      const outcomes = await store.retryNow(
        ["evt_waits", "evt_dead", "evt_other"].map((eventId) => ({ endpoint: ENDPOINT, eventId })),
      );
      deepStrictEqual(outcomes, ["moved", "wrong_state", "not_found"], "the outcomes of retryNow");
      deepStrictEqual(
        idsOf((await claim(store)).events),
        ["evt_waits"],
        "not exactly the moved event is due",
      );
    },
  ),
  storeCase("G11", "the endpoints that have events are found", async ({ store }) => {
    deepStrictEqual(await store.endpoints(), [], "an empty inbox has endpoints");
    await accept(store, "evt_1", {}, SECOND);
    await accept(store, "evt_1");
    await accept(store, "evt_2");
    deepStrictEqual(
      await store.endpoints(),
      [ENDPOINT, SECOND],
      "not exactly the endpoints with events",
    );
  }),
];
