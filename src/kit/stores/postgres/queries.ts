import { NEVER, type StoredEvent, type StoreStats } from "../../inbox/stored-events.js";
import { REPORT_KEPT_MS } from "../../inbox/situation/trouble.js";
import type { InboxStore } from "../../inbox/store.js";
import { ENTRY, parseReceived } from "../rows.js";
import { HEAD, WAITING } from "./commit-functions.js";
import { storable } from "./commit.js";
import type { Run } from "./connection.js";

/** These may read many rows. */
export const LONG_TIMEOUT_MS = 60_000;
/** A larger number of done events is estimated, because counting 5 million rows takes a second. */
const MOST_COUNTED = 200_000;

/** Conditions that let an index find the events of a state; a `done` event has none. */
export const IN_STATE = {
  ready: "queue_at IS NOT NULL",
  leased: "state = 'leased'",
  done: "state = 'done'",
  dead: "parked_at IS NOT NULL AND state = 'dead'",
  quarantined: "parked_at IS NOT NULL AND state = 'quarantined'",
};

/** How many events of the endpoint `$1` wait behind an event. */
export const heldBy = (name: string, event: string): string =>
  `(SELECT count(*) FROM ${name}.inbox_lane h JOIN ${name}.inbox_lane w
      ON w.endpoint = h.endpoint AND w.lane = h.lane AND w.place = ${WAITING}
    WHERE h.endpoint = $1 AND h.lane = ${event}.lane AND h.place = ${HEAD} AND h.seq = ${event}.seq)`;

/**
 * What is read of events.
 *
 * @param name the schema, quoted
 */
export function createQueries(run: Run, name: string) {
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

  return {
    list({ endpoint, state, type, afterSeq = 0, limit = 100 }) {
      const conditions = ["seq > $1"];
      const values: unknown[] = [afterSeq, limit];
      if (endpoint !== undefined) conditions.push(`endpoint = $${values.push(endpoint)}`);
      if (type !== undefined) conditions.push(`type = $${values.push(storable(type))}`);
      if (state !== undefined) conditions.push(IN_STATE[state]);
      const sql = `SELECT ${ENTRY} FROM ${name}.inbox WHERE ${conditions.join(" AND ")} ORDER BY seq LIMIT $2`;
      return run(sql, values, LONG_TIMEOUT_MS);
    },
    async endpoints() {
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
    async bodyHashes(endpoint, beforeSeq, limit) {
      const rows = await run<{ seq: number; endpoint: string; eventId: string; bodyHash: Buffer }>(
        `SELECT seq, endpoint, event_id AS "eventId", body_hash AS "bodyHash" FROM ${name}.inbox WHERE seq < $1 ORDER BY seq DESC LIMIT $2`,
        [beforeSeq, limit],
      );
      return {
        hashes: rows.filter((row) => row.endpoint === endpoint),
        nextBeforeSeq: rows[limit - 1]?.seq ?? null,
      };
    },
    async get(endpoint, eventId, mostBytes = Number.MAX_SAFE_INTEGER) {
      type Row = Omit<StoredEvent, "received"> & { received: string | null };
      const [row] = await run<Row>(
        `SELECT ${ENTRY}, body_hash AS "bodyHash", received,
           CASE WHEN octet_length(body) <= $3::bigint THEN body END AS "rawBody",
           (SELECT coalesce(json_agg(json_build_object('at', h.at, 'kind', h.kind, 'attempts', h.attempts, 'error', h.error)
              ORDER BY h.step), '[]') FROM ${name}.inbox_history h WHERE h.seq = inbox.seq) AS history,
           CASE WHEN due_at = ${NEVER} THEN (SELECT head.event_id FROM ${name}.inbox_lane h JOIN ${name}.inbox head ON head.seq = h.seq
             WHERE h.endpoint = $1 AND h.lane = inbox.lane AND h.place = ${HEAD} LIMIT 1) END AS "waitsBehind",
           ${heldBy(name, "inbox")} AS "heldCount",
           CASE WHEN lane IS NOT NULL THEN json_build_object('key', encode(lane, 'hex'), 'skips', lane_skips, 'place',
             CASE (SELECT place FROM ${name}.inbox_lane l WHERE l.endpoint = $1 AND l.lane = inbox.lane AND l.seq = inbox.seq
               AND l.place IN (${HEAD}, ${WAITING})) WHEN ${HEAD} THEN 'head' WHEN ${WAITING} THEN 'waiting' END) END AS lane,
           coalesce((SELECT b.earlier FROM ${name}.inbox_burst b WHERE b.newest = inbox.seq AND state <> 'done'), 0) AS "earlierCount"
         FROM ${name}.inbox LEFT JOIN ${name}.inbox_body USING (seq) WHERE endpoint = $1 AND event_id = $2`,
        [endpoint, storable(eventId), mostBytes],
      );
      if (row === undefined) return undefined;
      return { ...row, received: parseReceived(row.received, row.receivedAt) };
    },
    async stats(endpoint) {
      // The dead and the quarantined ones share an index, and each stands on another page.
      type Counts = Omit<StoreStats, "done" | "total">;
      const [row] = await run<Counts>(
        `SELECT (SELECT count(*) FROM ${name}.inbox WHERE endpoint = $1 AND ${IN_STATE.ready}) AS ready, dead, quarantined,
          (SELECT count(*) FROM ${name}.inbox_lane WHERE endpoint = $1 AND place = ${WAITING}) AS waiting,
          (SELECT json_build_object('eventId', event_id, 'since', parked_at, 'count', count) FROM (
             SELECT i.event_id, i.parked_at, (SELECT count(*) FROM ${name}.inbox_lane w
               WHERE w.endpoint = $1 AND w.lane = h.lane AND w.place = ${WAITING}) AS count
             FROM ${name}.inbox i JOIN ${name}.inbox_lane h ON h.endpoint = $1 AND h.lane = i.lane AND h.place = ${HEAD} AND h.seq = i.seq
             WHERE i.endpoint = $1 AND ${IN_STATE.dead} ORDER BY i.seq) AS heads
           WHERE count > 0 LIMIT 1) AS blocking,
          (SELECT count(*) FROM ${name}.inbox_owner o,
             ${name}.leased_to(o.id, o.low_seq, (SELECT last_value + 1 FROM ${name}.inbox_seq_seq))
           WHERE o.endpoint = $1) AS leased,
          (SELECT max(minute) FROM ${name}.inbox_minute WHERE endpoint = $1 AND accepted > 0
             AND minute <= ${name}.now_ms()) AS "lastAcceptedAt",
          ${name}.oldest_ready_age($1) AS "oldestReadyAgeMs", ${name}.oldest_received_age($1) AS "oldestReceivedAgeMs"
         FROM (
           SELECT count(*) FILTER (WHERE state = 'dead') AS dead, count(*) FILTER (WHERE state = 'quarantined') AS quarantined
           FROM ${name}.inbox WHERE endpoint = $1 AND parked_at IS NOT NULL) AS parked`,
        [endpoint],
        LONG_TIMEOUT_MS,
      );
      const done = await countDone(endpoint);
      const { waiting, blocking, lastAcceptedAt, ...counts } = row as Counts;
      const total = counts.ready + counts.leased + counts.dead + counts.quarantined + done;
      return { ...counts, done, total, waiting, blocking, lastAcceptedAt };
    },
  } satisfies Partial<InboxStore>;
}
