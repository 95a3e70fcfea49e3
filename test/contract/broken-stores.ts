import type { AcceptResult, Batch, NewEvent, Settlement } from "../../src/inbox/batch.js";
import type { InboxStore } from "../../src/inbox/store.js";
import type { Clock } from "../../src/time/clock.js";
import type { Break } from "./plain-medium.js";

/** A mistake that stores of this kind make, and the one case of the contract that is there to find it. */
export interface BrokenStore extends Break {
  mistake: string;
  caught: string;
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
    mistake: "hands an event off at once, however often it crashed",
    caught: "after its first crash an event is due at once, after the second within its delay",
    bend: skipDelays,
  },
  {
    mistake: "puts a released event at the end of the queue",
    caught: "an event that is released keeps its place in the queue",
    bend: queueAnew,
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

function queueAnew(store: InboxStore): InboxStore {
  const fromNow = (each: Settlement): Settlement => ({ ...each, delayMs: Math.max(0, each.delayMs) });
  return { ...store, commit: (batch) => store.commit({ ...batch, settlements: batch.settlements.map(fromNow) }) };
}
