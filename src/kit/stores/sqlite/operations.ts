import type { Database } from "../../../base/sqlite/database.js";
import { SUPERSEDED } from "../../inbox/done-reasons.js";
import type { InboxStore } from "../../inbox/store.js";
import { DEFAULT_SENDER, type StoredEvent } from "../../inbox/stored-events.js";
import { createCommitter, type Committer } from "./commit.js";
import { prepareErase, type Erasures } from "./erase.js";
import { prepareLanes, type Lanes } from "./lanes.js";
import { preparePayloads } from "./payloads.js";
import { createQueries, type NowAt, type Queries } from "./queries.js";
import { prepareSearch, search, type SearchSteps } from "./search.js";
import { prepareTrouble, type Trouble } from "./trouble.js";

/** An open inbox with its prepared statements. */
export interface PreparedInbox {
  db: Database;
  committer: Committer;
  queries: Queries;
  lanes: Lanes;
  trouble: Trouble;
  searchSteps: SearchSteps;
  erasures: Erasures;
}

export function prepareInbox(db: Database, shared: boolean): PreparedInbox {
  return {
    db,
    committer: createCommitter(db, shared),
    queries: createQueries(db),
    lanes: prepareLanes(db),
    trouble: prepareTrouble(db),
    searchSteps: prepareSearch(db),
    erasures: prepareErase(db),
  };
}

export type Use<Result> = (inbox: PreparedInbox, nowAt: NowAt) => Result;

/**
 * The operations of the port, on an inbox in a file or in memory.
 *
 * @param read runs a query now
 * @param write runs a transaction, and resolves once it is as durable as the store says
 */
export function createOperations(
  read: <Result>(query: Use<Result>) => Result,
  write: <Result>(transaction: Use<Result>) => Promise<Result>,
) {
  const change = <Result>(transaction: Use<Result>) =>
    write((inbox, nowAt) => inbox.db.transaction(() => transaction(inbox, nowAt)).immediate());
  return {
    list: async (query) => read(({ queries }) => queries.list(query)),
    endpoints: async () => read(({ queries }) => queries.endpoints()),
    get: async (endpoint, eventId, mostBytes) =>
      read(({ queries }) => queries.get(endpoint, eventId, mostBytes)),
    activity: async (endpoint, query) =>
      read(({ queries }, nowAt) => queries.activity(endpoint, query, nowAt)),
    oldestReady: (endpoint) => read(({ queries }, nowAt) => queries.oldestReady(endpoint, nowAt)),
    bodyHashes: async (endpoint, beforeSeq, limit) =>
      read(({ queries }) => queries.bodyHashes(endpoint, beforeSeq, limit)),
    failing: async (endpoint, state, beforeSeq) =>
      read(({ trouble }) => trouble.failing(endpoint, state, beforeSeq)),
    reports: async (endpoint) => read(({ trouble }) => trouble.reports(endpoint)),
    saveReport: (endpoint, reporter, report, isKnown = false) =>
      change(({ trouble }, nowAt) =>
        trouble.saveReport(endpoint, reporter, report, isKnown, nowAt),
      ),
    alarms: async (endpoint) => read(({ trouble }) => trouble.alarms(endpoint)),
    setAlarm: (...alarm) => change(({ trouble }) => trouble.setAlarm(...alarm)),
    reclaim: (request) =>
      change(({ committer }, nowAt) => committer.reclaim(request, nowAt(request.endpoint))),
    retryNow: (events) => change(({ queries }, nowAt) => queries.retryNow(events, nowAt)),
    replay: (events, readAgain) =>
      change(({ queries }, nowAt) => queries.replay(events, readAgain, nowAt)),
    discard: (events) => change(({ queries }, nowAt) => queries.discard(events, nowAt)),
    erase: (events, hidden) =>
      change(({ erasures }, nowAt) => erasures.erase(events, hidden, nowAt)),
    unblock: (endpoint, key) =>
      change(({ lanes }, nowAt) => lanes.unblock(endpoint, key, nowAt(endpoint))),
    tendLanes: async (endpoint, ordered) =>
      read(({ lanes }) => lanes.areUsed(endpoint))
        ? change(({ lanes }, nowAt) => lanes.tend(endpoint, ordered, nowAt(endpoint)))
        : { promoted: 0, isAtEnd: true, waiting: 0 },
    prune: (request) => change(({ queries }, nowAt) => queries.prune(request, nowAt)),
    payloadSizes: async (endpoint, from, limit) =>
      read(({ queries }, nowAt) => queries.payloadSizes(endpoint, from, limit, nowAt)),
    restore: (endpoint, events) =>
      change(({ db }, nowAt) => restore(db, endpoint, events, nowAt(endpoint))),
    search: (endpoint, query) =>
      search((step) => read(({ searchSteps }) => step(searchSteps)), endpoint, query),
    async commit(batch) {
      const { endpoint, settlements, accepts, claim } = batch;
      if (settlements.length === 0 && accepts.length === 0) {
        const nothing =
          claim === null
            ? null
            : read(({ committer }, nowAt) =>
                committer.claimNothing(claim, endpoint, nowAt(endpoint)),
              );
        if (claim === null || nothing !== null)
          return { settlements: [], accepts: [], claim: nothing };
      }
      // A batch of only duplicates is written too, because another process may not have synced the
      // originals yet.
      return write(({ committer }, nowAt) => committer.commit(batch, nowAt(endpoint)));
    },
  } satisfies Partial<InboxStore>;
}

/** Adds events of another store; see `restore` of the port. */
function restore(
  db: Database,
  endpoint: string,
  events: readonly StoredEvent[],
  now: number,
): number {
  const insert = db.prepare(`
    INSERT INTO inbox (endpoint, event_id, type, state, due_at, ready_since, token, attempts, crashes, possibly_repeated,
      replayed, has_payload, received_at, body_hash, last_error, subtype, subject, sender, burst)
    VALUES (@endpoint, @eventId, @type, @state, @dueAt, iif(@state = 'ready', @now, 0), 0, @attempts, @crashes, @repeated,
      @wasReplayed, @hasPayload, @receivedAt, @bodyHash, @lastError, @subtype, @subject, nullif(@sender, '${DEFAULT_SENDER}'),
      iif(@state = 'done' AND @lastError LIKE '${SUPERSEDED}%', 0, NULL)) -- of an unknown burst
    ON CONFLICT (endpoint, event_id) DO NOTHING`);
  const payloads = preparePayloads(db);
  const lanes = prepareLanes(db);

  function add(event: StoredEvent): boolean {
    const { received, rawBody, history, lane, ...columns } = event;
    const wasErased = event.state === "leased" && rawBody === null;
    const wasLeased = event.state === "leased" && !wasErased;
    const { changes, lastInsertRowid } = insert.run({
      ...columns,
      ...(wasLeased && { state: "ready", dueAt: now }),
      ...(wasErased && { state: "done", dueAt: now }),
      endpoint,
      now,
      repeated: Number(wasLeased || event.possiblyRepeated),
      wasReplayed: Number(event.replayed),
      hasPayload: Number(rawBody !== null),
    });
    if (changes === 0 || rawBody === null) return changes > 0;
    const seq = Number(lastInsertRowid);
    payloads.insert(seq, received, rawBody);
    for (const step of history) payloads.addStep(seq, step);
    if (lane) lanes.restore(seq, endpoint, lane, event.state);
    return true;
  }

  return events.filter(add).length;
}
