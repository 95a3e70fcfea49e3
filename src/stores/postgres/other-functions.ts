import { BY_INDEX } from "./commit-functions.js";

const IN_SCHEMA = `${BY_INDEX} SET search_path FROM CURRENT`;
const SYNC = `
    IF current_setting('synchronous_commit') IN ('off', 'local') THEN
      PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
`;

// A new owner does not judge others before it has lived for a while; see SWEEP.
const REGISTER = `
  CREATE FUNCTION register_owner(p_endpoint text) RETURNS int LANGUAGE sql ${IN_SCHEMA} AS $$
    INSERT INTO inbox_owner (endpoint, beat_at, alive_since, swept_at, low_seq)
    SELECT p_endpoint, now_ms(), now_ms(), 0, last_value FROM inbox_seq_seq
    RETURNING id
  $$;
`;

// An owner that leaves events leased stays, without a heartbeat, until they are taken over.
const UNREGISTER = `
  CREATE FUNCTION unregister_owner(p_owner int) RETURNS void LANGUAGE sql ${IN_SCHEMA} AS $$
    DELETE FROM inbox_owner WHERE id = p_owner
      AND NOT EXISTS (SELECT FROM leased_to(p_owner, low_seq, (SELECT last_value + 1 FROM inbox_seq_seq)))
  $$;
`;

// After a failed commit: no hand-off of these leases began, so no crash is counted.
const FREE_OWN = `
  CREATE FUNCTION free_own(p_owner int, p_held bigint[]) RETURNS int LANGUAGE plpgsql ${IN_SCHEMA} AS $$
  DECLARE
    v_now bigint := now_ms();
    v_freed int;
  BEGIN
    ${SYNC}
    UPDATE inbox SET state = 'ready', token = token + 1, claimed_by = NULL, due_at = v_now, queue_at = v_now, ready_since = v_now
    WHERE state = 'leased' AND owner = p_owner AND seq <> ALL (p_held)
      AND seq = ANY (ARRAY(SELECT leased_to(p_owner, low_seq, (SELECT last_value + 1 FROM inbox_seq_seq))
                           FROM inbox_owner WHERE id = p_owner));
    GET DIAGNOSTICS v_freed = ROW_COUNT;
    -- Something is written in any case, so that this fails while writes fail.
    UPDATE inbox_owner SET beat_at = v_now WHERE id = p_owner;
    RETURN v_freed;
  END $$;
`;

// Leases that no owner has, or that an owner's low_seq does not cover. There should be none: a mistake in the bookkeeping of
// leases would otherwise leave an event leased for good.
const FREE_ORPHANS = `
  CREATE FUNCTION free_orphans(p_endpoint text, p_from bigint, p_below bigint) RETURNS json LANGUAGE sql ${IN_SCHEMA} AS $$
    SELECT free_crashed(now_ms(), ARRAY(
      SELECT i.seq FROM inbox i
      WHERE i.seq >= p_from AND i.seq < p_below AND i.endpoint = p_endpoint AND i.state = 'leased' AND NOT EXISTS (
        SELECT FROM inbox_owner o WHERE o.id = i.owner AND (i.claimed_by IS NOT NULL OR i.seq >= o.low_seq))
      ORDER BY i.seq FOR UPDATE SKIP LOCKED))
  $$;
`;

