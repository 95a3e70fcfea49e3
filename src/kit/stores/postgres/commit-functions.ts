import { ERASED, ERASED_ID } from "../../inbox/done-reasons.js";
import { NEVER, MOST_PAST_STEPS } from "../../inbox/stored-events.js";

/** Of an event in its lane, as `lanes.ts` of SQLite has it. */
export const HEAD = 1;
export const WAITING = 2;

/** The id of an erased event, in place of this one. */
export const erasedId = (id: string): string =>
  `'${ERASED_ID}' || encode(sha256(convert_to(${id}, 'UTF8')), 'hex')`;

/** Ends the leases of erased events; see `erase` of the port. */
export const endErased = (now: string, seqs: string): string =>
  `UPDATE inbox SET state = 'done', due_at = ${now}, claimed_by = NULL
    WHERE seq = ANY (${seqs}) AND token < 0 AND state = 'leased';`;

/** How often an owner looks for leases of dead owners. */
const SWEEP_EVERY_MS = 1000;
/** Most rows that one step changes, so that a commit never takes long because of them. */
export const MOST_FREED = 500;

/** SQLSTATE: another process took this owner for dead, took over its leases and removed it. */
export const OWNER_GONE = "SBX01";
/** SQLSTATE for the callback: its lease has ended. */
const HANDOFF_LOST = "SBX02";

/**
 * A plan that was made while a table was small must also be good when it is large. So whole-table
 * plans are not considered. `jit = off`, because the cost that is added to a refused plan would
 * make PostgreSQL compile the query.
 */
export const BY_INDEX =
  "SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off";
/** Each commit has a shared lock of this class on its owner. */
export const LOCK_CLASS = "'inbox'::regclass::oid::bigint::bit(32)::int";
export const IN_SCHEMA = `${BY_INDEX} SET search_path FROM CURRENT`;

/**
 * An acknowledgement stands for a commit that is on the disk, and on the synchronous standby,
 * whatever the role has set. Only a warning says that someone cancelled the wait for the standby;
 * see `SYNC_CANCELLED`.
 */
export const SYNC = `
    IF current_setting('synchronous_commit') IN ('off', 'local') THEN
      PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    IF current_setting('client_min_messages') = 'error' THEN
      PERFORM set_config('client_min_messages', 'warning', true);
    END IF;
`;

// The caller has locked the events. Each event is there once. `p_errors` NULL: these steps have
// none.
const ADD_STEPS = `
  CREATE OR REPLACE FUNCTION add_steps(p_at bigint, p_kind text, p_seqs bigint[], p_attempts int[], p_errors text[]) RETURNS void
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  BEGIN
    INSERT INTO inbox_history (seq, at, kind, attempts, error)
    SELECT s.seq, p_at, p_kind, s.attempts, s.error FROM unnest(p_seqs, p_attempts, p_errors) AS s(seq, attempts, error);
    DELETE FROM inbox_history h USING unnest(p_seqs) AS s(seq)
    WHERE h.seq = s.seq AND h.step <= (
      SELECT old.step FROM inbox_history old WHERE old.seq = s.seq ORDER BY old.step DESC OFFSET ${MOST_PAST_STEPS} LIMIT 1);
  END $$;
`;

