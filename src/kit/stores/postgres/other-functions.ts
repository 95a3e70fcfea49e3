import { ACTIVITY_KEPT_MS } from "../../inbox/activity.js";
import { ERASED, SUPERSEDED } from "../../inbox/done-reasons.js";
import { NEVER } from "../../inbox/stored-events.js";
import { erasedId, HEAD, IN_SCHEMA, SYNC, WAITING } from "./commit-functions.js";

// A leased event may be held for long by a transaction of a callback (see SETTLE), so only events
// in these states are locked.
const lockIf = (condition: string, how = ""): string => `SELECT * INTO v_row FROM inbox
      WHERE endpoint = e.endpoint AND event_id = e.id AND ${condition} FOR UPDATE${how};
      IF NOT FOUND THEN
        v_outcome := CASE WHEN EXISTS (SELECT FROM inbox WHERE endpoint = e.endpoint AND event_id = e.id)
          THEN 'wrong_state' ELSE 'not_found' END;`;

// Before an event is locked: see lock_lanes.
const lockLanes = (more = ""): string => `
    PERFORM lock_lanes(ARRAY(
      SELECT i.lane FROM unnest(p_endpoints, p_ids) AS k(endpoint, id)
      JOIN inbox i ON i.endpoint = k.endpoint AND i.event_id = k.id WHERE i.lane IS NOT NULL ${more}));`;

// The process has read the bodies before, in another transaction, so each row is checked again
// here. What it read is NULL for an event whose body cannot be used.
const REPLAY = `
  CREATE OR REPLACE FUNCTION replay(
    p_endpoints text[], p_ids text[], p_read_ids text[], p_read_types text[], p_subtypes text[], p_subjects text[],
    p_own_ids text[] DEFAULT NULL, p_lanes text[] DEFAULT NULL, p_skips boolean DEFAULT NULL
  ) RETURNS text[]
  LANGUAGE plpgsql ${IN_SCHEMA} AS $$
  DECLARE
    v_now bigint := now_ms();
    v_outcomes text[] := '{}';
    v_outcome text;
    v_row inbox;
    e record;
  BEGIN
    ${SYNC}
    ${lockLanes("UNION SELECT decode(given, 'hex') FROM unnest(p_lanes) AS g(given) WHERE given IS NOT NULL")}
    FOR e IN
      SELECT * FROM unnest(p_endpoints, p_ids, p_read_ids, p_read_types, p_subtypes, p_subjects, p_own_ids, p_lanes)
        AS e(endpoint, id, read_id, read_type, subtype, subject, own_id, lane)
    LOOP
      ${lockIf("state IN ('done', 'dead', 'quarantined')")}
      ELSIF NOT v_row.has_payload THEN
        v_outcome := 'payload_gone';
      ELSIF e.read_id IS NULL THEN
        v_outcome := 'still_unusable';
      ELSE
        IF e.own_id IS NOT NULL AND EXISTS (
          SELECT FROM inbox o WHERE o.endpoint = e.endpoint AND o.event_id = e.read_id AND o.seq <> v_row.seq
            AND (o.type, o.subtype, o.subject, o.body_hash) IS DISTINCT FROM (e.read_type, e.subtype, e.subject, v_row.body_hash))
        THEN
          e.read_id := e.own_id;
        END IF;
        BEGIN
          UPDATE inbox_burst SET earlier = earlier - 1 WHERE id = v_row.burst;
          UPDATE inbox SET
            event_id = e.read_id, type = e.read_type, subtype = e.subtype, subject = e.subject, state = 'ready',
            due_at = v_now, queue_at = v_now, parked_at = NULL, attempts = 0, crashes = 0, replayed = true,
            possibly_repeated = possibly_repeated OR state = 'done',
            last_error = CASE WHEN burst IS NULL THEN last_error END, burst = NULL
          WHERE seq = v_row.seq;
          PERFORM add_steps(v_now, 'replayed', ARRAY[v_row.seq], ARRAY[v_row.attempts], NULL);
          v_outcome := 'moved';
          IF e.lane IS NOT NULL THEN
            UPDATE inbox SET lane = decode(e.lane, 'hex'), lane_skips = p_skips WHERE seq = v_row.seq RETURNING lane INTO v_row.lane;
          END IF;
          -- The head stays.
          IF v_row.lane IS NOT NULL AND NOT EXISTS (SELECT FROM inbox_lane
            WHERE endpoint = e.endpoint AND lane = v_row.lane AND place = ${HEAD} AND seq = v_row.seq)
          THEN
            INSERT INTO inbox_lane (endpoint, lane, place, seq) VALUES (e.endpoint, v_row.lane, ${WAITING}, v_row.seq)
            ON CONFLICT DO NOTHING;
            UPDATE inbox SET due_at = ${NEVER}, queue_at = ${NEVER} WHERE seq = v_row.seq;
            PERFORM promote(v_now, e.endpoint, ARRAY[v_row.lane]);
          END IF;
        EXCEPTION WHEN unique_violation THEN
          UPDATE inbox SET state = 'done', due_at = v_now, parked_at = NULL WHERE seq = v_row.seq;
          PERFORM promote(v_now, e.endpoint, ARRAY[v_row.lane]);
          v_outcome := 'duplicate';
        END;
      END IF;
      v_outcomes := v_outcomes || v_outcome;
    END LOOP;
    RETURN v_outcomes;
  END $$;
`;

