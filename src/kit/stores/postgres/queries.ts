import { ignore } from "../../../base/errors.js";
import { MINUTE_MS } from "../../../base/time/units.js";
import type { EventKey, InboxStore, ReadAgain } from "../../inbox/store.js";
import {
  DEFAULT_SENDER,
  NEVER,
  FAILED_AT_ONCE,
  FAILED_ERROR_LENGTH,
  MOST_REPORTS,
  REPORT_KEPT_MS,
  addActivity,
  noActivity,
  type Activity,
  type ActivityCounts,
  type FailedEvent,
  type InboxEntry,
  type MoveOutcome,
  type PastStep,
  type PlacedLane,
  type ReplayOutcome,
  type StoredReport,
  type StoreStats,
} from "../../inbox/stored-events.js";
import {
  activityOf,
  ADD_MINUTE,
  ENTRY,
  IF_KEPT,
  MINUTE_COLUMNS,
  MINUTE_SUMS,
  parseReceived,
} from "../rows.js";
import { HEAD, IN_SCHEMA, WAITING } from "./commit-functions.js";
import { storable } from "./commit.js";
import type { Run } from "./connection.js";
import { DEAD_AFTER_MS } from "./owner-functions.js";

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

/** Of those that have an error. */
const FAILING = {
  // A replayed event has failed only when it has failed again.
  ready: `${IN_STATE.ready} AND (attempts > 0 OR crashes > 1)`,
  dead: IN_STATE.dead,
};

/** The operations of the port that queries are, all beside the path of a delivery. */
export const QUERIES = [
  "list",
  "endpoints",
  "get",
  "stats",
  "failing",
  "bodyHashes",
  "hasReceiver",
  "saveReport",
  "reports",
  "alarms",
  "setAlarm",
  "replay",
  "retryNow",
  "discard",
  "erase",
  "unblock",
  "tendLanes",
  "prune",
  "payloadSizes",
] as const;

export type Queries = Pick<InboxStore, (typeof QUERIES)[number] | "activity">;

/**
 * @param name the schema, quoted
 * @param operator for a tool, which has time: its `prune` ends with nothing only at the end of the
 * table
 */
