import { NEVER } from "../../inbox/stored-events.js";
import { CRASH_DELAYS_MS, CRASH_LOOP } from "../../inbox/crashes.js";
import {
  BY_INDEX,
  endErased,
  IN_SCHEMA,
  LOCK_CLASS,
  MOST_FREED,
  SYNC,
} from "./commit-functions.js";

/** An owner without a heartbeat for this time is dead, and its leases are taken over. */
export const DEAD_AFTER_MS = 5000;
/** Most rows that one step reads. */
export const MOST_SWEPT = 100_000;

// The events that are leased to an owner: claimed ones by their index, the others by a walk from
// the owner's low_seq.
const LEASED_TO = `
  CREATE OR REPLACE FUNCTION leased_to(p_owner int, p_low_seq bigint, p_below bigint) RETURNS SETOF bigint
  LANGUAGE sql ${IN_SCHEMA} AS $$
    SELECT seq FROM inbox WHERE claimed_by = p_owner
    UNION ALL
    SELECT seq FROM inbox
    WHERE seq >= p_low_seq AND seq < p_below AND owner = p_owner AND state = 'leased' AND claimed_by IS NULL
  $$;
`;

const FREE_CRASHED = `
  CREATE OR REPLACE FUNCTION free_crashed(p_now bigint, p_seqs bigint[]) RETURNS json -- the events that became dead; or NULL
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  DECLARE
    v_freed bigint[];
    v_attempts int[];
    v_dead json;
  BEGIN
    ${endErased("p_now", "p_seqs")}
    WITH freed AS (
      UPDATE inbox SET
        token = token + 1,
        crashes = crashes + 1,
        possibly_repeated = true,
        claimed_by = NULL,
        due_at = coalesce(crashed.due, p_now),
        state = CASE WHEN crashed.due IS NULL THEN 'dead' ELSE 'ready' END,
        queue_at = crashed.due,
        parked_at = CASE WHEN crashed.due IS NULL THEN p_now END,
        last_error = CASE WHEN crashes > 0 THEN '${CRASH_LOOP}' ELSE last_error END
      FROM (
        -- NULL after the last crash: beyond the end of the array
        SELECT i.seq, p_now + floor(random() * ('{${CRASH_DELAYS_MS.join()}}'::bigint[])[i.crashes + 1])::bigint AS due
        FROM inbox i WHERE i.seq = ANY (p_seqs) AND i.state = 'leased'
      ) AS crashed
      WHERE inbox.seq = crashed.seq
      RETURNING inbox.seq, event_id, type, attempts, state
    )
    SELECT array_agg(seq), array_agg(attempts),
      json_agg(json_build_object('seq', seq, 'eventId', event_id, 'type', type, 'attempts', attempts)) FILTER (WHERE state = 'dead')
    INTO v_freed, v_attempts, v_dead FROM freed;
    IF v_freed IS NOT NULL THEN
      PERFORM add_steps(p_now, 'crashed', v_freed, v_attempts, NULL);
    END IF;
    RETURN v_dead;
  END $$;
`;

// A process can be dead while PostgreSQL still executes its last commit, which may lease events.
// Each commit holds a shared advisory lock on its owner, so the owner is removed only when none
// runs; a later one finds that its owner is gone.
//
// After an outage of the database, or when its clock was set, all owners look dead. So an owner
// judges others only after it has had a regular heartbeat for as long as a dead owner has had none.
const SWEEP = `
  CREATE OR REPLACE FUNCTION sweep(p_endpoint text, p_owner int, p_held bigint[]) RETURNS json
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  DECLARE
    v_now bigint;
    v_class int := ${LOCK_CLASS};
    v_me inbox_owner;
    v_dead inbox_owner;
    v_freed bigint[];
    v_next bigint;
  BEGIN
    SELECT * INTO v_me FROM inbox_owner WHERE id = p_owner;
    -- A new time, because the commit may have waited for a lock while the others had heartbeats. It is read after the own row:
    -- a heartbeat later than v_now would look as if the clock had been set back.
    v_now := now_ms();
    -- Its own leases that expired and that it does not hold: a settlement was refused, or a commit whose result was lost.
    v_freed := ARRAY(
      SELECT seq FROM inbox
      WHERE seq = ANY (ARRAY(SELECT leased_to(p_owner, v_me.low_seq, v_me.low_seq + ${MOST_SWEPT})))
        AND owner = p_owner AND state = 'leased' AND due_at <= v_now AND seq <> ALL (p_held)
      ORDER BY seq LIMIT ${MOST_FREED} FOR UPDATE SKIP LOCKED);
    IF v_me.alive_since <= v_now - ${DEAD_AFTER_MS} AND v_me.beat_at BETWEEN v_now - ${DEAD_AFTER_MS} AND v_now THEN
      FOR v_dead IN
        SELECT * FROM inbox_owner
        WHERE endpoint = p_endpoint AND id <> p_owner
          AND beat_at NOT BETWEEN v_now - ${DEAD_AFTER_MS} AND v_now + ${DEAD_AFTER_MS} -- later: the clock was set back
        ORDER BY id FOR UPDATE SKIP LOCKED
      LOOP
        v_next := v_dead.low_seq + ${MOST_SWEPT};
        v_freed := v_freed || ARRAY(
          SELECT seq FROM inbox
          WHERE seq = ANY (ARRAY(SELECT leased_to(v_dead.id, v_dead.low_seq, v_next)))
            AND owner = v_dead.id AND state = 'leased'
          ORDER BY seq LIMIT ${MOST_FREED} FOR UPDATE SKIP LOCKED);
        CONTINUE WHEN NOT pg_try_advisory_xact_lock(v_class, v_dead.id)
          OR EXISTS (SELECT FROM leased_to(v_dead.id, v_dead.low_seq, v_next));
        IF v_next > (SELECT last_value FROM inbox_seq_seq) THEN
          DELETE FROM inbox_owner WHERE id = v_dead.id;
        ELSE
          UPDATE inbox_owner SET low_seq = v_next WHERE id = v_dead.id;
        END IF;
      END LOOP;
    END IF;
    RETURN free_crashed(v_now, v_freed);
  END $$;
`;

