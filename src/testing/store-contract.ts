import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  CRASH_LOOP,
  MAX_CRASHES,
  SUSPECT_CRASHES,
  type Batch,
  type BatchResult,
  type ClaimedEvent,
  type InboxStore,
  type NewEvent,
  type Settlement,
  type StoredEvent,
} from "../inbox/store.js";

/** A fresh place for one case to work on. */
export interface ContractMedium {
  /** A store on this medium; called again after a close, it finds what was there. */
  createStore(): InboxStore;
  /**
   * A second store on the same medium, as another process would have it. Leave it out where there can be none: the
   * cases that need it then work with two calls on one store.
   */
  createSibling?(): InboxStore;
  /**
   * What the medium holds at this moment, seen from outside: what would be left if the process died now. Leave it
   * out where nothing outlives the process.
   */
  readBack?(endpoint: string, eventId: string): Promise<StoredEvent | undefined>;
  destroy(): Promise<void>;
}

/** One promise of {@link InboxStore}, ready to be run by any test runner. */
export interface ContractCase {
  /** The guarantee that it holds: `G1` to `G11`. */
  guarantee: string;
  name: string;
  run(): Promise<void>;
}

const T0 = Date.UTC(2026, 0, 1);
const ENDPOINT = "default";

/**
 * The contract of a store, for any test runner.
 *
 * @example
 * for (const each of storeContract(() => ({ createStore: () => myStore(), destroy: async () => {} }))) {
 *   test(`${each.guarantee} ${each.name}`, each.run);
 * }
 */
export function storeContract(createMedium: () => ContractMedium | Promise<ContractMedium>): ContractCase[] {
  return CASES.map(([guarantee, name, body]) => ({
    guarantee,
    name,
    async run() {
      const medium = await createMedium();
      const opened: InboxStore[] = [];
      const open = async (store: InboxStore): Promise<InboxStore> => {
        await store.open({ endpoint: ENDPOINT, now: T0 });
        opened.push(store);
        return store;
      };
      try {
        const store = await open(medium.createStore());
        const sibling = medium.createSibling === undefined ? store : await open(medium.createSibling());
        const readBack = medium.readBack ?? ((endpoint, eventId) => store.get(endpoint, eventId));
        await body({ store, sibling, medium, open, readBack });
      } finally {
        for (const store of opened.toReversed()) await store.close(ENDPOINT);
        await medium.destroy();
      }
    },
  }));
}

interface Stage {
  store: InboxStore;
  sibling: InboxStore;
  medium: ContractMedium;
  open(store: InboxStore): Promise<InboxStore>;
  readBack(endpoint: string, eventId: string): Promise<StoredEvent | undefined>;
}

function newEvent(eventId: string, over: Partial<NewEvent> = {}): NewEvent {
  const body = over.body ?? Buffer.from(`{"id":"${eventId}"}`);
  return {
    endpoint: ENDPOINT,
    eventId,
    type: "signal.published",
    state: "ready",
    dueAt: T0,
    receivedAt: T0,
    headers: "{}",
    reason: null,
    ...over,
    body,
    bodyHash: createHash("sha256").update(body).digest(),
  };
}

function commit(store: InboxStore, batch: Partial<Batch>): Promise<BatchResult> {
  return store.commit({ settlements: [], accepts: [], claim: null, ...batch });
}

async function accept(store: InboxStore, eventId: string, over: Partial<NewEvent> = {}): Promise<number> {
  const { accepts } = await commit(store, { accepts: [newEvent(eventId, over)] });
  strictEqual(accepts[0]?.status, "accepted", `${eventId} is new`);
  return accepts[0].seq;
}

async function claim(store: InboxStore, over: { now?: number; limit?: number; suspects?: boolean } = {}) {
  const request = { endpoint: ENDPOINT, now: T0, limit: 10, suspects: false, ...over };
  const result = await commit(store, { claim: { ...request, leaseUntil: request.now + 60_000 } });
  if (result.claim === null) throw new Error("a claim was asked for and not answered");
  return result.claim;
}

