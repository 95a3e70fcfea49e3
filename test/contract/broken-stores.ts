import type { AcceptResult, Batch, NewEvent, Settlement } from "../../src/inbox/batch.js";
import type { InboxStore, ReclaimResult } from "../../src/inbox/store.js";
import type { InboxEntry, PastStep } from "../../src/inbox/stored-events.js";
import type { Clock } from "../../src/time/clock.js";
import type { Break } from "./plain-medium.js";

/** A mistake that stores of this kind make, and the one case of the contract that is there to find it. */
export interface BrokenStore extends Break {
  mistake: string;
  caught: string;
  /** Whether only a store that knows which processes live can make it. */
  knowsProcesses?: boolean;
  /** Whether only a store that measures with the clock that it is given can make it. */
  usesGivenClock?: boolean;
}

const isDuplicate = ({ status }: AcceptResult): boolean => status === "duplicate";

export const BROKEN_STORES: readonly BrokenStore[] = [
  {
    mistake: "looks whether an id is there, waits, and inserts",
    caught: "only one of many simultaneous accepts of one id is new",
    bend: checkThenInsert,
  },
  {
    mistake: "settles under any token",
    caught: "a settlement with a token that is not current changes nothing",
    bend: settleUnfenced,
  },
  {
    mistake: "looks only for leases that a settlement can end",
    caught: "a settlement that was applied before counts as applied",
    bend: forgetApplied,
  },
  {
    mistake: "settles again what it has settled before",
    caught: "a settlement that was applied before changes nothing",
    bend: settleAgain,
  },
  {
    mistake: "takes the time of the process for its own",
    caught: "the time at which a process received an event decides nothing",
    bend: trustProcess,
  },
  {
    mistake: "settles neighbours together",
    caught: "equal settlements in one batch are each checked by their own token",
    bend: settleTogether,
  },
  {
    mistake: "keeps bodies as text",
    caught: "a body is returned byte for byte, whatever the bytes",
    bend: keepText,
  },
  {
    mistake: "forgets the trace of a delivery",
    caught: "a claimed event has what was received with it",
    bend: forgetTrace,
  },
  {
    mistake: "prunes by age alone",
    caught: "prune deletes old done events, payload first, and no others",
    bend: pruneByAge,
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
    bend: (store) => ({ ...store, reclaim: (request) => store.reclaim({ ...request, crashed: true }) }),
  },
  {
    mistake: "takes over the leases of every endpoint",
    caught: "an endpoint's leases are not taken over by another",
    bend: takeOverAll,
  },
  {
    mistake: "hands an event off at once, however often it crashed",
    caught: "after its first crash an event is due at once, after the second within its delay",
    bend: skipDelays,
    usesGivenClock: true,
  },
  {
    mistake: "forgets for how long an event was due",
    caught: "a claim says for how long an event was due",
    bend: forgetWait,
  },
  {
    mistake: "puts a released event at the end of the queue",
    caught: "an event that is released keeps its place in the queue",
    bend: queueAnew,
  },
  {
    mistake: "returns a column of its own with an entry",
    caught: "an entry has the documented keys, and no other",
    bend: showColumns,
  },
  {
    mistake: "prunes every endpoint at once",
    caught: "prune deletes nothing of another endpoint",
    bend: pruneAll,
  },
  {
    mistake: "forgets the limit of a prune",
    caught: "a prune deletes at most its limit",
    bend: (store) => ({ ...store, prune: (request) => store.prune({ ...request, limit: 1e9 }) }),
  },
  {
    mistake: "numbers anew after a prune",
    caught: "the seq of a deleted event is not used again",
    bend: numberAnew,
  },
  {
    mistake: "keeps the headers of a pruned event",
    caught: "prune and discard delete the headers with the payload",
    bend: keepHeaders,
  },
  {
    mistake: "hands off only events that it leased before, or that nobody did",
    caught: "the leases of a dead process are taken over, and those of a living one are not",
    bend: leaveToTheDead,
    knowsProcesses: true,
  },
  {
    mistake: "takes the beginning of an id for a pattern",
    caught: "an id is found by its beginning, of which no character stands for another",
    bend: matchPattern,
  },
  {
    mistake: "skips an event between two pages of a search",
    caught: "search finds every event that matches, the newest first, each once",
    bend: skipBetweenPages,
  },
  {
    mistake: "keeps the history of a deleted payload",
    caught: "the history is deleted with the payload",
    bend: keepHistory,
  },
  {
    mistake: "counts the settlements that it was given, not those that it applied",
    caught: "a settlement that was applied before is not counted again",
    bend: countGiven,
  },
];

