import { NEVER } from "../../inbox/stored-events.js";
import { BY_INDEX, HEAD, IN_SCHEMA, SYNC, WAITING } from "./commit-functions.js";

/** From so many lanes on a commit locks all: each lock takes a place in a table of the server. */
const MOST_LOCKS = 64;
/** How many lanes, or events of lanes, are looked at in one transaction. */
const TENDED_AT_ONCE = 500;

// Whoever reads or changes the places of a lane holds its lock until the end of the transaction.
// Otherwise one process would end the head of a lane while another adds an event behind it: that
// event would wait for good; or both would make a head. Each transaction locks its lanes once, in one
// order, before it locks any event, so that none can deadlock. An import locks none: no receiver may
// run beside it.
const LOCK_LANES = `
  CREATE OR REPLACE FUNCTION lock_lanes(p_lanes bytea[]) RETURNS void
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  DECLARE
    v_all int := 'inbox_lane'::regclass::oid::bigint::bit(32)::int;
    v_class int := 'inbox_lane_pkey'::regclass::oid::bigint::bit(32)::int;
  BEGIN
    IF cardinality(p_lanes) > ${MOST_LOCKS} THEN
      PERFORM pg_advisory_xact_lock(v_all, 0);
    ELSIF cardinality(p_lanes) > 0 THEN
      PERFORM pg_advisory_xact_lock_shared(v_all, 0);
      PERFORM pg_advisory_xact_lock(v_class, key)
      FROM (SELECT DISTINCT hashtext(encode(lane, 'hex')) AS key FROM unnest(p_lanes) AS l(lane) ORDER BY 1) AS keys;
    END IF;
  END $$;
`;

// The first row of each lane, if it is at this place. Each is looked up by its key, whatever PostgreSQL
// knows of the table: where it was small when it was analyzed, a join read all that waits for each commit.
const firstAt = (place: number): string => `l.ctid = ANY (ARRAY(
        SELECT first.ctid FROM (SELECT DISTINCT lane FROM unnest(p_lanes) AS given(lane)) AS given, LATERAL (
          SELECT ctid, place FROM inbox_lane WHERE endpoint = p_endpoint AND lane = given.lane
          ORDER BY place, seq LIMIT 1) AS first
        WHERE first.place = ${place}))`;

// The caller has locked the lanes. A head that has ended leaves its lane, and the event with the
// smallest seq takes its place. What decides is the state of the rows, so this can be called at any
// time. The events of p_new are leased to the caller if they become the head.
const PROMOTE = `
  CREATE OR REPLACE FUNCTION promote(
    p_now bigint, p_endpoint text, p_lanes bytea[], p_new bigint[] DEFAULT '{}', p_lease bigint DEFAULT 0,
    p_owner int DEFAULT NULL, p_token int DEFAULT NULL
  ) RETURNS bigint[] -- the new heads
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  DECLARE
    v_ended bigint[];
    v_heads bigint[];
  BEGIN
    WITH ended AS (
      DELETE FROM inbox_lane l
      WHERE ${firstAt(HEAD)}
        AND coalesce((SELECT i.state = 'done' OR (i.state = 'dead' AND i.lane_skips) FROM inbox i WHERE i.seq = l.seq), true)
      RETURNING l.seq
    )
    SELECT array_agg(seq) INTO v_ended FROM ended;
    IF v_ended IS NOT NULL THEN
      DELETE FROM inbox_burst b
      WHERE b.newest = ANY (v_ended) AND NOT EXISTS (SELECT FROM inbox i WHERE i.seq = b.newest AND i.state <> 'done');
    END IF;
    WITH heads AS (
      UPDATE inbox_lane l SET place = ${HEAD}
      WHERE ${firstAt(WAITING)}
      RETURNING l.seq
    )
    SELECT coalesce(array_agg(seq), '{}') INTO v_heads FROM heads;
    UPDATE inbox SET
      state = CASE WHEN seq = ANY (p_new) THEN 'leased' ELSE state END,
      token = CASE WHEN seq = ANY (p_new) THEN p_token ELSE token END,
      owner = CASE WHEN seq = ANY (p_new) THEN p_owner ELSE owner END,
      due_at = CASE WHEN seq = ANY (p_new) THEN p_now + p_lease ELSE d.due END,
      queue_at = CASE WHEN seq = ANY (p_new) THEN NULL ELSE d.due END
    FROM (SELECT head, greatest(p_now, (SELECT b.until FROM inbox_burst b WHERE b.newest = head)) AS due
      FROM unnest(v_heads) AS h(head)) AS d
    WHERE seq = d.head AND state = 'ready';
    RETURN v_heads;
  END $$;
`;

