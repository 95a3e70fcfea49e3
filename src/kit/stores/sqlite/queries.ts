import type { Database, Statement } from "../../../base/sqlite/database.js";
import { MINUTE_MS } from "../../../base/time/units.js";
import { isSameEvent } from "../../inbox/identity.js";
import type { InboxStore, ReadAgain, ReadEventFacts } from "../../inbox/store.js";
import { REPORT_KEPT_MS } from "../../inbox/situation/trouble.js";
import {
  NEVER,
  EVENT_STATES,
  type InboxEntry,
  type MoveOutcome,
  type OldestReady,
  type ReplayOutcome,
  type StateCounts,
  type StoreStats,
} from "../../inbox/stored-events.js";
import { ENTRY } from "../rows.js";
import { prepareActivity } from "./activity.js";
import { prepareLanes } from "./lanes.js";
import { preparePayloads } from "./payloads.js";

export interface EntryRow extends Omit<InboxEntry, "possiblyRepeated" | "replayed"> {
  possiblyRepeated: number;
  replayed: number;
}

export function entryOf(row: EntryRow): InboxEntry {
  return { ...row, possiblyRepeated: row.possiblyRepeated === 1, replayed: row.replayed === 1 };
}

/** The present by the clock of an endpoint. */
export type NowAt = (endpoint: string) => number;

/** Operations of the port on an open inbox: they are synchronous, and are told the time last. */
export type Steps<Name extends keyof InboxStore> = {
  [Each in Name]: NonNullable<InboxStore[Each]> extends (...args: infer Args) => infer Result
    ? (...args: [...Args, nowAt: NowAt]) => Awaited<Result>
    : never;
};

/** Prepares statements that are made when they are needed, each once. */
export function createStatements<Row>(db: Database) {
  const statements = new Map<string, Statement<[Record<string, unknown>], Row>>();
  return (sql: string): Statement<[Record<string, unknown>], Row> => {
    const statement = statements.get(sql) ?? db.prepare<Record<string, unknown>, Row>(sql);
    statements.set(sql, statement);
    return statement;
  };
}

interface WholeRow extends EntryRow {
  hasPayload: number;
  bodyHash: Buffer;
}