// A settlement that was applied before, under a token that is still the event's last, counts as
// applied (G5).
//
// A transaction of a callback, which has called `complete`, holds the row until it ends. No commit
// may wait for that, so the rows of `p_completing` are locked first, or skipped. The others are
// not: that would write WAL for each event.
const SETTLE = `
  CREATE OR REPLACE FUNCTION settle(
    p_now bigint, p_seqs bigint[], p_tokens int[], p_states text[], p_delays bigint[], p_attempts int[],
    p_repeated boolean[], p_errors text[], p_completing bigint[]
  ) RETURNS json -- a SettleResult for each, or 'before'. NULL: all applied now
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  DECLARE
    v_settled bigint[];
    v_failed bigint[];
    v_attempts int[];
    v_errors text[];
    v_skipped bigint[] := '{}';
  BEGIN
    IF cardinality(p_completing) > 0 THEN
      v_skipped := ARRAY(
        WITH free AS (
          SELECT seq FROM inbox WHERE seq = ANY (p_completing) AND state = 'leased' ORDER BY seq FOR UPDATE SKIP LOCKED
        )
        SELECT c.seq FROM unnest(p_completing) AS c(seq) WHERE c.seq NOT IN (SELECT seq FROM free));
    END IF;
    WITH settled AS (
      UPDATE inbox SET
        state = s.state,
        due_at = p_now + s.delay,
        queue_at = CASE WHEN s.state = 'ready' THEN p_now + s.delay END,
        parked_at = CASE WHEN s.state = 'dead' THEN p_now END,
        claimed_by = NULL,
        attempts = s.attempts,
        possibly_repeated = s.repeated,
        last_error = coalesce(s.error, inbox.last_error)
      FROM unnest(p_seqs, p_tokens, p_states, p_delays, p_attempts, p_repeated, p_errors)
        AS s(seq, token, state, delay, attempts, repeated, error)
      WHERE inbox.seq = s.seq AND inbox.token = s.token AND inbox.state = 'leased'
        AND inbox.seq <> ALL (v_skipped)
      RETURNING s.seq, s.attempts, s.error
    )
    SELECT array_agg(seq), array_agg(seq) FILTER (WHERE error IS NOT NULL), array_agg(attempts) FILTER (WHERE error IS NOT NULL),
      array_agg(error) FILTER (WHERE error IS NOT NULL)
    INTO v_settled, v_failed, v_attempts, v_errors FROM settled;
    IF v_failed IS NOT NULL THEN
      PERFORM add_steps(p_now, 'failed', v_failed, v_attempts, v_errors);
    END IF;
    IF cardinality(v_settled) = cardinality(p_seqs) THEN
      RETURN NULL;
    END IF;
    ${endErased("p_now", "ARRAY(SELECT unnest(p_seqs) EXCEPT SELECT unnest(v_skipped))")}
    RETURN (
      SELECT json_agg(
        CASE
          WHEN abs(inbox.token) IS DISTINCT FROM s.token THEN 'false'
          WHEN s.seq = ANY (v_settled) THEN 'true'
          WHEN inbox.state = 'leased' THEN '"locked"'
          WHEN inbox.state = 'done' AND s.state <> 'done' AND s.seq = ANY (p_completing) THEN '"completed"'
          ELSE '"before"'
        END::json ORDER BY s.n)
      FROM unnest(p_seqs, p_tokens, p_states) WITH ORDINALITY AS s(seq, token, state, n)
      LEFT JOIN inbox ON inbox.seq = s.seq
    );
  END $$;
`;

// With `completeSql`, in a transaction of the application. With the rights of the schema's owner,
// so that the application's role needs none for the tables: it can only complete what is leased.
const COMPLETE = `
  CREATE OR REPLACE FUNCTION complete(p_seq bigint, p_token int) RETURNS boolean -- true
  LANGUAGE plpgsql SECURITY DEFINER ${IN_SCHEMA} AS $$
  BEGIN
    UPDATE inbox SET state = 'done', due_at = now_ms(), claimed_by = NULL, attempts = attempts + 1
    WHERE seq = p_seq AND abs(token) = p_token AND state = 'leased';
    IF NOT FOUND THEN
      RAISE EXCEPTION 'signalbox: this hand-off has lost its event, or has completed it before' USING
        ERRCODE = '${HANDOFF_LOST}',
        HINT = 'Let this transaction roll back. If the event is not done, it is handed off again.';
    END IF;
    RETURN true;
  END $$;
`;