/** The parts of a batch that are not named are empty. */
function part(endpoint: string, batch: Partial<Batch>): Batch {
  return { endpoint, settlements: [], accepts: [], claim: null, ...batch };
}

function checkThenInsert(store: InboxStore): InboxStore {
  return {
    ...store,
    async commit({ endpoint, settlements, accepts, claim }) {
      const settled = await store.commit(part(endpoint, { settlements }));
      const inserted: AcceptResult[] = [];
      for (const event of accepts) {
        const isKnown = (await store.get(endpoint, event.eventId)) !== undefined;
        await Promise.resolve();
        const [result] = (await store.commit(part(endpoint, { accepts: [event] }))).accepts;
        // INSERT OR IGNORE, and no look at what it did.
        if (result !== undefined) inserted.push(isKnown ? result : { token: 0, ...result, status: "accepted" });
      }
      const claimed = await store.commit(part(endpoint, { claim }));
      return { settlements: settled.settlements, accepts: inserted, claim: claimed.claim };
    },
  };
}

function settleUnfenced(store: InboxStore): InboxStore {
  const tokens = new Map<number, number>();
  return {
    ...store,
    async commit(batch) {
      const settlements = batch.settlements.map((each) => ({ ...each, token: tokens.get(each.seq) ?? each.token }));
      const result = await store.commit({ ...batch, settlements });
      for (const { seq, token } of result.claim?.events ?? []) tokens.set(seq, token);
      return result;
    },
  };
}

function forgetApplied(store: InboxStore): InboxStore {
  const ended = new Set<string>();
  return {
    ...store,
    async commit(batch) {
      const result = await store.commit(batch);
      const settlements = batch.settlements.map(({ seq, token }, index) => {
        const isFirst = !ended.has(`${seq} ${token}`);
        ended.add(`${seq} ${token}`);
        return isFirst && result.settlements[index] === true;
      });
      return { ...result, settlements };
    },
  };
}

function settleAgain(store: InboxStore): InboxStore {
  const ended = new Set<string>();
  return {
    ...store,
    async commit(batch) {
      const { endpoint } = batch;
      const again = batch.settlements.filter(({ seq, token }) => ended.has(`${seq} ${token}`));
      const result = await store.commit(batch);
      batch.settlements.forEach(({ seq, token }, index) => {
        if (result.settlements[index] === true) ended.add(`${seq} ${token}`);
      });
      for (const settlement of again) {
        const claim = { leaseMs: 1, limit: 1, held: [] };
        const [event] = (await store.commit(part(endpoint, { claim }))).claim?.events ?? [];
        const settlements = event === undefined ? [] : [{ ...settlement, seq: event.seq, token: event.token }];
        await store.commit(part(endpoint, { settlements }));
      }
      return result;
    },
  };
}

/** An event that was received later than now, by the clock of its process, is due then. */
function trustProcess(store: InboxStore): InboxStore {
  let clock: Clock;
  const aheadMs = ({ received }: NewEvent): number => Math.max(0, received.at - clock.now());
  return {
    ...store,
    open(context) {
      clock = context.clock;
      return store.open(context);
    },
    async commit(batch) {
      const accepts = batch.accepts.map((event): NewEvent =>
        aheadMs(event) > 0 ? { ...event, state: "leased", leaseMs: 1 } : event,
      );
      const result = await store.commit({ ...batch, accepts });
      const settlements = result.accepts.flatMap((accepted, index): Settlement[] => {
        const delayMs = aheadMs(batch.accepts[index] as NewEvent);
        if (delayMs === 0 || accepted.status !== "accepted") return [];
        const { seq, token } = accepted;
        accepted.token = 0;
        return [{ seq, token, state: "ready", delayMs, attempts: 0, possiblyRepeated: false, lastError: null }];
      });
      await store.commit(part(batch.endpoint, { settlements }));
      return result;
    },
  };
}