// A function that moves each event that meets the condition.
const moves = (
  name: string,
  condition: string,
  update: string,
  { lock = "", how = "", more = "" } = {},
): string => `
  CREATE OR REPLACE FUNCTION ${name}(p_endpoints text[], p_ids text[]${more}) RETURNS text[] LANGUAGE plpgsql ${IN_SCHEMA} AS $$
  DECLARE
    v_outcomes text[] := '{}';
    v_outcome text;
    v_row inbox;
    e record;
  BEGIN
    ${SYNC}${lock}
    FOR e IN SELECT * FROM unnest(p_endpoints, p_ids) AS e(endpoint, id) LOOP
      ${lockIf(condition, how)}
      ELSE
        ${update}
        v_outcome := 'moved';
      END IF;
      v_outcomes := v_outcomes || v_outcome;
    END LOOP;
    RETURN v_outcomes;
  END $$;
`;

const RETRY_NOW = moves(
  "retry_now",
  `state = 'ready' AND queue_at <> ${NEVER}`,
  "UPDATE inbox SET due_at = least(due_at, now_ms()), queue_at = least(queue_at, now_ms()) WHERE seq = v_row.seq;",
);

const DISCARD = moves(
  "discard",
  "state IN ('done', 'dead', 'quarantined')",
  `UPDATE inbox SET state = 'done', due_at = CASE WHEN state = 'done' THEN due_at ELSE now_ms() END, parked_at = NULL, has_payload = false WHERE seq = v_row.seq;
        DELETE FROM inbox_body WHERE seq = v_row.seq;
        DELETE FROM inbox_history WHERE seq = v_row.seq;
        IF v_row.state = 'done' THEN
          PERFORM promote(now_ms(), e.endpoint, ARRAY[v_row.lane]);
        ELSE
          PERFORM give_up(now_ms(), e.endpoint, v_row.lane, v_row.seq);
        END IF;`,
  { lock: lockLanes() },
);

