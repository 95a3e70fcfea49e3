import type { Database } from "better-sqlite3";
import type { InboxStore } from "../../inbox/store.js";
import { DEFAULT_SENDER, type StoredEvent } from "../../inbox/stored-events.js";
import { createCommitter, type Committer } from "./commit.js";
import { preparePayloads } from "./payloads.js";
import {
  prepareFailures,
  type Failures,
  createQueries,
  type NowAt,
  type Queries,
} from "./queries.js";
import { prepareSearch, search, type SearchSteps } from "./search.js";

/** An open inbox with its prepared statements. */
export interface PreparedInbox {
  db: Database;
  committer: Committer;
  queries: Queries;
  searchSteps: SearchSteps;
  failures: Failures;
}

export function prepareInbox(db: Database, shared: boolean): PreparedInbox {
  return {
    db,
    committer: createCommitter(db, shared),
    queries: createQueries(db),
    searchSteps: prepareSearch(db),
    failures: prepareFailures(db),
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
  return {
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
    reclaim: (request) =>
      write(({ committer }, nowAt) => committer.reclaim(request, nowAt(request.endpoint))),
    list: async (query) => read(({ queries }) => queries.list(query)),
    endpoints: async () => read(({ queries }) => queries.endpoints()),
    get: async (endpoint, eventId) => read(({ queries }) => queries.get(endpoint, eventId)),
    search: (endpoint, query) =>
      search((step) => read(({ searchSteps }) => step(searchSteps)), endpoint, query),
    activity: async (endpoint, query) =>
      read(({ queries }, nowAt) => queries.activity(endpoint, query, nowAt(endpoint))),
    oldestReady: (endpoint) =>
      read(({ queries }, nowAt) => queries.oldestReady(endpoint, nowAt(endpoint))),
    failing: async (endpoint, state, beforeSeq) =>
      read(({ failures }) => failures.failing(endpoint, state, beforeSeq)),
    bodyHashes: async (endpoint, beforeSeq, limit) =>
      read(({ queries }) => queries.bodyHashes(endpoint, beforeSeq, limit)),
    saveReport: (endpoint, reporter, report) =>
      write(({ failures }, nowAt) =>
        failures.saveReport(endpoint, reporter, report, nowAt(endpoint)),
      ),
    reports: async (endpoint) => read(({ failures }) => failures.reports(endpoint)),
    retryNow: (events) => write(({ queries }, nowAt) => queries.retryNow(events, nowAt)),
    replay: (events, readAgain) =>
      write(({ queries }, nowAt) => queries.replay(events, nowAt, readAgain)),
    discard: (events) => write(({ queries }, nowAt) => queries.discard(events, nowAt)),
    restore: (endpoint, events) =>
      write(({ db }, nowAt) => createRestore(db)(endpoint, events, nowAt(endpoint))),
    prune: (request) =>
      write(({ queries }, nowAt) => queries.prune(request, nowAt(request.endpoint))),
  } satisfies Partial<InboxStore>;
}

/** Adds events of another store; see `restore` of the port. */
function createRestore(db: Database) {
  const insert = db.prepare(`
    INSERT INTO inbox (endpoint, event_id, type, state, due_at, ready_since, token, attempts, crashes, possibly_repeated, replayed,
      has_payload, received_at, body_hash, last_error, subtype, subject,
      sender)
    VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (endpoint, event_id) DO NOTHING`);
  const payloads = preparePayloads(db);

  function add(endpoint: string, event: StoredEvent, now: number): boolean {
    const {
      eventId,
      type,
      attempts,
      crashes,
      replayed,
      receivedAt,
      received,
      bodyHash,
      rawBody,
      lastError,
    } = event;
    const wasLeased = event.state === "leased";
    const state = wasLeased ? "ready" : event.state;
    const dueAt = wasLeased ? now : event.dueAt;
    const flags = [wasLeased || event.possiblyRepeated, replayed, rawBody !== null].map(Number);
    const since = state === "ready" ? now : 0;
    const key = [endpoint, eventId, type, state, dueAt, since, attempts, crashes];
    const facts = [
      event.subtype,
      event.subject,
      event.sender === DEFAULT_SENDER ? null : event.sender,
    ];
    const { changes, lastInsertRowid } = insert.run(
      ...key,
      ...flags,
      receivedAt,
      bodyHash,
      lastError,
      ...facts,
    );
    if (changes === 0) return false;
    const seq = Number(lastInsertRowid);
    if (rawBody === null) return true;
    payloads.insert(seq, received, rawBody);
    for (const step of event.history) payloads.addStep(seq, step);
    return true;
  }

  return db.transaction(
    (endpoint: string, events: readonly StoredEvent[], now: number) =>
      events.filter((event) => add(endpoint, event, now)).length,
  ).immediate;
}