async function claimOne(store: InboxStore, over: { now?: number; suspects?: boolean } = {}): Promise<ClaimedEvent> {
  const { events } = await claim(store, { ...over, limit: 1 });
  if (events[0] === undefined) throw new Error("nothing was claimed");
  return events[0];
}

async function settle(store: InboxStore, over: Partial<Settlement> & Pick<Settlement, "seq" | "token">) {
  const base = { state: "done", dueAt: T0, attempts: 1, possiblyRepeated: false, lastError: null } as const;
  const { settlements } = await commit(store, { settlements: [{ ...base, ...over }] });
  return settlements[0];
}

/** Brings an event into a state by the ways there are. */
async function bring(store: InboxStore, eventId: string, state: "ready" | "leased" | "done" | "dead" | "quarantined") {
  const born = state === "quarantined" ? "quarantined" : state === "ready" ? "ready" : "leased";
  const reason = born === "quarantined" ? "not_json" : null;
  const seq = await accept(store, eventId, { state: born, dueAt: born === "leased" ? T0 + 60_000 : T0, reason });
  if (state === "done" || state === "dead") strictEqual(await settle(store, { seq, token: 1, state }), true);
  return seq;
}

async function stateOf(store: InboxStore, eventId: string): Promise<string | undefined> {
  return (await store.get(ENDPOINT, eventId))?.state;
}

