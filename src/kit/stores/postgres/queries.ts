import type {
  BodyHashes,
  EventKey,
  MoveOutcome,
  PruneRequest,
  ReadAgain,
  ReplayOutcome,
} from "../../inbox/store.js";
import {
  DEFAULT_SENDER,
  REPORT_KEPT_MS,
  type InboxEntry,
  type ListQuery,
  type PastStep,
  type StoredEvent,
  type StoreStats,
} from "../../inbox/stored-events.js";
import { ENTRY, parseReceived } from "../rows.js";
import { storable } from "./commit.js";
import type { Run } from "./connection.js";

/** These may read many rows. */
const LONG_TIMEOUT_MS = 60_000;
/** So many numbers of rows one prune walks over: about 100 ms. */
const WALK = 100_000;
/** A larger number of done events is estimated, because counting 5 million rows takes a second. */
const MOST_COUNTED = 200_000;

/** Conditions that let an index find the events of a state; a `done` event has none. */
const IN_STATE = {
  ready: "queue_at IS NOT NULL",
  leased: "state = 'leased'",
  done: "state = 'done'",
  dead: "parked_at IS NOT NULL AND state = 'dead'",
  quarantined: "parked_at IS NOT NULL AND state = 'quarantined'",
};

/**
 * The operations on an inbox that are not on the path of a delivery.
 *
 * @param name the schema, quoted
 * @param operator for a tool, which has time: its `prune` ends with nothing only at the end of the
 * table
 */