/** The operations on an inbox that are not on the path of a delivery. */
export function createQueries(db: Database) {
  const findOne = db.prepare<[string, string], WholeRow>(
    `SELECT ${ENTRY}, has_payload AS hasPayload, body_hash AS bodyHash FROM inbox WHERE endpoint = ? AND event_id = ?`,
  );
  const payloads = preparePayloads(db);
  const activity = prepareActivity(db);
  const lanes = prepareLanes(db);
  const listing = createStatements<EntryRow>(db);
  // Each count reads only an index, because the table has much wider rows and takes longer to read.
  type Counted = Omit<StateCounts, "done"> & Pick<StoreStats, "total" | "lastAcceptedAt">;
  const counts = db.prepare<{ endpoint: string; minute: number }, Counted>(`
    SELECT
      (SELECT max(minute) * ${MINUTE_MS} FROM inbox_minute WHERE endpoint = @endpoint AND accepted > 0
         AND minute <= @minute) AS lastAcceptedAt,
      (SELECT count(*) FROM inbox INDEXED BY inbox_key WHERE endpoint = @endpoint) AS total,
      (SELECT count(*) FROM inbox WHERE endpoint = @endpoint AND state = 'ready') AS ready,
      (SELECT count(*) FROM inbox WHERE endpoint = @endpoint AND state = 'leased') AS leased,
      (SELECT count(*) FROM inbox WHERE endpoint = @endpoint AND state = 'dead') AS dead,
      (SELECT count(*) FROM inbox WHERE endpoint = @endpoint AND state = 'quarantined') AS quarantined`);
  // The oldest event that waits is the one that has been due for longest, or has failed and was
  // pushed back.
  const newestHashes = db.prepare<
    [number, number],
    { seq: number; endpoint: string; eventId: string; bodyHash: Buffer }
  >(
    "SELECT seq, endpoint, event_id AS eventId, body_hash AS bodyHash FROM inbox WHERE seq < ? ORDER BY seq DESC LIMIT ?",
  );
  const oldestReady = db.prepare<{ endpoint: string }, { dueAt: number; receivedAt: number }>(`
    SELECT min(due_at) AS dueAt, min(received_at, coalesce((SELECT received_at FROM inbox INDEXED BY inbox_failing
      WHERE endpoint = @endpoint AND state = 'ready' AND last_error IS NOT NULL ORDER BY seq LIMIT 1), received_at)) AS receivedAt
    FROM inbox WHERE endpoint = @endpoint AND state = 'ready' AND due_at < ${NEVER}`);
  /** Of those that wait in their lanes. */
  const oldestWaiting = db
    .prepare<[string], number>(
      `SELECT received_at FROM inbox WHERE endpoint = ? AND state = 'ready' AND due_at = ${NEVER} ORDER BY seq LIMIT 1`,
    )
    .pluck();
  const toNow = db.prepare<[number, number, number]>(
    "UPDATE inbox SET due_at = ?, ready_since = ? WHERE seq = ?",
  );
  // Each step finds the next endpoint in the index, so the events are not read.
  const endpoints = db
    .prepare<[], string>(
      `WITH RECURSIVE e(name) AS (
         SELECT min(endpoint) FROM inbox UNION ALL SELECT (SELECT min(endpoint) FROM inbox WHERE endpoint > e.name) FROM e WHERE e.name IS NOT NULL
       ) SELECT name FROM e WHERE name IS NOT NULL
       UNION ALL SELECT endpoint FROM inbox_report WHERE at / 1000 > unixepoch() - ${REPORT_KEPT_MS / 1000}`,
    )
    .pluck();
  const toReady = db.prepare(`
    UPDATE inbox SET event_id = @eventId, type = @type, subtype = @subtype, subject = @subject, state = 'ready',
      due_at = @now, ready_since = @now, attempts = 0, crashes = 0, replayed = 1,
      possibly_repeated = iif(state = 'done', 1, possibly_repeated), last_error = iif(burst IS NULL, last_error, NULL)
    WHERE seq = @seq`);
  const toDone = db.prepare("UPDATE inbox SET state = 'done', due_at = ? WHERE seq = ?");
  const dropPayload = db.prepare("UPDATE inbox SET has_payload = 0 WHERE seq = ?");
  const dropKey = db.prepare<[number]>("DELETE FROM inbox WHERE seq = ?");
  /** Where the prune of each endpoint continues. Both walks begin again when both have ended. */
  const walks = new Map<string, Record<keyof typeof START, number | null>>();
  const walkPayloads = prepareWalk(
    db,
    "inbox_body CROSS JOIN inbox NOT INDEXED USING (seq)",
    "has_payload = 1",
  );
  // The row with the largest `seq` is kept. Otherwise SQLite would use that number again, and a
  // reader that pages by `afterSeq` would skip the new event.
  const walkKeys = prepareWalk(
    db,
    "inbox NOT INDEXED",
    "has_payload = 0 AND seq < (SELECT max(seq) FROM inbox)",
  );

  function oldestReadyOf(endpoint: string, now: number): OldestReady {
    const { dueAt, receivedAt } = oldestReady.get({ endpoint }) as {
      dueAt: number | null;
      receivedAt: number;
    };
    const behind = oldestWaiting.get(endpoint);
    const ageOf = (at: number | null | undefined): number | null =>
      at == null ? null : Math.max(0, now - at);
    const received = dueAt === null ? behind : Math.min(receivedAt, behind ?? receivedAt);
    return { oldestReadyAgeMs: ageOf(dueAt), oldestReceivedAgeMs: ageOf(received) };
  }

  function payloadOf({ seq, receivedAt, sender }: WholeRow): Parameters<ReadAgain>[0] {
    const body = payloads.findBody(seq) ?? new Uint8Array();
    return { sender, received: payloads.findReceived(seq, receivedAt), body };
  }

  function replay(row: WholeRow, now: number, readAgain: ReadAgain): ReplayOutcome {
    const { seq, endpoint, eventId, attempts, bodyHash } = row;
    if (row.state === "ready" || row.state === "leased") return "wrong_state";
    if (row.hasPayload === 0) return "payload_gone";
    const mustRead = row.state === "quarantined" || row.type === "";
    const read: ReadEventFacts | null = mustRead ? readAgain(payloadOf(row)) : row;
    if (read === null) return "still_unusable";
    const { type, subtype, subject, ownId } = read;
    const sameId = findOne.get(endpoint, read.eventId) ?? row;
    const isOther = ownId !== undefined && !isSameEvent(sameId, { ...read, bodyHash });
    const realId = sameId.seq !== seq && isOther ? ownId : read.eventId;
    if (realId !== eventId && findOne.get(endpoint, realId) !== undefined) {
      toDone.run(now, seq);
      lanes.leave(seq, now);
      return "duplicate";
    }
    toReady.run({ eventId: realId, type, subtype, subject, now, seq });
    payloads.addStep(seq, { at: now, kind: "replayed", attempts, error: null });
    lanes.joined(seq, (mustRead && read.lane) || null, now);
    return "moved";
  }

  function retryNow({ state, dueAt, seq }: WholeRow, now: number): MoveOutcome {
    if (state !== "ready" || dueAt === NEVER) return "wrong_state";
    toNow.run(Math.min(dueAt, now), now, seq);
    return "moved";
  }

  function discard({ state, seq }: WholeRow, now: number): MoveOutcome {
    if (state === "ready" || state === "leased") return "wrong_state";
    if (state !== "done") toDone.run(now, seq);
    lanes.giveUp(seq, state === "done", now);
    drop(seq);
    return "moved";
  }

  function drop(seq: number): void {
    dropPayload.run(seq);
    payloads.drop(seq);
  }

  function moveEach<Outcome>(
    events: Parameters<InboxStore["discard"]>[0],
    nowAt: NowAt,
    move: (row: WholeRow, now: number) => Outcome,
  ) {
    return events.map(({ endpoint, eventId }) => {
      const row = findOne.get(endpoint, eventId);
      return row === undefined ? "not_found" : move(row, nowAt(endpoint));
    });
  }

  return {
    list({ endpoint, state, type, afterSeq = 0, limit = 100 }) {
      const wanted = ["seq > @afterSeq"];
      if (endpoint !== undefined) wanted.push("endpoint = @endpoint");
      if (type !== undefined) wanted.push("type = @type");
      // With an index on the endpoint, SQLite would read and sort all events of the endpoint for one
      // page.
      let from = "inbox NOT INDEXED";
      if (state !== undefined) {
        // A partial index is used only if the SQL contains the state, so the state is checked before
        // it is inserted.
        if (!EVENT_STATES.includes(state)) return [];
        wanted.push(`state = '${state}'`);
        // Nearly all events are done, so for these the table itself is read, which is in the order of
        // `seq`.
        if (state !== "done") from = `inbox INDEXED BY inbox_${state}`;
      }
      const sql = `SELECT ${ENTRY} FROM ${from} WHERE ${wanted.join(" AND ")} ORDER BY seq LIMIT @limit`;
      return listing(sql).all({ endpoint, type, afterSeq, limit }).map(entryOf);
    },
    endpoints: () => [...new Set(endpoints.all())].sort(),
    get(endpoint, eventId, mostBytes: number | undefined) {
      const row = findOne.get(endpoint, eventId);
      if (row === undefined) return undefined;
      const { bodyHash, hasPayload: _hasPayload, ...entry } = row;
      return {
        ...entryOf(entry),
        received: payloads.findReceived(row.seq, row.receivedAt),
        bodyHash,
        rawBody: payloads.findBody(row.seq, mostBytes) ?? null,
        history: payloads.findSteps(row.seq),
        ...lanes.placeOf(row.seq),
        earlierCount: row.state === "done" ? 0 : lanes.countEarlier(row.seq),
      };
    },
    stats(endpoint, nowAt) {
      const now = nowAt(endpoint);
      // What counted while the clock was ahead is not the last.
      const minute = Math.floor(now / MINUTE_MS);
      const counted = counts.get({ endpoint, minute }) as Counted;
      const { total, ready, leased, dead, quarantined, lastAcceptedAt } = counted;
      const done = total - ready - leased - dead - quarantined;
      const oldest = oldestReadyOf(endpoint, now);
      const inLanes = lanes.stats(endpoint);
      const states = { ready, leased, done, dead, quarantined, total };
      return { ...states, ...oldest, ...inLanes, lastAcceptedAt };
    },
    bodyHashes(endpoint, beforeSeq, limit) {
      const rows = newestHashes.all(beforeSeq, limit);
      const hashes = rows.filter((row) => row.endpoint === endpoint);
      return { hashes, nextBeforeSeq: rows[limit - 1]?.seq ?? null };
    },
    oldestReady: (endpoint, nowAt) => oldestReadyOf(endpoint, nowAt(endpoint)),
    activity: (endpoint, query, nowAt) => activity.find(endpoint, query, nowAt(endpoint)),
    replay: (events, readAgain, nowAt) =>
      moveEach(events, nowAt, (row, now) => replay(row, now, readAgain)),
    retryNow: (events, nowAt) => moveEach(events, nowAt, retryNow),
    discard: (events, nowAt) => moveEach(events, nowAt, discard),
    prune({ endpoint, payloadsOlderThanMs, keysOlderThanMs, limit }, nowAt) {
      const now = nowAt(endpoint);
      const walk = walks.get(endpoint) ?? START;
      const old = walkPayloads(walk.payloads, endpoint, payloadsOlderThanMs, now, limit);
      for (const { seq } of old.found) drop(seq);
      const keys = walkKeys(walk.keys, endpoint, keysOlderThanMs, now, limit);
      for (const { seq } of keys.found) {
        dropKey.run(seq);
        lanes.deleted(seq);
      }
      activity.prune(endpoint, limit, now);
      const isAtEnd = old.next === null && keys.next === null;
      walks.set(endpoint, isAtEnd ? START : { payloads: old.next, keys: keys.next });
      return { payloads: old.found.length, keys: keys.found.length, isAtEnd };
    },
    payloadSizes: (endpoint, from, limit, nowAt) =>
      payloads.sizes({ endpoint, from, limit, now: nowAt(endpoint) }),
  } satisfies Partial<Steps<keyof InboxStore>>;
}