// A duplicate whose original is held by a transaction of a callback would wait at ON CONFLICT until
// that transaction ends. So known ids are not inserted. A scalar query is made for each id by the
// key, and for each lane, whatever PostgreSQL knows of the table; as NOT EXISTS it read the whole
// index of a new table for each commit.
//
// The ids are sorted. Two processes that insert the same ids in opposite orders would deadlock: 33
// times in 100 rounds, against none in 300 when they are sorted. No order is right for two keys:
// the same ids, at once and with other bodies, deadlocked 175 times in 60 rounds. So commits with
// content keys wait for each other; those without, as the service's, do not.
const ACCEPT = `
  CREATE OR REPLACE FUNCTION accept(
    p_now bigint, p_endpoint text, p_owner int, p_token int, p_ids text[], p_types text[], p_states text[], p_leases bigint[],
    p_received_at bigint[], p_reasons text[], p_received text[], p_hashes bytea[], p_starts int[], p_lengths int[],
    p_bodies bytea, p_subtypes text[], p_subjects text[], p_senders text[] DEFAULT NULL, p_content_keys bytea[] DEFAULT NULL,
    p_repeated boolean[] DEFAULT NULL, p_lanes bytea[] DEFAULT NULL, p_skips boolean DEFAULT NULL, p_arrivals int[] DEFAULT NULL,
    p_joins boolean DEFAULT false, -- some may join bursts
    OUT seqs bigint[], OUT fates text[] -- new; same; other (body); these with backfilled; id or content with the facts that differ. NULL: all new
  )
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  DECLARE
    v_ids text[];
    v_new bigint[];
    v_seqs bigint[];
    v_heads int[] := '{}'; -- the arrivals of those whose lanes are empty
  BEGIN
    IF EXISTS (SELECT FROM inbox WHERE endpoint = p_endpoint AND event_id > '${ERASED_ID}' AND event_id < '${ERASED_ID}~') THEN
      p_ids := ARRAY(
        SELECT coalesce((SELECT old.event_id FROM inbox old
          WHERE old.endpoint = p_endpoint AND old.event_id = ${erasedId("e.id")}), e.id)
        FROM unnest(p_ids) WITH ORDINALITY AS e(id, n) ORDER BY e.n);
    END IF;
    IF p_lanes IS NOT NULL THEN
      -- In the order of arrival, although the ids are sorted.
      v_seqs := ARRAY(SELECT nextval('inbox_seq_seq') FROM generate_series(1, cardinality(p_ids)));
      IF NOT p_joins THEN
        v_heads := ARRAY(
          SELECT min(e.arrival) FROM unnest(p_arrivals, p_lanes, p_states) AS e(arrival, lane, state)
          WHERE e.lane IS NOT NULL AND e.state <> 'done' GROUP BY e.lane
          HAVING (SELECT l.seq FROM inbox_lane l WHERE l.endpoint = p_endpoint AND l.lane = e.lane LIMIT 1) IS NULL);
      END IF;
    END IF;
    IF p_content_keys IS NOT NULL THEN
      PERFORM pg_advisory_xact_lock('inbox_content'::regclass::oid::bigint::bit(32)::int, hashtext(p_endpoint));
    END IF;
    WITH stored AS (
      INSERT INTO inbox (seq, endpoint, event_id, type, state, due_at, queue_at, parked_at, token, owner, received_at,
        body_hash, last_error, subtype, subject, sender, content_key, possibly_repeated, lane, lane_skips)
      OVERRIDING SYSTEM VALUE
      SELECT coalesce(v_seqs[e.arrival], nextval('inbox_seq_seq')), p_endpoint, e.id, e.type,
        CASE WHEN e.waits THEN 'ready' ELSE e.state END,
        CASE WHEN e.waits THEN ${NEVER} ELSE p_now + coalesce(e.lease, 0) END,
        CASE WHEN e.waits THEN ${NEVER} WHEN e.state = 'ready' THEN p_now END,
        CASE WHEN e.state = 'quarantined' THEN p_now END,
        CASE WHEN e.state = 'leased' AND NOT e.waits THEN p_token ELSE 0 END, p_owner, e.received_at, e.hash, e.reason,
        e.subtype, e.subject, e.sender, e.content_key, coalesce(e.repeated, false),
        e.lane, CASE WHEN e.lane IS NOT NULL THEN p_skips END
      FROM (SELECT *, g.lane IS NOT NULL AND g.state <> 'done' AND g.arrival <> ALL (v_heads) AS waits
      FROM unnest(p_ids, p_types, p_states, p_leases, p_received_at, p_reasons, p_hashes, p_subtypes, p_subjects, p_senders,
        p_content_keys, p_repeated, p_arrivals, p_lanes)
        WITH ORDINALITY AS g(id, type, state, lease, received_at, reason, hash, subtype, subject, sender, content_key, repeated,
          arrival, lane, n)) AS e
      WHERE (SELECT old.seq FROM inbox old WHERE old.endpoint = p_endpoint AND old.event_id = e.id) IS NULL
        AND (e.content_key IS NULL
          OR (SELECT old.seq FROM inbox old WHERE old.endpoint = p_endpoint AND old.content_key = e.content_key) IS NULL)
      ORDER BY e.n
      ON CONFLICT DO NOTHING
      RETURNING inbox.seq, inbox.event_id
    )
    SELECT array_agg(stored.seq), array_agg(stored.event_id) INTO v_new, v_ids FROM stored;
    IF v_ids = p_ids THEN
      seqs := v_new;
    ELSE
      -- A new statement, because the one above does not see rows that another process committed while it ran.
      SELECT array_agg(coalesce(old.seq, alike.seq) ORDER BY e.n),
        array_agg(
          CASE
            WHEN old.seq = ANY (v_new) AND old.content_key IS NOT DISTINCT FROM e.content_key THEN 'new'
            WHEN b.received LIKE '%"backfilled":true%'
              OR (b.seq IS NULL AND coalesce(old.last_error, alike.last_error) = '${ERASED}') THEN
              CASE WHEN coalesce(old.body_hash, alike.body_hash) <> e.hash THEN 'other backfilled' ELSE 'same backfilled' END
            WHEN coalesce(old.body_hash, alike.body_hash) <> e.hash THEN 'other'
            WHEN (coalesce(old.type, alike.type), coalesce(old.subtype, alike.subtype), coalesce(old.subject, alike.subject))
              IS NOT DISTINCT FROM (e.type, e.subtype, e.subject) THEN 'same'
            ELSE CASE WHEN old.seq IS NULL THEN 'content' ELSE 'id' END
              || CASE WHEN coalesce(old.type, alike.type) <> e.type THEN ' type' ELSE '' END
              || CASE WHEN coalesce(old.subtype, alike.subtype) IS DISTINCT FROM e.subtype THEN ' subtype' ELSE '' END
              || CASE WHEN coalesce(old.subject, alike.subject) IS DISTINCT FROM e.subject THEN ' subject' ELSE '' END
          END ORDER BY e.n)
      INTO seqs, fates
      FROM unnest(p_ids, p_hashes, p_content_keys, p_types, p_subtypes, p_subjects)
        WITH ORDINALITY AS e(id, hash, content_key, type, subtype, subject, n)
      LEFT JOIN inbox old ON old.endpoint = p_endpoint AND old.event_id = e.id
      LEFT JOIN inbox alike ON old.seq IS NULL AND alike.endpoint = p_endpoint AND alike.content_key = e.content_key
      LEFT JOIN inbox_body b ON b.seq = coalesce(old.seq, alike.seq);
      IF array_position(seqs, NULL) IS NOT NULL THEN
        RAISE EXCEPTION 'the original of a duplicate was pruned meanwhile' USING ERRCODE = 'serialization_failure';
      END IF;
      IF current_setting('synchronous_standby_names') <> '' THEN
        -- The standby may not have the original, if the wait for it was ended. A transaction that writes nothing does not wait.
        PERFORM pg_logical_emit_message(true, 'signalbox', '');
      END IF;
    END IF;
    INSERT INTO inbox_body (seq, received, body)
    SELECT e.seq, e.received, substring(p_bodies FROM e.start FOR e.length)
    FROM unnest(seqs, fates, p_received, p_starts, p_lengths) AS e(seq, fate, received, start, length)
    WHERE coalesce(e.fate, 'new') = 'new'
    ON CONFLICT (seq) DO NOTHING; -- an id can be there twice
    IF p_lanes IS NOT NULL THEN
      -- The others wait, until their lanes are promoted.
      INSERT INTO inbox_lane (endpoint, lane, place, seq)
      SELECT p_endpoint, i.lane, CASE WHEN i.queue_at = ${NEVER} THEN ${WAITING} ELSE ${HEAD} END, i.seq
      FROM inbox i WHERE i.seq = ANY (v_new) AND i.lane IS NOT NULL AND i.state <> 'done';
    END IF;
  END $$;
`;