export function createQueries(run: Run, name: string, operator: boolean) {
  /** Where the walk of `prune` continues, for each endpoint. */
  const walks = new Map<string, number>();

  async function countDone(endpoint: string): Promise<number> {
    type Explained = { "QUERY PLAN": [{ Plan: { "Plan Rows": number } }] };
    const inState = `FROM ${name}.inbox WHERE endpoint = $1 AND state = 'done'`;
    const [plan] = await run<Explained>(`EXPLAIN (FORMAT JSON) SELECT ${inState}`, [endpoint]);
    const estimated = plan?.["QUERY PLAN"][0].Plan["Plan Rows"] ?? 0;
    if (estimated > MOST_COUNTED) return estimated;
    const [row] = await run<{ n: number }>(
      `SELECT count(*) AS n ${inState}`,
      [endpoint],
      LONG_TIMEOUT_MS,
    );
    return row?.n ?? 0;
  }

  async function move(
    sqlFunction: "retry_now" | "discard",
    events: readonly EventKey[],
  ): Promise<MoveOutcome[]> {
    const [row] = await run<{ outcomes: MoveOutcome[] }>(
      `SELECT to_json(${name}.${sqlFunction}($1, $2)) AS outcomes`,
      [events.map(({ endpoint }) => endpoint), events.map(({ eventId }) => storable(eventId))],
    );
    return (row as { outcomes: MoveOutcome[] }).outcomes;
  }

  return {
    list({ endpoint, state, type, afterSeq = 0, limit = 100 }: ListQuery): Promise<InboxEntry[]> {
      const conditions = ["seq > $1"];
      const values: unknown[] = [afterSeq, limit];
      if (endpoint !== undefined) conditions.push(`endpoint = $${values.push(endpoint)}`);
      if (type !== undefined) conditions.push(`type = $${values.push(storable(type))}`);
      if (state !== undefined) conditions.push(IN_STATE[state]);
      const sql = `SELECT ${ENTRY} FROM ${name}.inbox WHERE ${conditions.join(" AND ")} ORDER BY seq LIMIT $2`;
      return run(sql, values, LONG_TIMEOUT_MS);
    },
    async endpoints(): Promise<string[]> {
      // Each step finds the next endpoint in the index, so the events are not read.
      const next = `SELECT endpoint FROM ${name}.inbox`;
      const first = "ORDER BY endpoint, event_id LIMIT 1";
      const rows = await run<{ name: string }>(
        `WITH RECURSIVE e(name) AS (SELECT (${next} ${first}) UNION ALL
           SELECT (${next} WHERE endpoint > e.name ${first}) FROM e WHERE e.name IS NOT NULL)
         SELECT name FROM e WHERE name IS NOT NULL
         UNION SELECT endpoint FROM ${name}.inbox_report WHERE at > ${name}.now_ms() - ${REPORT_KEPT_MS} ORDER BY name`,
        [],
      );
      return rows.map((row) => row.name);
    },
    async bodyHashes(endpoint: string, beforeSeq: number, limit: number): Promise<BodyHashes> {
      const rows = await run<{ seq: number; hash: Buffer | null }>(
        `SELECT seq, CASE WHEN endpoint = $1 THEN body_hash END AS hash FROM ${name}.inbox WHERE seq < $2 ORDER BY seq DESC LIMIT $3`,
        [endpoint, beforeSeq, limit],
      );
      return {
        hashes: rows.flatMap(({ hash }) => hash ?? []),
        nextBeforeSeq: rows[limit - 1]?.seq ?? null,
      };
    },
    async get(endpoint: string, eventId: string): Promise<StoredEvent | undefined> {
      type Row = InboxEntry & {
        bodyHash: Buffer;
        received: string | null;
        rawBody: Buffer | null;
        history: PastStep[];
      };
      const [row] = await run<Row>(
        `SELECT ${ENTRY}, body_hash AS "bodyHash", received, body AS "rawBody",
           (SELECT coalesce(json_agg(json_build_object('at', h.at, 'kind', h.kind, 'attempts', h.attempts, 'error', h.error)
              ORDER BY h.step), '[]') FROM ${name}.inbox_history h WHERE h.seq = inbox.seq) AS history
         FROM ${name}.inbox LEFT JOIN ${name}.inbox_body USING (seq) WHERE endpoint = $1 AND event_id = $2`,
        [endpoint, storable(eventId)],
      );
      if (row === undefined) return undefined;
      return { ...row, received: parseReceived(row.received, row.receivedAt) };
    },
    async stats(endpoint: string): Promise<StoreStats> {
      // The dead and the quarantined ones share an index, and each stands on another page.
      type Counts = Omit<StoreStats, "done" | "total">;
      const [row] = await run<Counts>(
        `SELECT (SELECT count(*) FROM ${name}.inbox WHERE endpoint = $1 AND ${IN_STATE.ready}) AS ready, dead, quarantined,
          (SELECT count(*) FROM ${name}.inbox_owner o,
             ${name}.leased_to(o.id, o.low_seq, (SELECT last_value + 1 FROM ${name}.inbox_seq_seq))
           WHERE o.endpoint = $1) AS leased,
          ${name}.oldest_ready_age($1) AS "oldestReadyAgeMs", ${name}.oldest_received_age($1) AS "oldestReceivedAgeMs"
         FROM (
           SELECT count(*) FILTER (WHERE state = 'dead') AS dead, count(*) FILTER (WHERE state = 'quarantined') AS quarantined
           FROM ${name}.inbox WHERE endpoint = $1 AND parked_at IS NOT NULL) AS parked`,
        [endpoint],
        LONG_TIMEOUT_MS,
      );
      const done = await countDone(endpoint);
      const counts = row as Counts;
      const total = counts.ready + counts.leased + counts.dead + counts.quarantined + done;
      return { ...counts, done, total };
    },
    async replay(events: readonly EventKey[], readAgain: ReadAgain): Promise<ReplayOutcome[]> {
      const endpoints = events.map(({ endpoint }) => endpoint);
      const ids = events.map(({ eventId }) => storable(eventId));
      type Read = Exclude<ReturnType<ReadAgain>, null>;
      type Row = Omit<Read, "eventId" | "ownId"> & {
        n: number;
        sender: string;
        receivedAt: number;
        received: string | null;
        /** Null for an event that need not be read again. */
        body: Buffer | null;
      };
      const rows = await run<Row>(
        `SELECT e.n, i.type, i.subtype, i.subject, coalesce(i.sender, '${DEFAULT_SENDER}') AS sender, i.received_at AS "receivedAt",
           b.received, CASE WHEN i.state = 'quarantined' OR i.type = '' THEN b.body END AS body
         FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS e(endpoint, id, n)
         JOIN ${name}.inbox i ON i.endpoint = e.endpoint AND i.event_id = e.id LEFT JOIN ${name}.inbox_body b USING (seq)`,
        [endpoints, ids],
      );
      const read: (Read | null)[] = events.map(() => null);
      for (const { n, type, subtype, subject, sender, receivedAt, received, body } of rows) {
        read[n - 1] =
          body === null
            ? { eventId: ids[n - 1] as string, type, subtype, subject }
            : readAgain({ sender, received: parseReceived(received, receivedAt), body });
      }
      const values = [
        endpoints,
        ids,
        read.map((each) => each?.eventId ?? null),
        read.map((each) => each?.type ?? null),
        read.map((each) => each?.subtype ?? null),
        read.map((each) => each?.subject ?? null),
        read.map((each) => each?.ownId ?? null),
      ];
      const [row] = await run<{ outcomes: ReplayOutcome[] }>(
        `SELECT to_json(${name}.replay($1, $2, $3, $4, $5, $6, $7)) AS outcomes`,
        values,
      );
      return (row as { outcomes: ReplayOutcome[] }).outcomes;
    },
    retryNow: (events: readonly EventKey[]) => move("retry_now", events),
    discard: (events: readonly EventKey[]) => move("discard", events),
    async prune({ endpoint, payloadsOlderThanMs, keysOlderThanMs, limit }: PruneRequest) {
      for (;;) {
        const [row] = await run<{ payloads: number; keys: number; next_seq: number | null }>(
          `SELECT * FROM ${name}.prune($1, $2, $3, $4, $5, $6)`,
          [endpoint, walks.get(endpoint) ?? 0, WALK, payloadsOlderThanMs, keysOlderThanMs, limit],
          LONG_TIMEOUT_MS,
        );
        const { payloads = 0, keys = 0, next_seq: next = null } = row ?? {};
        walks.set(endpoint, next ?? 0);
        if (!operator || payloads + keys > 0 || next === null) return { payloads, keys };
      }
    },
  };
}

export type Queries = ReturnType<typeof createQueries>;