// A heartbeat and a commit of the same owner wait for each other's lock on the row. PostgreSQL
// computes these values again after the wait, so the time is that of the moment at which the row is
// read.
const ALIVE_NOW = `
  alive_since = CASE WHEN beat_at BETWEEN now_ms() - ${DEAD_AFTER_MS} AND now_ms() THEN alive_since ELSE now_ms() END,
  beat_at = now_ms()`;

const SHOW_ALIVE = `
  CREATE OR REPLACE FUNCTION show_alive(p_owner int) RETURNS boolean -- false: the owner is gone
  LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE inbox_owner SET ${ALIVE_NOW}
    WHERE id = p_owner;
    RETURN FOUND;
  END $$;
`;

// A commit that is not finished may have taken a seq below those that can be seen here, so the mark
// is only moved while no other commit of this owner runs. Each row is read about once.
const RAISE_LOW_SEQ = `
  CREATE OR REPLACE FUNCTION raise_low_seq(p_class int, p_owner int) RETURNS void
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  DECLARE
    v_low bigint;
    v_last bigint;
  BEGIN
    IF pg_try_advisory_xact_lock(p_class, p_owner) THEN
      SELECT low_seq INTO v_low FROM inbox_owner WHERE id = p_owner;
      SELECT last_value INTO v_last FROM inbox_seq_seq;
      v_last := least(v_last, v_low + ${MOST_SWEPT});
      v_low := coalesce((
        SELECT seq FROM inbox
        WHERE seq >= v_low AND seq < v_last AND owner = p_owner AND state = 'leased' AND claimed_by IS NULL
        ORDER BY seq LIMIT 1), v_last);
    END IF;
    UPDATE inbox_owner SET
      low_seq = coalesce(v_low, low_seq), swept_at = now_ms(), ${ALIVE_NOW}
    WHERE id = p_owner;
  END $$;
`;

// For how long the oldest ready event has been due; NULL when there is none.
const OLDEST_READY_AGE = `
  CREATE OR REPLACE FUNCTION oldest_ready_age(p_endpoint text) RETURNS bigint
  LANGUAGE sql ${IN_SCHEMA} AS $$
    SELECT greatest(now_ms() - first, 0)
    FROM (SELECT min(queue_at) AS first FROM inbox WHERE endpoint = p_endpoint AND queue_at < ${NEVER}) AS oldest
    WHERE first IS NOT NULL
  $$;
`;

// For how long the oldest ready event has been stored: it is the one that has been due for longest,
// or has failed and was pushed back.
const OLDEST_RECEIVED_AGE = `
  CREATE OR REPLACE FUNCTION oldest_received_age(p_endpoint text) RETURNS bigint
  LANGUAGE sql ${IN_SCHEMA} AS $$
    SELECT greatest(now_ms() - received_at, 0) FROM (
      (SELECT received_at FROM inbox WHERE endpoint = p_endpoint AND queue_at < ${NEVER} ORDER BY queue_at, seq LIMIT 1)
      UNION ALL
      (SELECT received_at FROM inbox WHERE endpoint = p_endpoint AND queue_at >= ${NEVER} ORDER BY queue_at, seq LIMIT 1)
      UNION ALL
      (SELECT received_at FROM inbox WHERE endpoint = p_endpoint AND queue_at IS NOT NULL AND last_error IS NOT NULL
       ORDER BY seq LIMIT 1)) AS oldest
    ORDER BY received_at LIMIT 1
  $$;
`;