const UNBLOCK = `
  CREATE OR REPLACE FUNCTION unblock(p_endpoint text, p_lane bytea) RETURNS boolean
  LANGUAGE plpgsql ${IN_SCHEMA} AS $$
  DECLARE
    v_wasBlocked boolean;
  BEGIN
    ${SYNC}
    PERFORM lock_lanes(ARRAY[p_lane]);
    DELETE FROM inbox_lane l
    WHERE l.endpoint = p_endpoint AND l.lane = p_lane AND l.place = ${HEAD}
      AND (SELECT i.state FROM inbox i WHERE i.seq = l.seq) = 'dead';
    v_wasBlocked := FOUND;
    PERFORM promote(now_ms(), p_endpoint, ARRAY[p_lane]);
    RETURN v_wasBlocked;
  END $$;
`;

// Where a head has ended, nothing could promote: "complete", a sweep, or a process of an older
// version. Each step finds the next lane in the index.
const TEND_LANES = `
  CREATE OR REPLACE FUNCTION tend_lanes(p_endpoint text, p_ordered boolean, p_after bytea, OUT promoted int, OUT next bytea, OUT waiting int)
  LANGUAGE plpgsql ${IN_SCHEMA} AS $$
  DECLARE
    v_lanes bytea[];
    v_ended bytea[];
    v_seqs bigint[];
  BEGIN
    IF p_ordered THEN
      v_lanes := ARRAY(
        WITH RECURSIVE e(lane, n) AS (
          SELECT p_after, 0
          UNION ALL
          SELECT (SELECT l.lane FROM inbox_lane l WHERE l.endpoint = p_endpoint AND l.lane > e.lane
            ORDER BY l.lane LIMIT 1), n + 1
          FROM e WHERE e.lane IS NOT NULL AND n < ${TENDED_AT_ONCE})
        SELECT lane FROM e WHERE n > 0 AND lane IS NOT NULL ORDER BY n);
      v_ended := ARRAY(
        SELECT lane FROM unnest(v_lanes) AS l(lane)
        WHERE (SELECT i.state IN ('ready', 'leased') OR (i.state = 'dead' AND NOT i.lane_skips)
          FROM inbox_lane h LEFT JOIN inbox i ON i.seq = h.seq
          WHERE h.endpoint = p_endpoint AND h.lane = l.lane AND h.place = ${HEAD} LIMIT 1) IS NOT TRUE);
      PERFORM lock_lanes(v_ended);
      promoted := cardinality(promote(now_ms(), p_endpoint, v_ended));
      next := v_lanes[${TENDED_AT_ONCE}];
    ELSE
      v_lanes := ARRAY(SELECT DISTINCT lane FROM (
        SELECT lane FROM inbox_lane WHERE endpoint = p_endpoint ORDER BY lane, place, seq LIMIT ${TENDED_AT_ONCE}) AS placed);
      PERFORM lock_lanes(v_lanes);
      WITH gone AS (
        DELETE FROM inbox_lane l WHERE l.ctid = ANY (ARRAY(
          SELECT ctid FROM inbox_lane WHERE endpoint = p_endpoint AND lane = ANY (v_lanes)
          ORDER BY lane, place, seq LIMIT ${TENDED_AT_ONCE}))
        RETURNING l.seq
      )
      SELECT array_agg(seq) INTO v_seqs FROM gone;
      UPDATE inbox SET due_at = now_ms(), queue_at = now_ms() WHERE seq = ANY (v_seqs) AND queue_at = ${NEVER};
      promoted := coalesce(cardinality(v_seqs), 0);
      next := CASE WHEN promoted = ${TENDED_AT_ONCE} THEN p_after END;
    END IF;
    IF next IS NULL THEN
      waiting := (SELECT count(*) FROM inbox_lane l WHERE l.endpoint = p_endpoint AND l.place = ${WAITING});
    END IF;
  END $$;
`;

export const LANE_FUNCTIONS = LOCK_LANES + PROMOTE + UNBLOCK + TEND_LANES;