function settleTogether(store: InboxStore): InboxStore {
  return {
    ...store,
    async commit(batch) {
      const result = await store.commit(batch);
      const someApplied = result.settlements.includes(true);
      return { ...result, settlements: result.settlements.map(() => someApplied) };
    },
  };
}

function keepText(store: InboxStore): InboxStore {
  const asText = (body: Uint8Array): Buffer => Buffer.from(Buffer.from(body).toString("utf8"));
  return {
    ...store,
    commit: (batch) =>
      store.commit({ ...batch, accepts: batch.accepts.map((event) => ({ ...event, body: asText(event.body) })) }),
  };
}

function forgetTrace(store: InboxStore): InboxStore {
  const untraced = (event: NewEvent): NewEvent => {
    const { traceParent: _isForgotten, ...received } = event.received;
    return { ...event, received };
  };
  return { ...store, commit: (batch) => store.commit({ ...batch, accepts: batch.accepts.map(untraced) }) };
}

function pruneByAge(store: InboxStore): InboxStore {
  return {
    ...store,
    async prune(request) {
      const { endpoint } = request;
      const claim = { leaseMs: 1, limit: 1e9, held: [] };
      const old = (await store.commit(part(endpoint, { claim }))).claim?.events ?? [];
      const done = { state: "done", delayMs: 0, attempts: 0, possiblyRepeated: false, lastError: null } as const;
      await store.commit(part(endpoint, { settlements: old.map(({ seq, token }) => ({ seq, token, ...done })) }));
      const pruned = await store.prune(request);
      return { payloads: pruned.payloads, keys: pruned.keys - old.length };
    },
  };
}

function claimFirst(store: InboxStore): InboxStore {
  return {
    ...store,
    async commit({ endpoint, settlements, accepts, claim }) {
      const claimed = await store.commit(part(endpoint, { claim }));
      const rest = await store.commit(part(endpoint, { settlements, accepts }));
      return { ...rest, claim: claimed.claim };
    },
  };
}

/** Reclaims by a clock that is an hour late, so that no delay is left. */
function skipDelays(store: InboxStore): InboxStore {
  let lateMs = 0;
  return {
    ...store,
    open: ({ endpoint, clock }) => store.open({ endpoint, clock: { ...clock, now: () => clock.now() - lateMs } }),
    async reclaim(request) {
      lateMs = request.crashed ? 3_600_000 : 0;
      try {
        return await store.reclaim(request);
      } finally {
        lateMs = 0;
      }
    },
  };
}

function forgetWait(store: InboxStore): InboxStore {
  return {
    ...store,
    async commit(batch) {
      const result = await store.commit(batch);
      const events = result.claim?.events.map((event) => ({ ...event, dueForMs: 0 })) ?? [];
      return { ...result, claim: result.claim && { ...result.claim, events } };
    },
  };
}

function queueAnew(store: InboxStore): InboxStore {
  const fromNow = (each: Settlement): Settlement => ({ ...each, delayMs: Math.max(0, each.delayMs) });
  return { ...store, commit: (batch) => store.commit({ ...batch, settlements: batch.settlements.map(fromNow) }) };
}

function showColumns(store: InboxStore): InboxStore {
  const withToken = <Entry extends InboxEntry>(entry: Entry): Entry & { token: number } => ({ ...entry, token: 1 });
  return {
    ...store,
    list: async (query) => (await store.list(query)).map(withToken),
    async search(endpoint, query) {
      const { entries, nextBeforeSeq } = await store.search(endpoint, query);
      return { entries: entries.map(withToken), nextBeforeSeq };
    },
    async get(endpoint, eventId) {
      const event = await store.get(endpoint, eventId);
      return event && withToken(event);
    },
  };
}

function keepHeaders(store: InboxStore): InboxStore {
  return {
    ...store,
    async get(endpoint, eventId) {
      const event = await store.get(endpoint, eventId);
      return event && { ...event, received: { ...event.received, headers: { "content-type": "application/json" } } };
    },
  };
}

