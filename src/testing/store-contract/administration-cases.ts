import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import {
  ENDPOINT,
  T0,
  accept,
  bring,
  claim,
  commit,
  newEvent,
  settle,
  stateOf,
  takeOver,
  storeCase,
  type StoreCase,
} from "./stage.js";

/** G9 to G11: what people and time do with an inbox. */
export const ADMINISTRATION_CASES: readonly StoreCase[] = [
  storeCase("G9", "prune forgets old done events, payload first, and touches no other", async ({ store }) => {
    for (const state of ["ready", "leased", "done", "dead", "quarantined"] as const)
      await bring(store, `evt_${state}`, state);
    const prune = (payloadsBefore: number, keysBefore: number) =>
      store.prune({ endpoint: ENDPOINT, payloadsBefore, keysBefore, limit: 500 });
    deepStrictEqual(await prune(T0, T0), { payloads: 0, keys: 0 });
    deepStrictEqual(await prune(T0 + 1e9, T0), { payloads: 1, keys: 0 });
    strictEqual((await store.get(ENDPOINT, "evt_done"))?.rawBody, null);
    const again = await commit(store, { accepts: [newEvent("evt_done")] });
    strictEqual(again.accepts[0]?.status, "duplicate", "the key went with the payload");
    deepStrictEqual(await prune(T0 + 1e9, T0 + 1e9), { payloads: 0, keys: 1 });
    strictEqual(await stateOf(store, "evt_done"), undefined);
    for (const state of ["ready", "leased", "dead", "quarantined"]) {
      const entry = await store.get(ENDPOINT, `evt_${state}`);
      strictEqual(entry?.state, state, `prune removed a ${state} event`);
      ok(entry.rawBody !== null, `prune dropped the payload of a ${state} event`);
    }
  }),
  storeCase("G9", "prune takes no more rows at once than its limit", async ({ store }) => {
    for (let index = 0; index < 5; index++) await bring(store, `evt_${index}`, "done");
    deepStrictEqual(await store.prune({ endpoint: ENDPOINT, payloadsBefore: T0 + 1, keysBefore: T0, limit: 3 }), {
      payloads: 3,
      keys: 0,
    });
    deepStrictEqual(await store.prune({ endpoint: ENDPOINT, payloadsBefore: T0 + 1, keysBefore: T0, limit: 3 }), {
      payloads: 2,
      keys: 0,
    });
  }),
  storeCase("G9", "prune forgets nothing of another endpoint", async ({ store }) => {
    const seq = await accept(store, "evt_1", { endpoint: "second", state: "leased", dueAt: T0 + 60_000 });
    strictEqual(await settle(store, { seq, token: 1 }), true);
    const request = { endpoint: ENDPOINT, payloadsBefore: T0 + 1e9, keysBefore: T0 + 1e9, limit: 500 };
    deepStrictEqual(await store.prune(request), { payloads: 0, keys: 0 });
    strictEqual((await store.get("second", "evt_1"))?.state, "done");
  }),
  storeCase("G9", "the number of a forgotten event is not used again", async ({ store }) => {
    const seq = await bring(store, "evt_1", "done");
    await store.prune({ endpoint: ENDPOINT, payloadsBefore: T0 + 1, keysBefore: T0 + 1, limit: 500 });
    ok((await accept(store, "evt_2")) > seq);
  }),
  storeCase(
    "G10",
    "replay takes done, dead and quarantined events with a payload, and nothing else",
    async ({ store }) => {
      for (const state of ["ready", "leased", "done", "dead", "quarantined"] as const)
        await bring(store, `evt_${state}`, state);
      const replay = async (eventId: string) => (await store.replay([{ endpoint: ENDPOINT, eventId }], T0 + 1))[0];
      strictEqual(await replay("evt_missing"), "not_found");
      strictEqual(await replay("evt_ready"), "wrong_state");
      strictEqual(await replay("evt_leased"), "wrong_state");
      for (const state of ["done", "dead", "quarantined"]) strictEqual(await replay(`evt_${state}`), "moved");
      const { events } = await claim(store, { now: T0 + 1 });
      const replayed = new Map(events.map((event) => [event.eventId, event]));
      deepStrictEqual([...replayed.keys()].toSorted(), ["evt_dead", "evt_done", "evt_quarantined", "evt_ready"]);
      strictEqual(replayed.get("evt_dead")?.replayed, true);
      strictEqual(replayed.get("evt_dead")?.attempts, 0, "a replay begins anew");
      strictEqual(replayed.get("evt_done")?.possiblyRepeated, true, "what was done is a repeat");
      strictEqual(replayed.get("evt_ready")?.replayed, false);
    },
  ),
  storeCase("G10", "a quarantined event gets its real id, unless that was accepted already", async ({ store }) => {
    await accept(store, "sha256:a", { state: "quarantined", reason: "data_invalid" });
    await accept(store, "sha256:b", { state: "quarantined", reason: "data_invalid" });
    const readAs = { eventId: "evt_1", type: "signal.published" };
    deepStrictEqual(await store.replay([{ endpoint: ENDPOINT, eventId: "sha256:a", readAs }], T0), ["moved"]);
    strictEqual(await stateOf(store, "evt_1"), "ready");
    deepStrictEqual(await store.replay([{ endpoint: ENDPOINT, eventId: "sha256:b", readAs }], T0), ["duplicate"]);
    strictEqual(await stateOf(store, "sha256:b"), "done");
    strictEqual((await claim(store)).events.length, 1);
  }),
  storeCase("G10", "discard drops the payload of a dead event and keeps its key", async ({ store }) => {
    for (const state of ["ready", "leased", "done", "dead"] as const) await bring(store, `evt_${state}`, state);
    const discard = async (eventId: string) => (await store.discard([{ endpoint: ENDPOINT, eventId }], T0))[0];
    strictEqual(await discard("evt_missing"), "not_found");
    for (const state of ["ready", "leased", "done"]) strictEqual(await discard(`evt_${state}`), "wrong_state");
    strictEqual(await discard("evt_dead"), "moved");
    const entry = await store.get(ENDPOINT, "evt_dead");
    deepStrictEqual([entry?.state, entry?.rawBody], ["done", null]);
    deepStrictEqual(await store.replay([{ endpoint: ENDPOINT, eventId: "evt_dead" }], T0), ["payload_gone"]);
    const again = await commit(store, { accepts: [newEvent("evt_dead")] });
    strictEqual(again.accepts[0]?.status, "duplicate");
  }),
  storeCase(
    "G11",
    "a closed store rejects, and a reopened one finds everything",
    async ({ store, medium, sibling, open }) => {
      await accept(store, "evt_1");
      if (sibling !== store) await sibling.close(ENDPOINT);
      await store.close(ENDPOINT);
      await store.close(ENDPOINT);
      await rejects(commit(store, { accepts: [newEvent("evt_2")] }));
      await rejects(takeOver(store, new Set()));
      await rejects(store.list({}));
      await rejects(store.get(ENDPOINT, "evt_1"));
      await rejects(store.stats(ENDPOINT));
      await rejects(store.replay([{ endpoint: ENDPOINT, eventId: "evt_1" }], T0));
      await rejects(store.discard([{ endpoint: ENDPOINT, eventId: "evt_1" }], T0));
      await rejects(store.prune({ endpoint: ENDPOINT, payloadsBefore: T0, keysBefore: T0, limit: 1 }));
      const reopened = await open(medium.createStore());
      strictEqual(await stateOf(reopened, "evt_1"), "ready");
      strictEqual(await stateOf(reopened, "evt_2"), undefined);
    },
  ),
  storeCase("G11", "counts and lists tell what is there", async ({ store }) => {
    for (const state of ["ready", "leased", "done", "dead", "quarantined"] as const)
      await bring(store, `evt_${state}`, state);
    await accept(store, "evt_ready_2", { dueAt: T0 - 500 });
    const { oldestReadyAt, ...counts } = await store.stats(ENDPOINT);
    deepStrictEqual(counts, { ready: 2, leased: 1, done: 1, dead: 1, quarantined: 1, total: 6 });
    strictEqual(oldestReadyAt, T0 - 500);
    const ids = (await store.list({ endpoint: ENDPOINT, state: "ready" })).map(({ eventId }) => eventId);
    deepStrictEqual(ids, ["evt_ready", "evt_ready_2"]);
    const firstPage = await store.list({ endpoint: ENDPOINT, limit: 4 });
    const secondPage = await store.list({ endpoint: ENDPOINT, afterSeq: firstPage.at(-1)?.seq ?? 0 });
    deepStrictEqual([firstPage.length, secondPage.length], [4, 2]);
    deepStrictEqual(await store.list({ endpoint: "second" }), []);
  }),
];