// The heartbeat of an idle process, and what health() says. It needs no sync: a lost heartbeat is
// soon followed by another. A role without pg_read_all_stats does not see which standbys are
// synchronous.
const BEAT = `
  CREATE OR REPLACE FUNCTION beat(p_endpoint text, p_owner int) RETURNS json
  LANGUAGE plpgsql ${IN_SCHEMA} AS $$
  DECLARE
    v_sync text := current_setting('synchronous_commit');
    v_standbys bigint;
  BEGIN
    IF pg_has_role('pg_read_all_stats', 'USAGE') THEN
      SELECT count(*) INTO v_standbys FROM pg_stat_get_wal_senders() WHERE sync_state IN ('sync', 'quorum');
    END IF;
    PERFORM set_config('synchronous_commit', 'off', true);
    RETURN json_build_object(
      'isKnown', pg_is_in_recovery() OR show_alive(p_owner),
      'oldestReadyAgeMs', oldest_ready_age(p_endpoint),
      'oldestReceivedAgeMs', oldest_received_age(p_endpoint),
      'medium', json_build_object(
        'durability', CASE WHEN current_setting('synchronous_standby_names') = '' THEN 'primary' ELSE 'standby' END,
        'synchronousCommit', CASE WHEN v_sync IN ('off', 'local') THEN 'on' ELSE v_sync END,
        'synchronousStandbys', v_standbys,
        'inRecovery', pg_is_in_recovery()));
  END $$;
`;

// A new owner does not judge others before it has lived for a while; see SWEEP.
const REGISTER = `
  CREATE OR REPLACE FUNCTION register_owner(p_endpoint text) RETURNS int LANGUAGE sql ${IN_SCHEMA} AS $$
    INSERT INTO inbox_owner (endpoint, beat_at, alive_since, swept_at, low_seq)
    SELECT p_endpoint, now_ms(), now_ms(), 0, last_value FROM inbox_seq_seq
    RETURNING id
  $$;
`;

// An owner that leaves events leased, or a commit that may lease some, stays without a heartbeat
// until it is taken for dead.
const UNREGISTER = `
  CREATE OR REPLACE FUNCTION unregister_owner(p_owner int) RETURNS void LANGUAGE sql ${IN_SCHEMA} AS $$
    DELETE FROM inbox_owner WHERE id = p_owner AND pg_try_advisory_xact_lock(${LOCK_CLASS}, p_owner)
      AND NOT EXISTS (SELECT FROM leased_to(p_owner, low_seq, (SELECT last_value + 1 FROM inbox_seq_seq)))
  $$;
`;

// After a failed commit: no hand-off of these leases began, so no crash is counted.
const FREE_OWN = `
  CREATE OR REPLACE FUNCTION free_own(p_owner int, p_held bigint[]) RETURNS int LANGUAGE plpgsql ${IN_SCHEMA} AS $$
  DECLARE
    v_now bigint := now_ms();
    v_freed int;
  BEGIN
    ${SYNC}
    UPDATE inbox SET state = CASE WHEN token < 0 THEN 'done' ELSE 'ready' END, token = token + 1, claimed_by = NULL,
      due_at = v_now, queue_at = CASE WHEN token > 0 THEN v_now END
    WHERE seq = ANY (ARRAY(
      SELECT i.seq FROM inbox_owner, leased_to(id, low_seq, (SELECT last_value + 1 FROM inbox_seq_seq)) AS leased(seq)
      JOIN inbox i USING (seq)
      WHERE id = p_owner AND i.owner = p_owner AND i.state = 'leased' AND i.seq <> ALL (p_held)
      FOR UPDATE OF i SKIP LOCKED));
    GET DIAGNOSTICS v_freed = ROW_COUNT;
    -- Something is written in any case, so that this fails while writes fail.
    PERFORM show_alive(p_owner);
    RETURN v_freed;
  END $$;
`;

// Leases that no owner has, or that an owner's low_seq does not cover.
const FREE_ORPHANS = `
  CREATE OR REPLACE FUNCTION free_orphans(p_endpoint text, p_from bigint, p_below bigint) RETURNS json LANGUAGE sql ${IN_SCHEMA} AS $$
    SELECT free_crashed(now_ms(), ARRAY(
      SELECT i.seq FROM inbox i
      WHERE i.seq >= p_from AND i.seq < p_below AND i.endpoint = p_endpoint AND i.state = 'leased' AND NOT EXISTS (
        SELECT FROM inbox_owner o WHERE o.id = i.owner AND (i.claimed_by IS NOT NULL OR i.seq >= o.low_seq))
      ORDER BY i.seq FOR UPDATE SKIP LOCKED))
  $$;
`;

export const OWNER_FUNCTIONS = [
  LEASED_TO,
  FREE_CRASHED,
  SWEEP,
  SHOW_ALIVE,
  RAISE_LOW_SEQ,
  OLDEST_READY_AGE,
  OLDEST_RECEIVED_AGE,
  BEAT,
  REGISTER,
  UNREGISTER,
  FREE_OWN,
  FREE_ORPHANS,
].join("");