const CASES: readonly [guarantee: string, name: string, body: (stage: Stage) => Promise<void>][] = [
  [
    "G1",
    "an accepted event is on the medium when commit resolves",
    async ({ store, readBack }) => {
      await accept(store, "evt_1");
      const found = await readBack(ENDPOINT, "evt_1");
      strictEqual(found?.state, "ready", "the event was acknowledged before it was on the medium");
    },
  ],
  [
    "G2",
    "of many simultaneous accepts of one id exactly one is new",
    async ({ store, sibling }) => {
      const commits = Array.from({ length: 20 }, (_, index) =>
        commit(index % 2 === 0 ? store : sibling, { accepts: [newEvent("evt_1"), newEvent(`evt_other_${index}`)] }),
      );
      const statuses = (await Promise.all(commits)).map(({ accepts }) => accepts[0]?.status);
      strictEqual(statuses.filter((status) => status === "accepted").length, 1, "one id was accepted more than once");
      strictEqual(statuses.filter((status) => status === "duplicate").length, 19);
      strictEqual((await store.list({ endpoint: ENDPOINT })).filter(({ eventId }) => eventId === "evt_1").length, 1);
    },
  ],
  [
    "G2",
    "one id twice in one batch is one event and one duplicate",
    async ({ store }) => {
      const { accepts } = await commit(store, { accepts: [newEvent("evt_1"), newEvent("evt_1")] });
      deepStrictEqual(
        accepts.map(({ status }) => status),
        ["accepted", "duplicate"],
      );
      strictEqual(accepts[0]?.seq, accepts[1]?.seq);
    },
  ],
  [
    "G2",
    "the same id at another endpoint is another event",
    async ({ store }) => {
      await accept(store, "evt_1");
      await accept(store, "evt_1", { endpoint: "second" });
    },
  ],
  [
    "G2",
    "a duplicate with another body is told apart, and the first body stays",
    async ({ store }) => {
      await accept(store, "evt_1", { body: Buffer.from("first") });
      const again = await commit(store, {
        accepts: [newEvent("evt_1", { body: Buffer.from("first") }), newEvent("evt_1", { body: Buffer.from("other") })],
      });
      deepStrictEqual(
        again.accepts.map((each) => (each.status === "duplicate" ? each.sameBody : each.status)),
        [true, false],
      );
      strictEqual(Buffer.from((await store.get(ENDPOINT, "evt_1"))?.rawBody ?? []).toString(), "first");
    },
  ],
  [
    "G3",
    "a duplicate is answered only once its original is on the medium",
    async ({ store, sibling, readBack }) => {
      const commits = Array.from({ length: 10 }, async (_, index) => {
        const { accepts } = await commit(index % 2 === 0 ? store : sibling, { accepts: [newEvent("evt_1")] });
        if (accepts[0]?.status !== "duplicate") return;
        const original = await readBack(ENDPOINT, "evt_1");
        ok(original !== undefined, "a duplicate was acknowledged before its original was on the medium");
      });
      await Promise.all(commits);
    },
  ],
  [
    "G4",
    "settlements, accepts and claim of one batch are applied together, in this order",
    async ({ store }) => {
      const seq = await accept(store, "evt_1", { state: "leased", dueAt: T0 + 60_000 });
      const result = await store.commit({
        settlements: [
          { seq, token: 1, state: "ready", dueAt: T0 - 1, attempts: 1, possiblyRepeated: false, lastError: "Error: x" },
        ],
        accepts: [newEvent("evt_2")],
        claim: { endpoint: ENDPOINT, now: T0, leaseUntil: T0 + 60_000, limit: 10, suspects: false },
      });
      deepStrictEqual(result.settlements, [true]);
      deepStrictEqual(
        result.claim?.events.map(({ eventId }) => eventId),
        ["evt_1", "evt_2"],
      );
      strictEqual(result.claim?.events[0]?.attempts, 1);
    },
  ],
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
      strictEqual(await settle(store, { seq, token: second.token }), true);
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
    "G6",
    "a body comes back byte for byte, whatever the bytes",
    async ({ store }) => {
      const bodies = [
        Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]),
        Buffer.from([0x00, 0xff, 0xfe, 0xc3, 0x28, 0x80, 0x0d, 0x0a]),
        Buffer.from('{"name":"caf\u00e9 \u{1F4C8}"}\r\n'),
        Buffer.alloc(0),
        Buffer.alloc(300_000, 7),
      ];
      for (const [index, body] of bodies.entries()) await accept(store, `evt_${index}`, { body, dueAt: T0 + index });
      const { events } = await claim(store, { now: T0 + 100 });
      for (const [index, body] of bodies.entries()) {
        const stored = await store.get(ENDPOINT, `evt_${index}`);
        ok(body.equals(Buffer.from(stored?.rawBody ?? "none")), `body ${index} changed in the store`);
        ok(body.equals(Buffer.from(events[index]?.body ?? "none")), `body ${index} changed in a claim`);
      }
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
    "simultaneous claims never share an event",
    async ({ store, sibling }) => {
      for (let index = 0; index < 30; index++) await accept(store, `evt_${index}`);
      const claims = Array.from({ length: 6 }, (_, index) => claim(index % 2 === 0 ? store : sibling, { limit: 5 }));
      const ids = (await Promise.all(claims)).flatMap(({ events }) => events.map(({ eventId }) => eventId));
      strictEqual(new Set(ids).size, 30);
      strictEqual(ids.length, 30);
    },
  ],
  [
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
      strictEqual(await settle(store, { seq: event.seq, token: 1 }), false, "the dead owner's token still works");
      strictEqual(await stateOf(store, "evt_2"), "leased", "a held lease was taken over");
    },
  ],
  [
    "G8",
    "an event that crashed twice is a suspect, and the fifth crash makes it dead",
    async ({ store }) => {
      await bring(store, "evt_1", "leased");
      for (let crashes = 1; crashes < MAX_CRASHES; crashes++) {
        const now = T0 + crashes * 100_000;
        await crash(store, now);
        const suspect = crashes >= SUSPECT_CRASHES;
        const others = await claim(store, { now, suspects: !suspect });
        deepStrictEqual(others.events, [], "a suspect came with the others, or the other way round");
        strictEqual((await claimOne(store, { now, suspects: suspect })).crashes, crashes);
      }
      await crash(store, T0 + 900_000);
      const entry = await store.get(ENDPOINT, "evt_1");
      deepStrictEqual([entry?.state, entry?.lastError, entry?.crashes], ["dead", CRASH_LOOP, MAX_CRASHES]);
    },
  ],
  [
    "G9",
    "prune forgets old done events, payload first, and touches no other",
    async ({ store }) => {
      for (const state of ["ready", "leased", "done", "dead", "quarantined"] as const)
        await bring(store, `evt_${state}`, state);
      const prune = (payloadsBefore: number, keysBefore: number) =>
        store.prune({ payloadsBefore, keysBefore, limit: 500 });
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
    },
  ],
  [
    "G9",
    "prune does no more at once than it is told",
    async ({ store }) => {
      for (let index = 0; index < 5; index++) await bring(store, `evt_${index}`, "done");
      deepStrictEqual(await store.prune({ payloadsBefore: T0 + 1, keysBefore: T0, limit: 3 }), {
        payloads: 3,
        keys: 0,
      });
      deepStrictEqual(await store.prune({ payloadsBefore: T0 + 1, keysBefore: T0, limit: 3 }), {
        payloads: 2,
        keys: 0,
      });
    },
  ],
  [
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
  ],
  [
    "G10",
    "a quarantined event gets its real id, unless that was accepted already",
    async ({ store }) => {
      await accept(store, "sha256:a", { state: "quarantined", reason: "data_invalid" });
      await accept(store, "sha256:b", { state: "quarantined", reason: "data_invalid" });
      const readAs = { eventId: "evt_1", type: "signal.published" };
      deepStrictEqual(await store.replay([{ endpoint: ENDPOINT, eventId: "sha256:a", readAs }], T0), ["moved"]);
      strictEqual(await stateOf(store, "evt_1"), "ready");
      deepStrictEqual(await store.replay([{ endpoint: ENDPOINT, eventId: "sha256:b", readAs }], T0), ["duplicate"]);
      strictEqual(await stateOf(store, "sha256:b"), "done");
      strictEqual((await claim(store)).events.length, 1);
    },
  ],
  [
    "G10",
    "discard drops the payload of a dead event and keeps its key",
    async ({ store }) => {
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
    },
  ],
  [
    "G11",
    "a closed store rejects, and a reopened one finds everything",
    async ({ store, medium, sibling, open }) => {
      await accept(store, "evt_1");
      if (sibling !== store) await sibling.close(ENDPOINT);
      await store.close(ENDPOINT);
      await store.close(ENDPOINT);
      await rejects(commit(store, { accepts: [newEvent("evt_2")] }));
      await rejects(store.list({}));
      const reopened = await open(medium.createStore());
      strictEqual(await stateOf(reopened, "evt_1"), "ready");
      strictEqual(await stateOf(reopened, "evt_2"), undefined);
    },
  ],
  [
    "G11",
    "counts and lists tell what is there",
    async ({ store }) => {
      for (const state of ["ready", "leased", "done", "dead", "quarantined"] as const)
        await bring(store, `evt_${state}`, state);
      await accept(store, "evt_ready_2", { dueAt: T0 - 500 });
      const { oldestReadyAt, ...counts } = await store.stats(ENDPOINT, T0);
      deepStrictEqual(counts, { ready: 2, leased: 1, done: 1, dead: 1, quarantined: 1, total: 6 });
      strictEqual(oldestReadyAt, T0 - 500);
      const ids = (await store.list({ endpoint: ENDPOINT, state: "ready" })).map(({ eventId }) => eventId);
      deepStrictEqual(ids, ["evt_ready", "evt_ready_2"]);
      const firstPage = await store.list({ endpoint: ENDPOINT, limit: 4 });
      const secondPage = await store.list({ endpoint: ENDPOINT, afterSeq: firstPage.at(-1)?.seq ?? 0 });
      deepStrictEqual([firstPage.length, secondPage.length], [4, 2]);
      deepStrictEqual(await store.list({ endpoint: "second" }), []);
    },
  ],
];

function takeOver(store: InboxStore, held: ReadonlySet<number>, now = T0): Promise<number> {
  return store.takeOver({ endpoint: ENDPOINT, now, held, crashed: true });
}

/** Its holder dies: at once for an owner alone, by time for one of several. */
async function crash(store: InboxStore, now: number): Promise<void> {
  if (!store.shared) await takeOver(store, new Set(), now);
  // A claim that wants nothing else still takes over what ran out.
  else await claim(store, { now, limit: 1, suspects: false }).then(({ events }) => giveBackAll(store, events, now));
}

async function giveBackAll(store: InboxStore, events: readonly ClaimedEvent[], now: number): Promise<void> {
  for (const { seq, token, attempts, possiblyRepeated } of events) {
    await settle(store, { seq, token, state: "ready", dueAt: now, attempts, possiblyRepeated });
  }
}
