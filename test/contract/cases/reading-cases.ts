import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { createHash } from "node:crypto";
import type { NewEvent } from "../../../src/kit/inbox/batch.js";
import type { BodyHashes, InboxStore } from "../../../src/kit/inbox/store.js";
import {
  ACTIVITY_KEPT_MS,
  DURATION_BOUNDS_MS,
  type Activity,
} from "../../../src/kit/inbox/activity.js";
import { NO_HANDLER } from "../../../src/kit/inbox/done-reasons.js";
import { REPORT_KEPT_MS } from "../../../src/kit/inbox/situation/trouble.js";
import {
  DEFAULT_SENDER,
  MOST_PAST_STEPS,
  type InboxEntry,
  type PastStep,
  type SearchQuery,
  type StoredEvent,
} from "../../../src/kit/inbox/stored-events.js";
import {
  DAY_MS,
  ENDPOINT,
  RECEIVED_AT,
  SECOND,
  accept,
  acceptAs,
  assertBetween,
  claimOne,
  commit,
  crash,
  dueAtOf,
  idsOf,
  newEvent,
  settle,
  settlement,
  storeCase,
  type StoreCase,
} from "./store-case.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** @returns the ids of all events that match, page by page, the newest first */
async function searchAll(store: InboxStore, query: SearchQuery, limit = 3): Promise<string[]> {
  const ids: string[] = [];
  let beforeSeq: number | undefined;
  for (;;) {
    const page = await store.search(ENDPOINT, { ...query, limit, beforeSeq });
    ok(page.entries.length <= limit, "a page of a search has more entries than its limit");
    for (const { eventId, seq } of page.entries) {
      ok(
        beforeSeq === undefined || seq < beforeSeq,
        "a search returned an event twice, or not the newest first",
      );
      beforeSeq = seq;
      ids.push(eventId);
    }
    if (page.nextBeforeSeq === null) return ids;
    const isFurther = beforeSeq === undefined || page.nextBeforeSeq <= beforeSeq;
    ok(isFurther, "nextBeforeSeq of a search is above the entries of its page");
    beforeSeq = page.nextBeforeSeq;
  }
}

async function historyOf(store: InboxStore, eventId: string) {
  return (await store.get(ENDPOINT, eventId))?.history ?? [];
}

/** Accepts an event and has its hand-off fail. */
async function fail(
  store: InboxStore,
  eventId: string,
  over: Partial<NewEvent> = {},
): Promise<void> {
  const lease = await accept(store, eventId, { ...over, state: "leased" });
  await settle(store, lease, { state: "dead", lastError: "Error: down" });
}

async function replay(store: InboxStore, eventId: string, read: Partial<NewEvent> = {}) {
  const facts = { eventId, type: "signal.published", subtype: null, subject: null, ...read };
  return (await store.replay([{ endpoint: ENDPOINT, eventId }], () => facts))[0];
}

function sumOf(spans: readonly Activity[]) {
  const sum = { accepted: 0, ignored: 0, handedOff: 0, failed: 0 };
  for (const span of spans)
    for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += span[name];
  return sum;
}

/** What was counted in the last hour. */
async function lately(store: InboxStore, endpoint = ENDPOINT) {
  return sumOf(await store.activity(endpoint, { minutes: 1, spans: 60 }));
}

/** Deletes payloads of events that have been done for longer than a day, and old activity. */
function prune(store: InboxStore) {
  return store.prune({
    endpoint: ENDPOINT,
    payloadsOlderThanMs: DAY_MS,
    keysOlderThanMs: 100 * DAY_MS,
    limit: 500,
  });
}

const ENTRY_KEYS: Record<keyof InboxEntry, true> = {
  seq: true,
  endpoint: true,
  eventId: true,
  type: true,
  state: true,
  dueAt: true,
  attempts: true,
  crashes: true,
  possiblyRepeated: true,
  replayed: true,
  receivedAt: true,
  lastError: true,
  subtype: true,
  subject: true,
  sender: true,
};
const PAYLOAD_KEYS: Record<Exclude<keyof StoredEvent, keyof InboxEntry>, true> = {
  received: true,
  bodyHash: true,
  rawBody: true,
  history: true,
  waitsBehind: true,
  lane: true,
  heldCount: true,
  earlierCount: true,
};