// The process has read the bodies before, in another transaction, so each row is checked again here. Ids and types that it read
// are NULL for an event whose body cannot be used.
const REPLAY = `
  CREATE FUNCTION replay(p_endpoints text[], p_ids text[], p_read_ids text[], p_read_types text[]) RETURNS text[]
  LANGUAGE plpgsql ${IN_SCHEMA} AS $$
  DECLARE
    v_now bigint := now_ms();
    v_outcomes text[] := '{}';
    v_outcome text;
    v_row inbox;
    e record;
  BEGIN
    ${SYNC}
    FOR e IN
      SELECT * FROM unnest(p_endpoints, p_ids, p_read_ids, p_read_types) AS e(endpoint, id, read_id, read_type)
    LOOP
      SELECT * INTO v_row FROM inbox WHERE endpoint = e.endpoint AND event_id = e.id FOR UPDATE;
      IF NOT FOUND THEN
        v_outcome := 'not_found';
      ELSIF v_row.state IN ('ready', 'leased') THEN
        v_outcome := 'wrong_state';
      ELSIF NOT v_row.has_payload THEN
        v_outcome := 'payload_gone';
      ELSIF e.read_id IS NULL THEN
        v_outcome := 'still_unusable';
      ELSE
        BEGIN
          UPDATE inbox SET
            event_id = e.read_id, type = e.read_type, state = 'ready', due_at = v_now, queue_at = v_now, ready_since = v_now,
            parked_at = NULL, attempts = 0, crashes = 0, replayed = true,
            possibly_repeated = possibly_repeated OR state = 'done'
          WHERE seq = v_row.seq;
          v_outcome := 'moved';
        EXCEPTION WHEN unique_violation THEN
          UPDATE inbox SET state = 'done', due_at = v_now, parked_at = NULL WHERE seq = v_row.seq;
          v_outcome := 'duplicate';
        END;
      END IF;
      v_outcomes := v_outcomes || v_outcome;
    END LOOP;
    RETURN v_outcomes;
  END $$;
`;

const DISCARD = `
  CREATE FUNCTION discard(p_endpoints text[], p_ids text[]) RETURNS text[] LANGUAGE plpgsql ${IN_SCHEMA} AS $$
  DECLARE
    v_outcomes text[] := '{}';
    v_outcome text;
    v_row inbox;
    e record;
  BEGIN
    ${SYNC}
    FOR e IN SELECT * FROM unnest(p_endpoints, p_ids) AS e(endpoint, id) LOOP
      SELECT * INTO v_row FROM inbox WHERE endpoint = e.endpoint AND event_id = e.id FOR UPDATE;
      IF NOT FOUND THEN
        v_outcome := 'not_found';
      ELSIF v_row.state NOT IN ('dead', 'quarantined') THEN
        v_outcome := 'wrong_state';
      ELSE
        UPDATE inbox SET state = 'done', due_at = now_ms(), parked_at = NULL, has_payload = false WHERE seq = v_row.seq;
        DELETE FROM inbox_body WHERE seq = v_row.seq;
        v_outcome := 'moved';
      END IF;
      v_outcomes := v_outcomes || v_outcome;
    END LOOP;
    RETURN v_outcomes;
  END $$;
`;

// No index finds old events, as it would have to change with each settlement. So prune walks through the table in the order of
// seq. `next_seq`: where the walk continues; NULL when it is at its end.
const PRUNE = `
  CREATE FUNCTION prune(
    p_endpoint text, p_from bigint, p_walk bigint, p_payload_age bigint, p_key_age bigint, p_limit int,
    OUT payloads int, OUT keys int, OUT next_seq bigint
  )
  LANGUAGE plpgsql ${IN_SCHEMA} AS $$
  DECLARE
    v_now bigint := now_ms();
    v_from bigint := greatest(p_from, (SELECT min(seq) FROM inbox));
    v_old bigint[];
  BEGIN
    v_old := ARRAY(
      SELECT seq FROM inbox
      WHERE seq >= v_from AND seq < v_from + p_walk AND endpoint = p_endpoint AND state = 'done'
        AND due_at < v_now - CASE WHEN has_payload THEN p_payload_age ELSE p_key_age END
      ORDER BY seq LIMIT p_limit FOR UPDATE SKIP LOCKED);
    WITH gone AS (
      DELETE FROM inbox WHERE seq = ANY (v_old) AND due_at < v_now - p_key_age RETURNING has_payload
    )
    SELECT count(*), count(*) FILTER (WHERE has_payload) INTO keys, payloads FROM gone;
    WITH emptied AS (UPDATE inbox SET has_payload = false WHERE seq = ANY (v_old) AND has_payload RETURNING 1)
    SELECT payloads + count(*) INTO payloads FROM emptied;
    DELETE FROM inbox_body WHERE seq = ANY (v_old);
    next_seq := CASE WHEN cardinality(v_old) = p_limit THEN v_old[p_limit] + 1
      ELSE (SELECT seq FROM inbox WHERE seq >= v_from + p_walk ORDER BY seq LIMIT 1) END;
  END $$;
`;

export const OTHER_FUNCTIONS = [REGISTER, UNREGISTER, FREE_OWN, FREE_ORPHANS, REPLAY, DISCARD, PRUNE].join("");