function takeOverAll(store: InboxStore): InboxStore {
  return {
    ...store,
    async reclaim(request) {
      const endpoints = new Set((await store.list({ limit: 1e9 })).map(({ endpoint }) => endpoint));
      const results: ReclaimResult[] = [await store.reclaim(request)];
      // A shared store frees only its own leases, those whose hand-off never began.
      const crashed = request.crashed && !store.shared;
      for (const endpoint of endpoints) {
        if (endpoint !== request.endpoint) results.push(await store.reclaim({ ...request, endpoint, crashed }));
      }
      return {
        freed: results.reduce((sum, { freed }) => sum + freed, 0),
        dead: results.flatMap(({ dead }) => dead),
      };
    },
  };
}

function pruneAll(store: InboxStore): InboxStore {
  return {
    ...store,
    async prune(request) {
      const endpoints = new Set((await store.list({ limit: 1e9 })).map(({ endpoint }) => endpoint));
      const total = { payloads: 0, keys: 0 };
      for (const endpoint of endpoints) {
        const { payloads, keys } = await store.prune({ ...request, endpoint });
        total.payloads += payloads;
        total.keys += keys;
      }
      return total;
    },
  };
}

function numberAnew(store: InboxStore): InboxStore {
  let forgotten = 0;
  return {
    ...store,
    async prune(request) {
      const pruned = await store.prune(request);
      forgotten += pruned.keys;
      return pruned;
    },
    async commit(batch) {
      const result = await store.commit(batch);
      return { ...result, accepts: result.accepts.map((each) => ({ ...each, seq: each.seq - forgotten })) };
    },
  };
}

function leaveToTheDead(store: InboxStore): InboxStore {
  const own = new Set<number>();
  return {
    ...store,
    async commit(batch) {
      const result = await store.commit(batch);
      for (const { seq } of result.accepts) own.add(seq);
      const events =
        result.claim?.events.filter(({ seq, possiblyRepeated }) => !possiblyRepeated || own.has(seq)) ?? [];
      for (const { seq } of events) own.add(seq);
      return { ...result, claim: result.claim && { ...result.claim, events } };
    },
  };
}

/** As with LIKE. */
function matchPattern(store: InboxStore): InboxStore {
  return {
    ...store,
    async search(endpoint, { eventId = "", limit = 50, ...query }) {
      const pattern = eventId
        .replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
        .replaceAll("_", ".")
        .replaceAll("%", ".*");
      const { entries } = await store.search(endpoint, { ...query, limit: 1000 });
      const found = entries.filter((entry) => new RegExp(`^${pattern}`, "su").test(entry.eventId));
      const page = found.slice(0, limit);
      return { entries: page, nextBeforeSeq: found.length > limit ? (page.at(-1)?.seq ?? null) : null };
    },
  };
}

function skipBetweenPages(store: InboxStore): InboxStore {
  return {
    ...store,
    async search(endpoint, query) {
      const { entries, nextBeforeSeq } = await store.search(endpoint, query);
      return { entries, nextBeforeSeq: nextBeforeSeq && nextBeforeSeq - 2 };
    },
  };
}

function keepHistory(store: InboxStore): InboxStore {
  const seen = new Map<string, PastStep[]>();
  return {
    ...store,
    async get(endpoint, eventId) {
      const event = await store.get(endpoint, eventId);
      if (event === undefined) return undefined;
      const key = JSON.stringify([endpoint, eventId]);
      const history = event.rawBody === null ? (seen.get(key) ?? []) : event.history;
      seen.set(key, history);
      return { ...event, history };
    },
  };
}

function countGiven(store: InboxStore): InboxStore {
  const given = new Set<string>();
  let twice = 0;
  return {
    ...store,
    commit(batch) {
      for (const { seq, token } of batch.settlements) {
        if (given.has(`${seq} ${token}`)) twice += 1;
        given.add(`${seq} ${token}`);
      }
      return store.commit(batch);
    },
    async activity(endpoint, query) {
      const spans = await store.activity(endpoint, query);
      return spans.map((span, index) => (index === 0 ? { ...span, handedOff: span.handedOff + twice } : span));
    },
  };
}