/** G12 to G15: search, history, activity, failures and reports. */
export const READING_CASES: readonly StoreCase[] = [
  storeCase(
    "G12",
    "search finds every event that matches, the newest first, each once",
    async ({ store }) => {
      const states = ["ready", "dead", "done", "quarantined", "leased"] as const;
      const events = Array.from({ length: 30 }, (_, index) => ({
        eventId: `evt_${index}`,
        state: states[index % 5] as (typeof states)[number],
        type: index % 6 === 5 ? "research.completed" : "signal.published",
        subtype: index % 3 === 0 ? null : `type_${index % 3}`,
        subject: index % 4 === 0 ? null : `product-${index % 4}`,
        sender: index % 7 === 0 ? "stripe" : null,
        // The process's clock was set back in between.
        received: { at: RECEIVED_AT - Math.abs(index - 20) * 1000, headers: {} },
      }));
      for (const event of events) {
        const { eventId, state } = event;
        const over = { ...event, state: state === "dead" ? "leased" : state } as const;
        const lease = await accept(
          store,
          eventId,
          state === "quarantined" ? { ...over, reason: "not_json" } : over,
        );
        if (state === "dead") await settle(store, lease, { state });
        await accept(store, eventId, { ...over, state: "done" }, SECOND);
      }
      const queries: SearchQuery[] = [
        {},
        ...states.map((state) => ({ state })),
        { type: "research.completed" },
        { subtype: "type_1" },
        { subject: "product-3" },
        { eventId: "evt_1" },
        { eventId: "" },
        { receivedBefore: RECEIVED_AT - 5000 },
        { state: "done", subtype: "type_2" },
        { state: "dead", subject: "product-1" },
        { state: "ready", eventId: "evt_2" },
        { eventId: "evt_2", type: "signal.published", receivedBefore: RECEIVED_AT - 2000 },
        { subject: "product-9" },
        { eventId: "evt_1234" },
        { state: "quarantined", subtype: "type_9" },
        { typeOrSubtype: "type_2" },
        { typeOrSubtype: "research.completed" },
        { typeOrSubtype: "type_1", type: "research.completed" },
      ];
      for (const query of queries) {
        const {
          state,
          type,
          subtype,
          typeOrSubtype,
          subject,
          eventId = "",
          receivedBefore = Infinity,
        } = query;
        const wanted = events.filter(
          (event) =>
            (state === undefined || event.state === state) &&
            (type === undefined || event.type === type) &&
            (subtype === undefined || event.subtype === subtype) &&
            (typeOrSubtype === undefined || [event.type, event.subtype].includes(typeOrSubtype)) &&
            (subject === undefined || event.subject === subject) &&
            event.eventId.startsWith(eventId) &&
            event.received.at < receivedBefore,
        );
        const found = await searchAll(store, query);
        const message = `a search for ${JSON.stringify(query)} found other events, or in another order`;
        deepStrictEqual(found, idsOf(wanted).toReversed(), message);
      }
      const { entries } = await store.search(ENDPOINT, { eventId: "evt_7" });
      const {
        rawBody: _body,
        bodyHash: _hash,
        received: _received,
        history: _history,
        waitsBehind: _head,
        lane: _lane,
        heldCount: _held,
        earlierCount: _count,
        ...entry
      } = (await store.get(ENDPOINT, "evt_7")) as NonNullable<
        Awaited<ReturnType<InboxStore["get"]>>
      >;
      deepStrictEqual(entries, [entry], "a search returned another entry than get");
      const { subtype, subject, sender } = entry;
      deepStrictEqual(
        [subtype, subject, sender],
        ["type_1", "product-3", "stripe"],
        "facts of an event were not kept",
      );
      const other = await store.get(ENDPOINT, "evt_8");
      strictEqual(
        other?.sender,
        DEFAULT_SENDER,
        "an event without a sender is not of the default one",
      );
      deepStrictEqual(
        (await store.list({ endpoint: ENDPOINT })).at(7),
        entry,
        "list returned another entry than search and get",
      );
    },
  ),
  storeCase(
    "G16",
    "the hashes of bodies are found, the newest first, of one endpoint",
    async ({ store }) => {
      const bodies = ["one", "two", "three", "four", "five"].map((text) => Buffer.from(text));
      const seqs: number[] = [];
      for (const [index, body] of bodies.entries()) {
        const { seq } = await accept(
          store,
          `evt_${index}`,
          { body },
          index === 2 ? SECOND : ENDPOINT,
        );
        seqs.push(seq);
      }
      const hex = ({ hashes }: BodyHashes): string[] =>
        hashes.map(
          ({ eventId, bodyHash }) => `${eventId} ${Buffer.from(bodyHash).toString("hex")}`,
        );
      const wanted = bodies.map(
        (body, index) => `evt_${index} ${createHash("sha256").update(body).digest("hex")}`,
      );
      const first = await store.bodyHashes(ENDPOINT, Number.MAX_SAFE_INTEGER, 3);
      deepStrictEqual(
        hex(first),
        [wanted[4], wanted[3]],
        "other hashes were found, or in another order",
      );
      strictEqual(
        first.nextBeforeSeq,
        seqs[2],
        "a page does not continue after the events that were looked at",
      );
      const second = await store.bodyHashes(ENDPOINT, seqs[2] as number, 3);
      deepStrictEqual(hex(second), [wanted[1], wanted[0]], "the next page was wrong");
      strictEqual(second.nextBeforeSeq, null, "the end was not told");
    },
  ),
  storeCase("G12", "a body that is longer than wanted is not read", async ({ store }) => {
    await commit(store, { accepts: [newEvent("evt_1", { body: Buffer.from("12345") })] });
    const read = async (mostBytes: number) =>
      (await store.get(ENDPOINT, "evt_1", mostBytes))?.rawBody?.toString();
    deepStrictEqual([await read(5), await read(4)], ["12345", undefined]);
  }),
  storeCase("G12", "an entry has the documented keys, and no other", async ({ store }) => {
    const lease = await accept(store, "evt_1", { state: "leased" });
    await settle(store, lease, { state: "ready", mayBeCompleted: true });
    await settle(store, await claimOne(store), { state: "dead" });
    const [listed] = await store.list({ endpoint: ENDPOINT });
    const [found] = (await store.search(ENDPOINT, {})).entries;
    const keys = Object.keys(ENTRY_KEYS).toSorted();
    for (const entry of [listed, found]) deepStrictEqual(Object.keys(entry ?? {}).toSorted(), keys);
    const event = (await store.get(ENDPOINT, "evt_1")) ?? {};
    deepStrictEqual(
      Object.keys(event).toSorted(),
      [...keys, ...Object.keys(PAYLOAD_KEYS)].toSorted(),
    );
  }),
  storeCase(
    "G12",
    "an id is found by its beginning, of which no character stands for another",
    async ({ store }) => {
      const ids = [
        "a_1",
        "aX1",
        "A_1",
        "a%1",
        "a\\1",
        "a*1",
        "a_10",
        "a_",
        "a",
        "\u00e4_1",
        "a_1\u{10FFFF}z",
        "a_1'; --",
      ];
      for (const id of ids) await accept(store, id);
      for (const eventId of [...ids, "a_1\u{10FFFF}", "%", "_", "*", "b"]) {
        const wanted = ids.filter((id) => id.startsWith(eventId)).toReversed();
        const message = `a search for ids that begin with ${JSON.stringify(eventId)} found others`;
        deepStrictEqual(await searchAll(store, { eventId }, 100), wanted, message);
      }
    },
  ),
  storeCase(
    "G12",
    "a replay stores the facts that it reads of a quarantined event",
    async ({ store }) => {
      await acceptAs(store, "evt_1", "quarantined");
      const read = { subtype: "buy_box_lost", subject: "a-product" };
      strictEqual(
        await replay(store, "evt_1", read),
        "moved",
        "a quarantined event was not replayed",
      );
      deepStrictEqual(
        await searchAll(store, read),
        ["evt_1"],
        "the facts of a replayed event were not stored",
      );
      await fail(store, "evt_2", read);
      strictEqual(await replay(store, "evt_2"), "moved", "a dead event was not replayed");
      deepStrictEqual(
        await searchAll(store, read),
        ["evt_2", "evt_1"],
        "the replay of a readable event changed its facts",
      );
    },
  ),
  storeCase("G12", "an event that is done at once keeps its reason", async ({ store }) => {
    await accept(store, "evt_1", { state: "done", reason: NO_HANDLER });
    const { state, lastError, history } = (await store.get(ENDPOINT, "evt_1")) ?? {};
    deepStrictEqual(
      [state, lastError, history],
      ["done", NO_HANDLER, []],
      "the reason was not kept",
    );
    deepStrictEqual(
      await lately(store),
      { accepted: 1, ignored: 1, handedOff: 0, failed: 0 },
      "the reason counts as a failure",
    );
  }),
  storeCase(
    "G13",
    "the history has each failure, crash and replay, the oldest first",
    async (context) => {
      const { store, advance } = context;
      const lastError = `Error: down\n${"é".repeat(3900)}`;
      const lease = await accept(store, "evt_1", { state: "leased" });
      deepStrictEqual(await historyOf(store, "evt_1"), [], "a new event has a history");
      await settle(store, lease, { state: "ready", attempts: 1, lastError });
      await advance(1000);
      await settle(store, await claimOne(store), { state: "ready", attempts: 1 });
      await claimOne(store);
      await crash(context);
      await settle(store, await claimOne(store), {
        state: "dead",
        attempts: 2,
        lastError: "Error: no",
      });
      await advance(3000);
      await replay(store, "evt_1");
      await settle(store, await claimOne(store), { attempts: 1 });
      const history = await historyOf(store, "evt_1");
      deepStrictEqual(
        history.map(({ kind, attempts, error }) => [kind, attempts, error]),
        [
          ["failed", 1, lastError],
          ["crashed", 1, null],
          ["failed", 2, "Error: no"],
          ["replayed", 2, null],
        ],
        "the history has other steps",
      );
      const replayedAfter = (history[3]?.at ?? NaN) - (history[2]?.at ?? NaN);
      strictEqual(replayedAfter, 3000, "a step has another time");
    },
  ),
  storeCase(
    "G13",
    "the history has the newest steps of one event, and no more",
    async ({ store }) => {
      await accept(store, "evt_2");
      await settle(store, await claimOne(store), { state: "dead", lastError: "Error: another" });
      await accept(store, "evt_1");
      const errors = Array.from({ length: MOST_PAST_STEPS + 3 }, (_, index) => `Error: ${index}`);
      for (const lastError of errors)
        await settle(store, await claimOne(store), { state: "ready", lastError });
      const kept = (await historyOf(store, "evt_1")).map(({ error }) => error);
      deepStrictEqual(
        kept,
        errors.slice(3),
        `the history is not the newest ${MOST_PAST_STEPS} steps`,
      );
      strictEqual((await historyOf(store, "evt_2")).length, 1, "another event lost its history");
    },
  ),
  storeCase("G13", "the history is deleted with the payload", async ({ store, advance }) => {
    for (const eventId of ["evt_done", "evt_dead"]) await fail(store, eventId);
    await replay(store, "evt_done");
    await settle(store, await claimOne(store));
    strictEqual(
      (await historyOf(store, "evt_done")).length,
      2,
      "a done event has lost its history",
    );
    strictEqual((await historyOf(store, "evt_dead")).length, 1, "a dead event has no history");
    await store.discard([{ endpoint: ENDPOINT, eventId: "evt_dead" }]);
    await advance(2 * DAY_MS);
    await prune(store);
    for (const eventId of ["evt_done", "evt_dead"]) {
      const event = await store.get(ENDPOINT, eventId);
      deepStrictEqual(
        [event?.rawBody, event?.history],
        [null, []],
        `${eventId} kept its payload or its history`,
      );
    }
  }),
  storeCase(
    "G13",
    "an event that is moved to another store keeps its history and its facts",
    async ({ store }) => {
      if (store.restore === undefined) return;
      await fail(store, "evt_1", {
        subtype: "buy_box_lost",
        subject: "a-product",
        sender: "stripe",
      });
      await accept(store, "evt_2", { state: "done" });
      const read = async (endpoint: string) =>
        Promise.all(
          ["evt_1", "evt_2"].map(async (id) => ({
            ...(await store.get(endpoint, id)),
            endpoint,
            seq: 0,
          })),
        );
      const found = await Promise.all(["evt_1", "evt_2"].map((id) => store.get(ENDPOINT, id)));
      const events = found.filter((event) => event !== undefined);
      const again = events.map((event) => ({ ...event, type: "another" }));
      strictEqual(
        await store.restore(SECOND, [...events, ...again]),
        2,
        "not all events were added, or one twice",
      );
      const wanted = (await read(ENDPOINT)).map((event) => ({ ...event, endpoint: SECOND }));
      deepStrictEqual(await read(SECOND), wanted, "an event was changed by the move");
      const [moved] = events;
      const history = Array.from({ length: MOST_PAST_STEPS + 1 }, (_, at): PastStep => ({
        at,
        kind: "crashed",
        attempts: 1,
        error: null,
      }));
      if (moved !== undefined)
        await store.restore(SECOND, [{ ...moved, eventId: "evt_3", history }]);
      deepStrictEqual(
        (await store.get(SECOND, "evt_3"))?.history,
        history.slice(1),
        "a moved event kept too many steps",
      );
      const none = { accepted: 0, ignored: 0, handedOff: 0, failed: 0 };
      deepStrictEqual(
        await lately(store, SECOND),
        none,
        "an event that was moved was counted as if it had been received",
      );
    },
  ),
  storeCase(
    "G14",
    "activity counts what was accepted, handed off and failed, by spans",
    async (context) => {
      const { store, advance } = context;
      const leases = [];
      for (const id of ["evt_1", "evt_2", "evt_3"])
        leases.push(await accept(store, id, { state: "leased" }));
      const [first, second, third] = leases.map((lease) => settlement(lease));
      if (first === undefined || second === undefined || third === undefined)
        throw new Error("unreachable");
      await commit(store, {
        settlements: [
          first,
          { ...second, state: "ready", lastError: "Error: x" },
          { ...third, state: "ready" },
        ],
        accepts: [
          newEvent("evt_3"),
          newEvent("evt_4", { state: "done" }),
          newEvent("evt_5", { state: "quarantined" }),
        ],
      });
      await advance(5 * MINUTE_MS);
      await accept(store, "evt_6");
      await settle(store, await claimOne(store), { state: "dead", lastError: "Error: x" });
      const minutes = await store.activity(ENDPOINT, { minutes: 1, spans: 60 });
      const start = minutes[0]?.at ?? NaN;
      const [early, late] = [true, false].map((isEarly) =>
        minutes.filter(({ at }) => at <= start + MINUTE_MS === isEarly),
      );
      const isInOrder = minutes.every(
        ({ at }, index) => at > (minutes[index - 1]?.at ?? 0) && at % MINUTE_MS === 0,
      );
      ok(isInOrder, "the spans are not in order, or do not start at a whole minute");
      deepStrictEqual(
        sumOf(early ?? []),
        { accepted: 5, ignored: 1, handedOff: 1, failed: 1 },
        "activity counted wrongly",
      );
      deepStrictEqual(
        sumOf(late ?? []),
        { accepted: 1, ignored: 0, handedOff: 0, failed: 1 },
        "activity counted wrongly later",
      );
      const newest = await store.activity(ENDPOINT, { minutes: 1, spans: 2 });
      deepStrictEqual(
        sumOf(newest),
        sumOf(late ?? []),
        "activity returned other spans than the newest",
      );
      const hours = await store.activity(ENDPOINT, { minutes: 60, spans: 2 });
      deepStrictEqual(
        sumOf(hours),
        { accepted: 6, ignored: 1, handedOff: 1, failed: 2 },
        "activity did not sum up its minutes",
      );
      ok(hours.length <= 2, "activity returned more spans than there are");
      ok(
        hours.every(({ at }) => at % (60 * MINUTE_MS) === 0),
        "a span does not start at a multiple of its length",
      );
    },
  ),
  storeCase(
    "G14",
    "activity counts how long events took from received to done",
    async ({ store, advance }) => {
      const now = (await accept(store, "evt_now"), await dueAtOf(store, "evt_now"));
      const leases = [];
      for (const id of ["evt_1", "evt_2", "evt_3", "evt_4", "evt_5"])
        leases.push(settlement(await accept(store, id, { state: "leased" })));
      const ages = [-HOUR_MS, 6000, 6000, 10 * DAY_MS, 6000];
      const settlements = leases.map((each, index) => ({
        ...each,
        receivedAt: now - (ages[index] ?? 0),
        ...(index === 4 && { state: "ready" as const, lastError: "Error: x" }),
      }));
      // The second commit applies nothing.
      for (let round = 0; round < 2; round++) await commit(store, { settlements });
      await advance(2 * MINUTE_MS);
      await settle(store, await claimOne(store), { receivedAt: now - HOUR_MS / 2 });
      const found = DURATION_BOUNDS_MS.map(() => 0).concat(0);
      for (const { durations } of await store.activity(ENDPOINT, { minutes: 60, spans: 2 })) {
        strictEqual(durations.length, found.length, "there is no count for each bound");
        durations.forEach((count, index) => (found[index]! += count));
      }
      const wanted = found.map((_count, index) => ({ 0: 1, 9: 2, 12: 1, 13: 1 })[index] ?? 0);
      deepStrictEqual(found, wanted, "the times were counted wrongly");
    },
  ),
  storeCase("G14", "activity counts only its own endpoint", async ({ store }) => {
    await accept(store, "evt_1");
    const lease = await accept(store, "evt_1", { state: "leased" }, SECOND);
    await commit(store, { endpoint: SECOND, settlements: [settlement(lease)] });
    deepStrictEqual(
      await lately(store),
      { accepted: 1, ignored: 0, handedOff: 0, failed: 0 },
      "another endpoint was counted",
    );
    deepStrictEqual(
      await lately(store, SECOND),
      { accepted: 1, ignored: 0, handedOff: 1, failed: 0 },
      "an endpoint was not counted",
    );
  }),
  storeCase(
    "G14",
    "a settlement that was applied before is not counted again",
    async ({ store }) => {
      const done = await accept(store, "evt_1", { state: "leased" });
      const failed = await accept(store, "evt_2", { state: "leased" });
      const settlements = [
        settlement(done),
        settlement(failed, { state: "dead", lastError: "Error: x" }),
      ];
      for (let round = 0; round < 3; round++) await commit(store, { settlements });
      deepStrictEqual(
        await lately(store),
        { accepted: 2, ignored: 0, handedOff: 1, failed: 1 },
        "something was counted twice",
      );
      strictEqual((await historyOf(store, "evt_2")).length, 1, "a failure is in the history twice");
    },
  ),
  storeCase(
    "G14",
    "prune deletes activity that is too old, and no other",
    async ({ store, advance }) => {
      const accepted = async () =>
        sumOf(await store.activity(ENDPOINT, { minutes: 1440, spans: 10 })).accepted;
      await accept(store, "evt_1", { state: "done" });
      await advance(ACTIVITY_KEPT_MS - DAY_MS);
      await prune(store);
      strictEqual(await accepted(), 1, "activity was deleted too early");
      await accept(store, "evt_2", { state: "done" });
      await advance(DAY_MS + 2 * MINUTE_MS);
      await prune(store);
      strictEqual(
        await accepted(),
        1,
        "activity that is too old was not deleted, or other activity was",
      );
    },
  ),
  storeCase(
    "G12",
    "search finds a part of an error, and what was received since a time",
    async ({ store }) => {
      const errors = [
        "Error: connect 10.0.0.1\n    at f (a.js)",
        "Error: 100% _new_",
        "TypeError: x",
        null,
      ];
      for (const [index, lastError] of errors.entries()) {
        const received = { at: RECEIVED_AT + index * 1000, headers: {} };
        await settle(store, await accept(store, `evt_${index}`, { state: "leased", received }), {
          state: "dead",
          lastError,
        });
      }
      const queries: [SearchQuery, string[]][] = [
        [{ error: "ERROR: CONNECT" }, ["evt_0"]],
        [{ error: "error: … at f" }, ["evt_0"]],
        [{ error: "0% _" }, ["evt_1"]],
        [{ error: "0%%_" }, []],
        [{ receivedAfter: RECEIVED_AT + 2000 }, ["evt_3", "evt_2"]],
      ];
      for (const [query, ids] of queries) {
        deepStrictEqual(
          await searchAll(store, query),
          ids,
          `a search found others: ${JSON.stringify(query)}`,
        );
      }
    },
  ),
  storeCase(
    "G15",
    "events that failed are found with their error, the newest first, by state",
    async (context) => {
      const { store, advance } = context;
      const times: number[] = [];
      for (const [index, state] of (["ready", "dead", "ready", "dead"] as const).entries()) {
        const lease = await accept(store, `evt_${index}`, {
          state: "leased",
          subject: `product-${index}`,
        });
        await settle(store, lease, { state, lastError: `Error: ${index}`, delayMs: 0 });
        times.push((await historyOf(store, `evt_${index}`))[0]?.at ?? NaN);
        await advance(1000);
      }
      // What never failed, is done, was replayed, or is of another endpoint does not fail.
      await acceptAs(store, "evt_waits", "ready");
      await acceptAs(store, "evt_done", "done");
      await accept(store, "evt_kept", { state: "done", reason: NO_HANDLER });
      await acceptAs(store, "evt_unusable", "quarantined");
      await fail(store, "evt_replayed");
      await replay(store, "evt_replayed");
      await accept(store, "evt_other", { state: "ready" }, SECOND);
      const again = await claimOne(store);
      strictEqual(again.eventId, "evt_0", "another event was claimed");
      await settle(store, again, { state: "ready", lastError: "Error: again", attempts: 2 });
      const lastFailedAt = (await historyOf(store, "evt_0"))[1]?.at ?? NaN;

      const found = async (state: "ready" | "dead", beforeSeq = Number.MAX_SAFE_INTEGER) =>
        (await store.failing(ENDPOINT, state, beforeSeq)).map(({ seq: _seq, ...event }) => event);
      const wanted = (index: number, state: "ready" | "dead") => ({
        eventId: `evt_${index}`,
        state,
        subject: `product-${index}`,
        lastError: `Error: ${index}`,
        firstFailedAt: times[index],
        lastFailedAt: times[index],
        heldCount: 0,
      });
      const first = { ...wanted(0, "ready"), lastError: "Error: again", lastFailedAt };
      deepStrictEqual(
        await found("ready"),
        [wanted(2, "ready"), first],
        "not exactly the waiting events that failed",
      );
      deepStrictEqual(
        await found("dead"),
        [wanted(3, "dead"), wanted(1, "dead")],
        "not exactly the dead events",
      );
      const [newest] = await store.failing(ENDPOINT, "dead", Number.MAX_SAFE_INTEGER);
      deepStrictEqual(
        await found("dead", newest?.seq),
        [wanted(1, "dead")],
        "the next page begins elsewhere",
      );
    },
  ),
  storeCase(
    "G15",
    "the oldest event that waits is found, also when its failure has pushed it back",
    async ({ store }) => {
      const oldest = async () => (await store.stats(ENDPOINT)).oldestReceivedAgeMs;
      strictEqual(await oldest(), null, "an inbox without waiting events has an oldest one");
      await accept(store, "evt_new", { received: { at: 120_000, headers: {} } });
      const age = (await oldest()) ?? NaN;
      const lease = await accept(store, "evt_old", {
        state: "leased",
        received: { at: 60_000, headers: {} },
      });
      await settle(store, lease, { state: "ready", delayMs: DAY_MS, lastError: "Error: down" });
      assertBetween(
        (await oldest()) ?? NaN,
        age + 60_000,
        age + 65_000,
        "the age of the oldest event",
      );
    },
  ),
  storeCase(
    "G15",
    "reports of receivers are kept by endpoint and reporter, the newest first, for a day",
    async (context) => {
      const { store, advance } = context;
      const read = async (endpoint = ENDPOINT) =>
        (await store.reports(endpoint)).map(({ report }) => report);
      await store.saveReport(ENDPOINT, "a", '{"n":1}');
      await advance(1000);
      await store.saveReport(ENDPOINT, "b", '{"n":2}');
      await store.saveReport(SECOND, "a", '{"n":3}');
      await advance(1000);
      strictEqual(await store.saveReport(ENDPOINT, "a", '{"n":4}', true), true);
      strictEqual(await store.saveReport(ENDPOINT, "erased", "{}", true), false, "it came back");
      deepStrictEqual(await read(), ['{"n":4}', '{"n":2}'], "not exactly the last report of each");
      deepStrictEqual(await read(SECOND), ['{"n":3}'], "another endpoint's report was changed");
      await advance(REPORT_KEPT_MS);
      await store.saveReport(ENDPOINT, "a", '{"n":5}');
      deepStrictEqual(await read(), ['{"n":5}'], "an old report was kept");
    },
  ),
];
