import { vi } from "vitest";
import { openSqlite } from "../open-sqlite.js";
import { nextTurn } from "../../src/base/time/timers.js";
import type { Database } from "../../src/base/sqlite/database.js";
import type {
  AcceptResult,
  Batch,
  NewEvent,
  Settlement,
  SettleResult,
} from "../../src/kit/inbox/batch.js";
import type { InboxStore } from "../../src/kit/inbox/store.js";
import { batchOf } from "../unit/kit/inbox/new-event.js";
import { ENDPOINTS } from "./cases/store-case.js";
import type { Break } from "./plain-medium.js";

/**
 * A mistake that stores of this kind make, and the one case of the contract that is there to find
 * it.
 */
export interface BrokenStore extends Break {
  mistake: string;
  caught: string;
}

const PROTOTYPE = Object.getPrototypeOf(openSqlite(":memory:")) as Database;
const { prepare } = PROTOTYPE;

const isDuplicate = ({ status }: AcceptResult): boolean => status === "duplicate";

export const BROKEN_STORES: readonly BrokenStore[] = [
  {
    mistake: "looks whether an id is there, waits, and inserts",
    caught: "only one of many simultaneous accepts of one id is new",
    bend: checkThenInsert,
  },
  {
    mistake: "knows an event by its id alone",
    caught: "an event with the content key of a stored one is its duplicate, whatever its id",
    bend: given(() => ({ contentKey: null })),
  },
  {
    mistake: "takes all equal bodies for one event",
    caught: "only events of one endpoint that have a content key are compared by it",
    bend: given(({ contentKey, bodyHash }) => ({ contentKey: contentKey ?? bodyHash })),
  },
  {
    mistake: "compares bodies alone",
    caught: "a duplicate says whether the stored event is the same in everything",
    bend: answering(({ sameBody }, { contentKey }) =>
      contentKey === null ? { otherThan: sameBody ? null : "id" } : {},
    ),
  },
  {
    mistake: "does not say that an event came by the API",
    caught: "a duplicate says in what its original differs, and whether it came by the API",
    bend: answering(() => ({ isBackfilled: false })),
  },
  {
    mistake: "forgets that bytes came before",
    caught: "an event whose bytes came before is stored and claimed so, with its sender",
    bend: given(() => ({ possiblyRepeated: false })),
  },
  {
    mistake: "takes a known id for a known event",
    caught: "a quarantined event whose real id another event has gets an id of its own",
    bend: replayById,
  },
  {
    mistake: "remembers the bodies of all endpoints together",
    caught: "the hashes of bodies are found, the newest first, of one endpoint",
    bend: hashesOfAll,
  },
  {
    mistake: "looks what is kept of an alarm, waits, and replaces it",
    caught: "of calls at the same time that begin with the same state of an alarm, one changes it",
    bend: compareThenSet,
  },
  {
    mistake: "settles under any token",
    caught: "a settlement with a token that is not current changes nothing",
    bend: inSql("AND token = ?", "AND ? > 0"),
  },
  {
    mistake: "looks only for leases that a settlement can end",
    caught: "a settlement that was applied before counts as applied",
    bend: forgetApplied,
  },
  {
    mistake: "settles again what it has settled before",
    caught: "a settlement that was applied before changes nothing",
    bend: inSql("token = ? AND state = 'leased'", "token = ?"),
  },
  {
    mistake: "takes the time of the process for its own",
    caught: "the time at which a process received an event decides nothing",
    bend: inSql("AND due_at <= ?", "AND max(due_at, received_at) <= ?"),
  },
  {
    mistake: "settles neighbours together",
    caught: "equal settlements in one batch are each checked by their own token",
    bend: settling((results) => results.map(() => results.includes(true))),
  },
  {
    mistake: "keeps bodies as text",
    caught: "a body is returned byte for byte, whatever the bytes",
    bend: given(({ body }) => ({ body: Buffer.from(Buffer.from(body).toString("utf8")) })),
  },
  {
    mistake: "counts the payloads of what waits",
    caught: "the sizes of payloads are those of the endpoint's done events",
    bend: inSql("endpoint = @endpoint AND state = 'done', length", "endpoint = @endpoint, length"),
  },
  {
    mistake: "prunes by age alone",
    caught: "prune deletes old done events, payload first, and no others",
    bend: inSql("AND state = 'done' AND due_at < ?", "AND due_at < ?"),
  },
  {
    mistake: "acknowledges before the commit",
    caught: "an accepted event is on the medium when commit resolves",
    waits: ({ accepts }) => accepts.length === 0 || accepts.some(isDuplicate),
  },
  {
    mistake: "acknowledges a duplicate before its original",
    caught: "a duplicate waits until its original is on the medium",
    waits: ({ accepts }) => accepts.length === 0 || !accepts.every(isDuplicate),
  },
  {
    mistake: "claims before it settles",
    caught: "settlements, accepts and claim of one batch are applied in this order",
    bend: claimFirst,
  },
  {
    mistake: "counts a lease that never began as a crash",
    caught: "a lease whose hand-off never began is freed without a crash",
    bend: (store) => ({
      ...store,
      reclaim: (request) => store.reclaim({ ...request, crashed: true }),
    }),
  },
  {
    mistake: "hands an event off at once, however often it crashed",
    caught: "after its first crash an event is due at once, after the second within its delay",
    bend: inSql("due_at = @dueAt", "due_at = @now"),
  },
  {
    mistake: "puts a released event at the end of the queue",
    caught: "an event that is released keeps its place in the queue",
    bend: queueAnew,
  },
];