export function createQueries(run: Run, name: string, operator: boolean): Queries {
  /** Where the walk of `prune` continues, for each endpoint. */
  const walks = new Map<string, number>();
  /** Where that of `tendLanes` does. */
  const tendedTo = new Map<string, Buffer>();

  /** How many events of the endpoint `$1` wait behind an event. */
  const heldBy = (event: string): string =>
    `(SELECT count(*) FROM ${name}.inbox_lane h JOIN ${name}.inbox_lane w
        ON w.endpoint = h.endpoint AND w.lane = h.lane AND w.place = ${WAITING}
      WHERE h.endpoint = $1 AND h.lane = ${event}.lane AND h.place = ${HEAD} AND h.seq = ${event}.seq)`;

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

  /** Calls the function of a move. */
  async function move<Outcome extends ReplayOutcome = MoveOutcome>(
    sqlFunction: string,
    values: unknown[],
  ): Promise<Outcome[]> {
    const [row] = await run<{ outcomes: Outcome[] }>(
      `SELECT to_json(${name}.${sqlFunction}) AS outcomes`,
      values,
    );
    return (row as { outcomes: Outcome[] }).outcomes;
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
      type Row = InboxEntry & {
        bodyHash: Buffer;
        received: string | null;
        rawBody: Buffer | null;
        history: PastStep[];
        waitsBehind: string | null;
        heldCount: number;
        lane: PlacedLane | null;
        earlierCount: number;
      };
      const [row] = await run<Row>(
        `SELECT ${ENTRY}, body_hash AS "bodyHash", received,
           CASE WHEN octet_length(body) <= $3::bigint THEN body END AS "rawBody",
           (SELECT coalesce(json_agg(json_build_object('at', h.at, 'kind', h.kind, 'attempts', h.attempts, 'error', h.error)
              ORDER BY h.step), '[]') FROM ${name}.inbox_history h WHERE h.seq = inbox.seq) AS history,
           CASE WHEN due_at = ${NEVER} THEN (SELECT head.event_id FROM ${name}.inbox_lane h JOIN ${name}.inbox head ON head.seq = h.seq
             WHERE h.endpoint = $1 AND h.lane = inbox.lane AND h.place = ${HEAD} LIMIT 1) END AS "waitsBehind",
           ${heldBy("inbox")} AS "heldCount",
           CASE WHEN lane IS NOT NULL THEN json_build_object('key', encode(lane, 'hex'), 'skips', lane_skips, 'place',
             CASE (SELECT place FROM ${name}.inbox_lane l WHERE l.endpoint = $1 AND l.lane = inbox.lane AND l.seq = inbox.seq
               AND l.place IN (${HEAD}, ${WAITING})) WHEN ${HEAD} THEN 'head' WHEN ${WAITING} THEN 'waiting' END) END AS lane,
           coalesce((SELECT b.earlier FROM ${name}.inbox_burst b WHERE b.newest = inbox.seq), 0) AS "earlierCount"
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
    async replay(events, readAgain) {
      const [endpoints, ids] = keysOf(events);
      type Read = NonNullable<ReturnType<ReadAgain>>;
      type Row = Omit<Read, "eventId" | "ownId" | "lane"> & {
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
      const facts = ["eventId", "type", "subtype", "subject", "ownId"] as const;
      const columns = facts.map((fact) => read.map((each) => each?.[fact] ?? null));
      const lanes = read.map((each) => each?.lane ?? null);
      const keys = lanes.map((lane) =>
        lane === null ? null : Buffer.from(lane.key).toString("hex"),
      );
      return move("replay($1, $2, $3, $4, $5, $6, $7, $8, $9)", [
        endpoints,
        ids,
        ...columns,
        keys,
        lanes.some((lane) => lane?.skips),
      ]);
    },
    retryNow: (events) => move("retry_now($1, $2)", keysOf(events)),
    discard: (events) => move("discard($1, $2)", keysOf(events)),
    erase: (events, hidden) => move("erase($1, $2, $3)", [...keysOf(events), hidden]),
    async unblock(endpoint, key) {
      const [row] = await run<{ found: boolean }>(`SELECT ${name}.unblock($1, $2) AS found`, [
        endpoint,
        Buffer.from(key),
      ]);
      return row?.found ?? false;
    },
    async tendLanes(endpoint, ordered) {
      type Row = { promoted: number; next: Buffer | null; waiting: number | null };
      const [row] = await run<Row>(`SELECT * FROM ${name}.tend_lanes($1, $2, $3)`, [
        endpoint,
        ordered,
        tendedTo.get(endpoint) ?? Buffer.alloc(0),
      ]);
      const { promoted = 0, next = null, waiting = null } = row ?? {};
      if (next === null) tendedTo.delete(endpoint);
      else tendedTo.set(endpoint, next);
      return { promoted, isAtEnd: next === null, waiting: waiting ?? undefined };
    },
    async prune({ endpoint, payloadsOlderThanMs, keysOlderThanMs, limit }) {
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
    payloadSizes: (endpoint, from, limit) =>
      run(
        `SELECT seq, ${name}.now_ms() - due_at AS "ageMs",
           CASE WHEN endpoint = $1 AND state = 'done' THEN octet_length(body) + octet_length(received) ELSE 0 END AS bytes
         FROM ${name}.inbox i JOIN ${name}.inbox_body b USING (seq) WHERE i.seq >= $2 AND b.seq >= $2 ORDER BY seq LIMIT $3`,
        [endpoint, from, limit],
        LONG_TIMEOUT_MS,
      ),
    failing: (endpoint, state, beforeSeq) =>
      run<FailedEvent>(
        `SELECT seq, event_id AS "eventId", state, subject, left(last_error, ${FAILED_ERROR_LENGTH}) AS "lastError",
           coalesce(first_at, received_at) AS "firstFailedAt", coalesce(last_at, received_at) AS "lastFailedAt", ${heldBy("failed")} AS "heldCount"
         FROM (SELECT * FROM ${name}.inbox WHERE endpoint = $1 AND last_error IS NOT NULL AND ${FAILING[state]} AND seq < $2
               ORDER BY seq DESC LIMIT ${FAILED_AT_ONCE}) AS failed,
           LATERAL (SELECT min(at) AS first_at, max(at) AS last_at FROM ${name}.inbox_history h
             WHERE h.seq = failed.seq AND kind <> 'replayed') AS steps
         ORDER BY seq DESC`,
        [endpoint, beforeSeq],
      ),
    async hasReceiver(endpoint) {
      const [row] = await run<{ found: boolean }>(
        `SELECT EXISTS (SELECT FROM ${name}.inbox_owner
           WHERE endpoint = $1 AND beat_at > ${name}.now_ms() - ${DEAD_AFTER_MS}) AS found`,
        [endpoint],
      );
      return row?.found ?? false;
    },
    async saveReport(endpoint, reporter, report, isKnown = false) {
      const saved = await run(
        `INSERT INTO ${name}.inbox_report (endpoint, reporter, at, report)
         SELECT $1, $2, ${name}.now_ms(), $3
         WHERE NOT $4 OR EXISTS (SELECT FROM ${name}.inbox_report WHERE endpoint = $1 AND reporter = $2)
         ON CONFLICT (endpoint, reporter) DO UPDATE SET at = excluded.at, report = excluded.report RETURNING 1`,
        [endpoint, reporter, report, isKnown],
      );
      await run(
        `DELETE FROM ${name}.inbox_report WHERE endpoint = $1 AND (at < ${name}.now_ms() - ${REPORT_KEPT_MS} OR reporter NOT IN
           (SELECT reporter FROM ${name}.inbox_report WHERE endpoint = $1 ORDER BY at DESC LIMIT ${MOST_REPORTS}))`,
        [endpoint],
      );
      return saved.length > 0;
    },
    reports: (endpoint) =>
      run<StoredReport>(
        `SELECT at, report FROM ${name}.inbox_report WHERE endpoint = $1 ORDER BY at DESC`,
        [endpoint],
      ),
    alarms: (endpoint) =>
      run(`SELECT kind, state FROM ${name}.inbox_alarm WHERE endpoint = $1`, [endpoint]),
    async setAlarm(endpoint, kind, before, after) {
      const changed = await run(
        `INSERT INTO ${name}.inbox_alarm VALUES ($1, $2, $3) ${IF_KEPT} $4 RETURNING 1`,
        [endpoint, kind, after, before],
      );
      return changed.length > 0;
    },
    async activity(endpoint, { minutes, spans }) {
      const rows = await run<{ at: number; sums: number[] }>(
        `SELECT minute - minute % $2 AS at, json_build_array(${MINUTE_SUMS}) AS sums
     FROM ${name}.inbox_minute
     WHERE endpoint = $1 AND minute >= (SELECT now - now % $2 - ($3 - 1) * $2 FROM ${name}.now_ms() AS now)
       AND minute <= ${name}.now_ms()
     GROUP BY 1 ORDER BY 1`,
        [endpoint, minutes * MINUTE_MS, spans],
      );
      return rows.map(({ at, sums }) => activityOf(at, sums));
    },
  };
}

/** The endpoints and ids of events, as two arrays. */
function keysOf(events: readonly EventKey[]): [endpoints: string[], ids: (string | null)[]] {
  return [events.map(({ endpoint }) => endpoint), events.map(({ eventId }) => storable(eventId))];
}

/** How long counts wait, so that a commit that follows another soon writes none. */
const ADD_AFTER_MS = 1000;
const LAST_TIMEOUT_MS = 2000;

// A lost sum is no harm, so it needs no sync. The minutes are in one order for all processes, which
// would deadlock otherwise.
export const ACTIVITY_FUNCTION = `
  CREATE OR REPLACE FUNCTION add_activity(p_endpoint text, p_sums json) RETURNS void
  LANGUAGE plpgsql ${IN_SCHEMA} AS $$
  BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    INSERT INTO inbox_minute (endpoint, minute, ${MINUTE_COLUMNS.join(", ")})
    SELECT p_endpoint, s.at, s.accepted, s."handedOff", s.failed, coalesce(s.ignored, 0),
      ${noActivity()
        .durations.map((_, index) => `coalesce(s.durations[${index + 1}], 0)`)
        .join(", ")}
    FROM json_to_recordset(p_sums)
      AS s(at bigint, accepted bigint, "handedOff" bigint, failed bigint, ignored bigint, durations bigint[])
    ORDER BY s.at
    ON CONFLICT (endpoint, minute) DO UPDATE SET ${ADD_MINUTE};
  END $$;
`;

/**
 * Counts what the commits of this process did, and adds the sums to the database about once a
 * second. A row that each commit updated would be locked by it, and while a long transaction keeps
 * dead rows, each commit would have to pass all of them.
 *
 * @param name the schema, quoted
 */
export function createActivityCounter(run: Run, name: string, endpoint: string) {
  /** By minute. */
  let sums = new Map<number, ActivityCounts & { at: number }>();
  let adding: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  /** @param counts of one commit; `at` is its minute */
  function count({ at, ...counts }: Activity): void {
    if (counts.accepted + counts.handedOff + counts.failed === 0) return;
    sums.set(at, addActivity(sums.get(at) ?? { at, ...noActivity() }, counts));
    timer ??= setTimeout(() => {
      timer = undefined;
      add().catch(ignore);
    }, ADD_AFTER_MS).unref();
  }

  function add(timeoutMs?: number): Promise<void> {
    const added = adding.then(async () => {
      if (sums.size === 0) return;
      const taken = sums;
      sums = new Map();
      const values = [endpoint, JSON.stringify([...taken.values()])];
      try {
        await run(`SELECT ${name}.add_activity($1, $2)`, values, timeoutMs);
      } catch (error) {
        taken.forEach(count);
        throw error;
      }
    });
    adding = added.catch(ignore);
    return added;
  }

  return {
    count,
    /** Adds what was counted until now. */
    add: () => add(),
    async close(): Promise<void> {
      await add(LAST_TIMEOUT_MS).catch(ignore);
      clearTimeout(timer);
    },
  };
}

export type ActivityCounter = ReturnType<typeof createActivityCounter>;