// The whole commit is one statement for the client, so that no transaction stays open if the client
// is cut off.
//
// The owner's row is written last: a commit that holds its lock then waits for nothing more, so it
// cannot deadlock.
const COMMIT = `
  CREATE OR REPLACE FUNCTION commit_batch(
    p_endpoint text, p_owner int, p_token int,
    s_seqs bigint[], s_tokens int[], s_states text[], s_delays bigint[], s_attempts int[], s_repeated boolean[], s_errors text[],
    s_completing bigint[],
    a_ids text[], a_types text[], a_states text[], a_leases bigint[], a_received_at bigint[], a_reasons text[],
    a_received text[], a_hashes bytea[], a_starts int[], a_lengths int[], a_bodies bytea, a_subtypes text[], a_subjects text[],
    p_limit int, p_lease bigint, p_held bigint[], -- p_limit NULL: no claim
    a_senders text[] DEFAULT NULL, a_content_keys bytea[] DEFAULT NULL, a_repeated boolean[] DEFAULT NULL, -- NULL: no event has one
    s_lanes bytea[] DEFAULT NULL, a_lanes bytea[] DEFAULT NULL, a_skips boolean DEFAULT NULL, a_arrivals int[] DEFAULT NULL,
    a_ranks bytea[] DEFAULT NULL, p_quiet bigint DEFAULT NULL, p_longest bigint DEFAULT NULL -- a rank that is empty: by arrival
  ) RETURNS TABLE (
    summary json, -- in the first row alone; the other rows are the claimed events
    seq bigint, "eventId" text, type text, token int, attempts int, "possiblyRepeated" boolean, replayed boolean,
    "dueForMs" bigint, "receivedAt" bigint, received text, body bytea, sender text, lane bytea, earlier json
  )
  LANGUAGE plpgsql ${IN_SCHEMA} AS $$
  #variable_conflict use_column
  DECLARE
    v_class int := ${LOCK_CLASS};
    v_now bigint;
    v_swept_at bigint;
    v_sweeps boolean;
    v_applied json;
    v_accepted record;
    v_dead json;
    v_claimed bigint[];
    v_due bigint[]; -- since when each was due
    v_next bigint;
    v_lanes bytea[];
    v_behind bigint[]; -- those that wait in their lanes
    v_asked bigint[]; -- the new events that wait, and were asked to be leased
    v_heads bigint[];
    v_superseded int;
  BEGIN
    ${SYNC}
    PERFORM pg_advisory_xact_lock_shared(v_class, p_owner);
    IF a_lanes IS NOT NULL OR s_lanes IS NOT NULL THEN
      v_lanes := ARRAY(SELECT DISTINCT lane FROM unnest(a_lanes || s_lanes) AS a(lane) WHERE lane IS NOT NULL);
      PERFORM lock_lanes(v_lanes);
    END IF;
    v_now := now_ms();
    SELECT swept_at INTO v_swept_at FROM inbox_owner WHERE id = p_owner;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the owner % is gone', p_owner USING ERRCODE = '${OWNER_GONE}';
    END IF;
    v_sweeps := p_limit IS NOT NULL AND v_now NOT BETWEEN v_swept_at AND v_swept_at + ${SWEEP_EVERY_MS} - 1;

    IF cardinality(s_seqs) > 0 THEN
      v_applied := settle(v_now, s_seqs, s_tokens, s_states, s_delays, s_attempts, s_repeated, s_errors, s_completing);
    END IF;

    SELECT NULL::bigint[] AS seqs, NULL::text[] AS fates INTO v_accepted;
    IF cardinality(a_ids) > 0 THEN
      SELECT * INTO v_accepted FROM accept(v_now, p_endpoint, p_owner, p_token, a_ids, a_types, a_states, a_leases, a_received_at,
        a_reasons, a_received, a_hashes, a_starts, a_lengths, a_bodies, a_subtypes, a_subjects, a_senders, a_content_keys,
        a_repeated, a_lanes, a_skips, a_arrivals, a_ranks IS NOT NULL);
    END IF;

    IF a_ranks IS NOT NULL THEN
      v_superseded := join_bursts(v_now, p_endpoint, v_accepted.seqs, v_accepted.fates, a_ranks, p_quiet, p_longest);
    END IF;
    IF cardinality(v_lanes) > 0 THEN
      v_behind := ARRAY(
        SELECT a.seq FROM unnest(v_accepted.seqs) AS a(seq) WHERE (SELECT i.queue_at FROM inbox i WHERE i.seq = a.seq) = ${NEVER});
      v_asked := ARRAY(
        SELECT first.seq FROM ( -- an id can be there twice
          SELECT DISTINCT ON (a.seq) a.seq, a.state, a.lane
          FROM unnest(v_accepted.seqs, v_accepted.fates, a_states, a_lanes) WITH ORDINALITY AS a(seq, fate, state, lane, n)
          WHERE coalesce(a.fate, 'new') = 'new' ORDER BY a.seq, a.n) AS first
        WHERE first.state = 'leased' AND first.seq = ANY (v_behind));
      v_heads := promote(v_now, p_endpoint,
        s_lanes || ARRAY(SELECT i.lane FROM inbox i WHERE i.seq = ANY (v_behind) AND i.lane = ANY (v_lanes)), v_asked,
        (SELECT max(lease) FROM unnest(a_leases) AS a(lease)), p_owner, p_token);
    END IF;

    IF p_limit IS NOT NULL THEN
      IF v_sweeps THEN
        v_dead := sweep(p_endpoint, p_owner, p_held);
      END IF;
      SELECT array_agg(due.seq ORDER BY due.queue_at, due.seq), array_agg(due.queue_at ORDER BY due.queue_at, due.seq)
      INTO v_claimed, v_due FROM (
        SELECT seq, queue_at FROM inbox WHERE endpoint = p_endpoint AND queue_at <= v_now
        ORDER BY queue_at, seq LIMIT p_limit FOR UPDATE SKIP LOCKED
      ) due;
      IF v_claimed IS NOT NULL THEN
        UPDATE inbox SET
          -- not the next number: see the column in tables.ts
          state = 'leased', token = token + 1 + (random() * 1000)::int, owner = p_owner, claimed_by = p_owner, due_at = v_now + p_lease,
          queue_at = NULL
        FROM unnest(v_claimed) AS claimed(seq) WHERE inbox.seq = claimed.seq;
      END IF;
      -- min() read all of them where the table was small when it was analyzed
      SELECT queue_at INTO v_next FROM inbox WHERE endpoint = p_endpoint AND queue_at > v_now AND queue_at < ${NEVER}
      ORDER BY queue_at LIMIT 1;
    END IF;

    RETURN QUERY SELECT
      json_build_object('now', v_now, 'applied', v_applied, 'seqs', v_accepted.seqs, 'fates', v_accepted.fates, 'dead', v_dead,
        'nextDueInMs', v_next - v_now,
        'waiting', (SELECT json_agg(asked) FROM unnest(v_asked) AS a(asked) WHERE asked <> ALL (v_heads)),
        'superseded', coalesce(v_superseded, 0),
        'promoted', (SELECT count(*) FROM unnest(v_heads) AS h(head) WHERE head <> ALL (v_asked))),
      NULL::bigint, NULL, NULL, NULL::int, NULL::int, NULL::boolean, NULL::boolean, NULL::bigint, NULL::bigint, NULL, NULL::bytea, NULL, NULL::bytea, NULL::json;
    IF v_claimed IS NOT NULL THEN
      RETURN QUERY
        SELECT NULL::json, i.seq, i.event_id, i.type, i.token, i.attempts, i.possibly_repeated, i.replayed,
          v_now - claimed.due, i.received_at, b.received, coalesce(b.body, ''), i.sender, i.lane,
          -- a call costs more than the look whether there are any
          CASE WHEN i.lane IS NOT NULL AND EXISTS (SELECT FROM inbox_burst u WHERE u.newest = i.seq AND u.earlier > 0)
            THEN earlier_of(i.seq) END
        FROM unnest(v_claimed, v_due) WITH ORDINALITY AS claimed(seq, due, n)
        JOIN inbox i ON i.seq = claimed.seq LEFT JOIN inbox_body b ON b.seq = claimed.seq
        ORDER BY claimed.n;
    END IF;

    IF v_sweeps THEN
      PERFORM raise_low_seq(v_class, p_owner);
    END IF;
  END $$;
`;

export const COMMIT_FUNCTIONS = ADD_STEPS + SETTLE + COMPLETE + ACCEPT + COMMIT;