type Bend = (store: InboxStore) => InboxStore;

/** Makes a store in whose statements `sound` is replaced by `wrong`. */
function inSql(sound: string, wrong: string): Bend {
  return (store) => ({
    ...store,
    async open(context) {
      const spy = vi.spyOn(PROTOTYPE, "prepare").mockImplementation(function (this: Database, sql) {
        return prepare.call(this, sql.replace(sound, wrong));
      });
      await store.open(context).finally(() => spy.mockRestore());
    },
  });
}

/** Makes a store to which each new event comes changed. */
function given(change: (event: NewEvent) => Partial<NewEvent>): Bend {
  return (store) => ({
    ...store,
    commit: (batch) =>
      store.commit({
        ...batch,
        accepts: batch.accepts.map((event) => ({ ...event, ...change(event) })),
      }),
  });
}

/** Makes a store that gives another result of each duplicate. */
function answering(change: (result: Duplicate, event: NewEvent) => Partial<Duplicate>): Bend {
  return (store) => ({
    ...store,
    async commit(batch) {
      const result = await store.commit(batch);
      const accepts = result.accepts.map((each, index) =>
        each.status === "accepted"
          ? each
          : { ...each, ...change(each, batch.accepts[index] as NewEvent) },
      );
      return { ...result, accepts };
    },
  });
}

type Duplicate = Extract<AcceptResult, { status: "duplicate" }>;

/** Makes a store that gives other results of settlements. */
function settling(change: (results: SettleResult[], batch: Batch) => SettleResult[]): Bend {
  return (store) => ({
    ...store,
    async commit(batch) {
      const result = await store.commit(batch);
      return { ...result, settlements: change(result.settlements, batch) };
    },
  });
}

function checkThenInsert(store: InboxStore): InboxStore {
  return {
    ...store,
    async commit({ endpoint, settlements, accepts, claim }) {
      const settled = await store.commit(batchOf({ endpoint, settlements }));
      const inserted: AcceptResult[] = [];
      for (const event of accepts) {
        // Its mistake is about ids alone.
        const isKnown =
          event.contentKey !== null || (await store.get(endpoint, event.eventId)) !== undefined;
        await Promise.resolve();
        const [result] = (await store.commit(batchOf({ endpoint, accepts: [event] }))).accepts;
        // INSERT OR IGNORE, and no look at what it did.
        if (result !== undefined)
          inserted.push(isKnown ? result : { token: 0, ...result, status: "accepted" });
      }
      const claimed = await store.commit(batchOf({ endpoint, claim }));
      return { settlements: settled.settlements, accepts: inserted, claim: claimed.claim };
    },
  };
}

function replayById(store: InboxStore): InboxStore {
  return {
    ...store,
    replay(events, readAgain) {
      return store.replay(events, (event) => {
        const { ownId: _ownId, ...read } = readAgain(event) ?? {};
        return "eventId" in read ? read : null;
      });
    },
  };
}

function compareThenSet(store: InboxStore): InboxStore {
  return {
    ...store,
    async setAlarm(endpoint, kind, before, after) {
      const find = async () =>
        (await store.alarms(endpoint)).find((each) => each.kind === kind)?.state ?? null;
      if ((await find()) !== before) return false;
      await nextTurn();
      await store.setAlarm(endpoint, kind, await find(), after);
      return true;
    },
  };
}

function hashesOfAll(store: InboxStore): InboxStore {
  return {
    ...store,
    async bodyHashes(_endpoint, beforeSeq, limit) {
      const pages = await Promise.all(
        ENDPOINTS.map((each) => store.bodyHashes(each, beforeSeq, limit)),
      );
      return {
        hashes: pages.flatMap(({ hashes }) => hashes),
        nextBeforeSeq: pages[0]?.nextBeforeSeq ?? null,
      };
    },
  };
}

function forgetApplied(store: InboxStore): InboxStore {
  const ended = new Set<string>();
  return settling((results, batch) =>
    batch.settlements.map(({ seq, token }, index) => {
      const isFirst = !ended.has(`${seq} ${token}`);
      ended.add(`${seq} ${token}`);
      return isFirst && results[index] === true;
    }),
  )(store);
}

function claimFirst(store: InboxStore): InboxStore {
  return {
    ...store,
    async commit({ endpoint, settlements, accepts, claim }) {
      const claimed = await store.commit(batchOf({ endpoint, claim }));
      const rest = await store.commit(batchOf({ endpoint, settlements, accepts }));
      return { ...rest, claim: claimed.claim };
    },
  };
}

function queueAnew(store: InboxStore): InboxStore {
  const fromNow = (each: Settlement): Settlement => ({
    ...each,
    delayMs: Math.max(0, each.delayMs),
  });
  return {
    ...store,
    commit: (batch) => store.commit({ ...batch, settlements: batch.settlements.map(fromNow) }),
  };
}