export type Queries = ReturnType<typeof createQueries>;

const START = { payloads: 0, keys: 0 };
/** How many events a step of {@link prepareWalk} looks at. */
const LOOKED_AT = 1000;

/**
 * Finds old done events without an index, which each settlement would have to change. What is
 * deleted leaves the beginning of its table. So a walk begins there, at what cannot be deleted, and
 * ends where events were received too late to be old. The next one comes to what is done late, and
 * to old events that were imported behind young ones when those are old; with a saved position it
 * would be passed. A walk through the whole table, as in PostgreSQL, would take
 * days where many millions are kept.
 *
 * @param from begins with the table of the rows that will be deleted
 */
function prepareWalk(db: Database, from: string, condition: string) {
  const look = db.prepare<
    [string, number, number],
    { seq: number; receivedAt: number; isOld: number }
  >(
    `SELECT seq, received_at AS receivedAt, endpoint = ? AND state = 'done' AND due_at < ? AND ${condition}
       AND (burst IS NULL OR NOT EXISTS (SELECT 1 FROM inbox_burst b JOIN inbox n ON n.seq = b.newest
         WHERE b.id = inbox.burst AND n.state <> 'done')) AS isOld
     FROM ${from} WHERE seq >= ? ORDER BY seq LIMIT ${LOOKED_AT}`,
  );
  /** @param next where it continues, null at its end */
  return (next: number | null, endpoint: string, ageMs: number, now: number, limit: number) => {
    const before = now - ageMs;
    const rows = next === null ? [] : look.all(endpoint, before, next);
    const found = rows.filter(({ isOld }) => isOld === 1).slice(0, limit);
    if (found.length === limit) return { found, next };
    const { seq, receivedAt } = rows[LOOKED_AT - 1] ?? { seq: 0, receivedAt: now };
    // A time in the future says nothing: the clock was set back.
    const isAtEnd = receivedAt >= before && receivedAt <= now;
    return { found, next: isAtEnd ? null : seq + 1 };
  };
}