// The settlement of a lease does not find a negative token, and then ends the event: see END_ERASED.
const ERASE = moves(
  "erase",
  "true",
  `UPDATE inbox SET
          event_id = CASE WHEN strpos(lower(event_id), lower(p_hidden)) > 0 THEN ${erasedId("event_id")} ELSE event_id END,
          state = CASE WHEN state = 'leased' THEN state ELSE 'done' END,
          token = CASE WHEN state = 'leased' THEN -abs(token) ELSE token END,
          due_at = CASE WHEN state IN ('leased', 'done') THEN due_at ELSE now_ms() END,
          queue_at = NULL, parked_at = NULL, has_payload = false, subject = NULL, lane = NULL, lane_skips = NULL,
          burst = NULL, burst_rank = NULL,
          last_error = '${ERASED}'
        WHERE seq = v_row.seq;
        DELETE FROM inbox_body WHERE seq = v_row.seq;
        DELETE FROM inbox_history WHERE seq = v_row.seq;
        DELETE FROM inbox_report WHERE endpoint = e.endpoint AND EXISTS (SELECT FROM
          jsonb_path_query(report::jsonb, '$.** ? (@.type() == "string")') AS t(text) WHERE strpos(text #>> '{}', p_hidden) > 0);
        IF strpos(lower(v_row.event_id), lower(p_hidden)) > 0 THEN
          UPDATE inbox SET last_error = '${SUPERSEDED} ' || ${erasedId("v_row.event_id")}
          WHERE burst IS NOT NULL AND endpoint = e.endpoint AND last_error = '${SUPERSEDED} ' || v_row.event_id;
        END IF;
        UPDATE inbox_alarm SET state = jsonb_set(state::jsonb, '{text}', '""')
        WHERE endpoint = e.endpoint AND strpos(state::jsonb->>'text', p_hidden) > 0;
        DELETE FROM inbox_lane
        WHERE endpoint = e.endpoint AND lane = v_row.lane AND place = ${WAITING} AND seq = v_row.seq;
        UPDATE inbox_burst SET earlier = earlier - 1 WHERE id = v_row.burst;
        IF v_row.state = 'done' THEN
          PERFORM promote(now_ms(), e.endpoint, ARRAY[v_row.lane]);
        ELSE
          PERFORM give_up(now_ms(), e.endpoint, v_row.lane, v_row.seq);
        END IF;`,
  { lock: lockLanes(), how: " SKIP LOCKED", more: ", p_hidden text" },
);

// No index finds old events, as it would have to change with each settlement. So prune walks
// through the table in the order of seq. `next_seq`: where the walk continues; NULL when it is at
// its end.
const PRUNE = `
  CREATE OR REPLACE FUNCTION prune(
    p_endpoint text, p_from bigint, p_walk bigint, p_payload_age bigint, p_key_age bigint, p_limit int,
    OUT payloads int, OUT keys int, OUT next_seq bigint
  )
  LANGUAGE plpgsql ${IN_SCHEMA} AS $$
  DECLARE
    v_now bigint := now_ms();
    -- Once for a walk: it reads past all deleted rows that a long transaction keeps.
    v_from bigint := coalesce(nullif(p_from, 0), (SELECT min(seq) FROM inbox));
    v_old bigint[];
  BEGIN
    v_old := ARRAY(
      SELECT seq FROM inbox
      WHERE seq >= v_from AND seq < v_from + p_walk AND endpoint = p_endpoint AND state = 'done'
        AND due_at < v_now - CASE WHEN has_payload THEN p_payload_age ELSE p_key_age END
        AND (burst IS NULL OR NOT EXISTS (SELECT FROM inbox_burst b JOIN inbox n ON n.seq = b.newest
          WHERE b.id = inbox.burst AND n.state <> 'done'))
      ORDER BY seq LIMIT p_limit FOR UPDATE SKIP LOCKED);
    WITH gone AS (
      DELETE FROM inbox WHERE seq = ANY (v_old) AND due_at < v_now - p_key_age RETURNING has_payload
    )
    SELECT count(*), count(*) FILTER (WHERE has_payload) INTO keys, payloads FROM gone;
    WITH emptied AS (UPDATE inbox SET has_payload = false WHERE seq = ANY (v_old) AND has_payload RETURNING 1)
    SELECT payloads + count(*) INTO payloads FROM emptied;
    DELETE FROM inbox_body WHERE seq = ANY (v_old);
    DELETE FROM inbox_history WHERE seq = ANY (v_old);
    DELETE FROM inbox_burst WHERE newest = ANY (v_old);
    DELETE FROM inbox_minute WHERE endpoint = p_endpoint AND minute < v_now - ${ACTIVITY_KEPT_MS};
    next_seq := CASE WHEN cardinality(v_old) = p_limit THEN v_old[p_limit] + 1
      ELSE (SELECT seq FROM inbox WHERE seq >= v_from + p_walk ORDER BY seq LIMIT 1) END;
  END $$;
`;

export const OTHER_FUNCTIONS = REPLAY + RETRY_NOW + DISCARD + ERASE + PRUNE;
