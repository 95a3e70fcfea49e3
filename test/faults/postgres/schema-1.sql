
  CREATE TABLE inbox (
    seq               bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    due_at            bigint  NOT NULL, -- ready: when due; leased: when the lease expires; else: since when
    queue_at          bigint,           -- ready: when due; else NULL
    ready_since       bigint,           -- ready: since when; else NULL. In the future: the clock was set back
    parked_at         bigint,           -- dead and quarantined: since when; else NULL
    claimed_by        int,              -- leased by a claim: the owner; else NULL
    received_at       bigint  NOT NULL, -- by the clock of the process, so nothing depends on it
    token             int     NOT NULL, -- random: after a failover a seq can belong to another event than before
    owner             int     NOT NULL, -- of the last lease
    attempts          int     NOT NULL DEFAULT 0,
    crashes           int     NOT NULL DEFAULT 0,
    possibly_repeated boolean NOT NULL DEFAULT false,
    replayed          boolean NOT NULL DEFAULT false,
    has_payload       boolean NOT NULL DEFAULT true,
    state             text    NOT NULL,
    -- With another collation an upgrade of the system's C library could break the order, and so the uniqueness, of the key.
    endpoint          text    NOT NULL COLLATE "C",
    event_id          text    NOT NULL COLLATE "C",
    type              text    NOT NULL,
    body_hash         bytea   NOT NULL,
    last_error        text,
    signal_type       text,
    product           text
  ) WITH (
    fillfactor = 50, -- room for the settlement on the page of its event, which HOT needs
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_insert_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.05
  );
  CREATE UNIQUE INDEX inbox_key ON inbox (endpoint, event_id);
  CREATE INDEX inbox_queue ON inbox (endpoint, queue_at, seq) WHERE queue_at IS NOT NULL AND crashes < 2;
  CREATE INDEX inbox_suspects ON inbox (endpoint, queue_at, seq) WHERE queue_at IS NOT NULL AND crashes >= 2;
  CREATE INDEX inbox_ready_since ON inbox (endpoint, ready_since) WHERE ready_since IS NOT NULL;
  CREATE INDEX inbox_parked ON inbox (endpoint, seq) WHERE parked_at IS NOT NULL;
  CREATE INDEX inbox_claimed ON inbox (claimed_by, seq) WHERE claimed_by IS NOT NULL;

  CREATE TABLE inbox_body (
    seq      bigint PRIMARY KEY,
    received text   NOT NULL, -- JSON
    body     bytea  NOT NULL
  );
  -- Most bodies are small or already compressed: without an attempt to compress, a commit takes less time.
  ALTER TABLE inbox_body ALTER body SET STORAGE EXTERNAL;

  -- What happened to an event before its present state, while its body is kept.
  CREATE TABLE inbox_history (
    seq      bigint NOT NULL,
    step     bigint GENERATED ALWAYS AS IDENTITY,
    at       bigint NOT NULL,
    kind     text   NOT NULL,
    attempts int    NOT NULL,
    error    text,
    PRIMARY KEY (seq, step)
  );

  -- Processes count their commits, and add the sums here about once a second: see activity.ts.
  CREATE TABLE inbox_minute (
    endpoint   text   NOT NULL COLLATE "C",
    minute     bigint NOT NULL, -- its first millisecond
    accepted   bigint NOT NULL,
    handed_off bigint NOT NULL,
    failed     bigint NOT NULL,
    PRIMARY KEY (endpoint, minute)
  ) WITH (fillfactor = 50);

  -- A process that has an endpoint open. All times are by the clock of the database.
  CREATE TABLE inbox_owner (
    id          int    GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    endpoint    text   NOT NULL,
    beat_at     bigint NOT NULL, -- the last heartbeat
    alive_since bigint NOT NULL, -- the first heartbeat after the last gap
    swept_at    bigint NOT NULL, -- when it last looked for leases of dead owners
    low_seq     bigint NOT NULL  -- no event below this is leased to it since its birth; claimed events have an index
  ) WITH (fillfactor = 20);

  CREATE FUNCTION now_ms() RETURNS bigint LANGUAGE sql VOLATILE
  AS $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

  CREATE FUNCTION add_steps(p_at bigint, p_kind text, p_seqs bigint[], p_attempts int[], p_errors text[]) RETURNS void
  LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
  BEGIN
    INSERT INTO inbox_history (seq, at, kind, attempts, error)
    SELECT s.seq, p_at, p_kind, s.attempts, s.error FROM unnest(p_seqs, p_attempts, p_errors) AS s(seq, attempts, error);
    DELETE FROM inbox_history h USING unnest(p_seqs) AS s(seq)
    WHERE h.seq = s.seq AND h.step <= (
      SELECT old.step FROM inbox_history old WHERE old.seq = s.seq ORDER BY old.step DESC OFFSET 50 LIMIT 1);
  END $$;

  CREATE FUNCTION leased_to(p_owner int, p_low_seq bigint, p_below bigint) RETURNS SETOF bigint
  LANGUAGE sql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET search_path FROM CURRENT AS $$
    SELECT seq FROM inbox WHERE claimed_by = p_owner
    UNION ALL
    SELECT seq FROM inbox
    WHERE seq >= p_low_seq AND seq < p_below AND owner = p_owner AND state = 'leased' AND claimed_by IS NULL
  $$;

  CREATE FUNCTION free_crashed(p_now bigint, p_seqs bigint[]) RETURNS json -- the events that became dead; or NULL
  LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
  DECLARE
    v_freed bigint[];
    v_attempts int[];
    v_dead json;
  BEGIN
    WITH freed AS (
      UPDATE inbox SET
        token = token + 1,
        crashes = crashes + 1,
        possibly_repeated = true,
        claimed_by = NULL,
        due_at = p_now,
        state = CASE WHEN crashes + 1 >= 5 THEN 'dead' ELSE 'ready' END,
        queue_at = CASE WHEN crashes + 1 >= 5 THEN NULL ELSE p_now END,
        ready_since = CASE WHEN crashes + 1 >= 5 THEN NULL ELSE p_now END,
        parked_at = CASE WHEN crashes + 1 >= 5 THEN p_now END,
        last_error = CASE WHEN crashes + 1 >= 5 THEN 'crash_loop' ELSE last_error END
      WHERE seq = ANY (p_seqs) AND state = 'leased'
      RETURNING seq, event_id, type, attempts, state
    )
    SELECT array_agg(seq), array_agg(attempts),
      json_agg(json_build_object('seq', seq, 'eventId', event_id, 'type', type, 'attempts', attempts)) FILTER (WHERE state = 'dead')
    INTO v_freed, v_attempts, v_dead FROM freed;
    IF v_freed IS NOT NULL THEN
      PERFORM add_steps(p_now, 'crashed', v_freed, v_attempts, NULL);
    END IF;
    RETURN v_dead;
  END $$;

  CREATE FUNCTION sweep(p_endpoint text, p_owner int, p_held bigint[]) RETURNS json
  LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
  DECLARE
    v_now bigint;
    v_class int := 'inbox'::regclass::oid::bigint::bit(32)::int;
    v_me inbox_owner;
    v_dead inbox_owner;
    v_freed bigint[];
    v_next bigint;
  BEGIN
    SELECT * INTO v_me FROM inbox_owner WHERE id = p_owner;
    -- Not the time of the commit, which may have waited for a lock while the others had their heartbeats. And not before its own
    -- heartbeat is read, which would look like one of a clock that was set back if it came in between.
    v_now := now_ms();
    -- Its own leases that expired and that it does not hold: a settlement was refused, or a commit whose result was lost.
    v_freed := ARRAY(
      SELECT seq FROM inbox
      WHERE seq = ANY (ARRAY(SELECT leased_to(p_owner, v_me.low_seq, v_me.low_seq + 100000)))
        AND owner = p_owner AND state = 'leased' AND due_at <= v_now AND seq <> ALL (p_held)
      ORDER BY seq LIMIT 500 FOR UPDATE SKIP LOCKED);
    IF v_me.alive_since <= v_now - 5000 AND v_me.beat_at BETWEEN v_now - 5000 AND v_now THEN
      FOR v_dead IN
        SELECT * FROM inbox_owner
        WHERE endpoint = p_endpoint AND id <> p_owner
          AND beat_at NOT BETWEEN v_now - 5000 AND v_now + 5000 -- later: the clock was set back
        ORDER BY id FOR UPDATE SKIP LOCKED
      LOOP
        v_next := v_dead.low_seq + 100000;
        v_freed := v_freed || ARRAY(
          SELECT seq FROM inbox
          WHERE seq = ANY (ARRAY(SELECT leased_to(v_dead.id, v_dead.low_seq, v_next)))
            AND owner = v_dead.id AND state = 'leased'
          ORDER BY seq LIMIT 500 FOR UPDATE SKIP LOCKED);
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

  CREATE FUNCTION show_alive(p_owner int) RETURNS boolean -- false: the owner is gone
  LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE inbox_owner SET 
  alive_since = CASE WHEN beat_at BETWEEN now_ms() - 5000 AND now_ms() THEN alive_since ELSE now_ms() END,
  beat_at = now_ms()
    WHERE id = p_owner;
    RETURN FOUND;
  END $$;

  CREATE FUNCTION raise_low_seq(p_class int, p_owner int) RETURNS void
  LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
  DECLARE
    v_low bigint;
    v_last bigint;
  BEGIN
    IF pg_try_advisory_xact_lock(p_class, p_owner) THEN
      SELECT low_seq INTO v_low FROM inbox_owner WHERE id = p_owner;
      SELECT last_value INTO v_last FROM inbox_seq_seq;
      v_last := least(v_last, v_low + 100000);
      v_low := coalesce((
        SELECT seq FROM inbox
        WHERE seq >= v_low AND seq < v_last AND owner = p_owner AND state = 'leased' AND claimed_by IS NULL
        ORDER BY seq LIMIT 1), v_last);
    END IF;
    UPDATE inbox_owner SET
      low_seq = coalesce(v_low, low_seq), swept_at = now_ms(), 
  alive_since = CASE WHEN beat_at BETWEEN now_ms() - 5000 AND now_ms() THEN alive_since ELSE now_ms() END,
  beat_at = now_ms()
    WHERE id = p_owner;
  END $$;

  CREATE FUNCTION oldest_ready_age(p_endpoint text) RETURNS bigint
  LANGUAGE sql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET search_path FROM CURRENT AS $$
    SELECT greatest(now_ms() - first, 0)
    FROM (SELECT least((SELECT queue_at FROM inbox WHERE endpoint = p_endpoint AND crashes < 2 AND queue_at IS NOT NULL ORDER BY queue_at LIMIT 1), (SELECT queue_at FROM inbox WHERE endpoint = p_endpoint AND crashes >= 2 AND queue_at IS NOT NULL ORDER BY queue_at LIMIT 1)) AS first) AS oldest
    WHERE first IS NOT NULL
  $$;

  CREATE FUNCTION beat(p_endpoint text, p_owner int) RETURNS json
  LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET search_path FROM CURRENT AS $$
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
      'medium', json_build_object(
        'durability', CASE WHEN current_setting('synchronous_standby_names') = '' THEN 'primary' ELSE 'standby' END,
        'synchronousCommit', CASE WHEN v_sync IN ('off', 'local') THEN 'on' ELSE v_sync END,
        'synchronousStandbys', v_standbys,
        'inRecovery', pg_is_in_recovery()));
  END $$;

  CREATE FUNCTION register_owner(p_endpoint text) RETURNS int LANGUAGE sql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET search_path FROM CURRENT AS $$
    INSERT INTO inbox_owner (endpoint, beat_at, alive_since, swept_at, low_seq)
    SELECT p_endpoint, now_ms(), now_ms(), 0, last_value FROM inbox_seq_seq
    RETURNING id
  $$;

  CREATE FUNCTION unregister_owner(p_owner int) RETURNS void LANGUAGE sql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET search_path FROM CURRENT AS $$
    DELETE FROM inbox_owner WHERE id = p_owner AND pg_try_advisory_xact_lock('inbox'::regclass::oid::bigint::bit(32)::int, p_owner)
      AND NOT EXISTS (SELECT FROM leased_to(p_owner, low_seq, (SELECT last_value + 1 FROM inbox_seq_seq)))
  $$;

  CREATE FUNCTION free_own(p_owner int, p_held bigint[]) RETURNS int LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET search_path FROM CURRENT AS $$
  DECLARE
    v_now bigint := now_ms();
    v_freed int;
  BEGIN
    
    IF current_setting('synchronous_commit') IN ('off', 'local') THEN
      PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    IF current_setting('client_min_messages') = 'error' THEN
      PERFORM set_config('client_min_messages', 'warning', true);
    END IF;

    UPDATE inbox SET state = 'ready', token = token + 1, claimed_by = NULL, due_at = v_now, queue_at = v_now, ready_since = v_now
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

  CREATE FUNCTION free_orphans(p_endpoint text, p_from bigint, p_below bigint) RETURNS json LANGUAGE sql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET search_path FROM CURRENT AS $$
    SELECT free_crashed(now_ms(), ARRAY(
      SELECT i.seq FROM inbox i
      WHERE i.seq >= p_from AND i.seq < p_below AND i.endpoint = p_endpoint AND i.state = 'leased' AND NOT EXISTS (
        SELECT FROM inbox_owner o WHERE o.id = i.owner AND (i.claimed_by IS NOT NULL OR i.seq >= o.low_seq))
      ORDER BY i.seq FOR UPDATE SKIP LOCKED))
  $$;

  CREATE FUNCTION settle(
    p_now bigint, p_seqs bigint[], p_tokens int[], p_states text[], p_delays bigint[], p_attempts int[],
    p_repeated boolean[], p_errors text[], p_completing bigint[]
  ) RETURNS json -- a SettleResult for each, or 'before'. NULL: all applied now
  LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
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
        ready_since = CASE WHEN s.state = 'ready' THEN p_now END,
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
    RETURN (
      SELECT json_agg(
        CASE
          WHEN inbox.token IS DISTINCT FROM s.token THEN 'false'
          WHEN s.seq = ANY (v_settled) THEN 'true'
          WHEN inbox.state = 'leased' THEN '"locked"'
          WHEN inbox.state = 'done' AND s.state <> 'done' AND s.seq = ANY (p_completing) THEN '"completed"'
          ELSE '"before"'
        END::json ORDER BY s.n)
      FROM unnest(p_seqs, p_tokens, p_states) WITH ORDINALITY AS s(seq, token, state, n)
      LEFT JOIN inbox ON inbox.seq = s.seq
    );
  END $$;

  CREATE FUNCTION complete(p_seq bigint, p_token int) RETURNS boolean -- true
  LANGUAGE plpgsql SECURITY DEFINER SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET search_path FROM CURRENT AS $$
  BEGIN
    UPDATE inbox SET state = 'done', due_at = now_ms(), claimed_by = NULL, attempts = attempts + 1
    WHERE seq = p_seq AND token = p_token AND state = 'leased';
    IF NOT FOUND THEN
      RAISE EXCEPTION 'signalbox: this hand-off has lost its event, or has completed it before' USING
        ERRCODE = 'SBX02',
        HINT = 'Let this transaction roll back. If the event is not done, it is handed off again.';
    END IF;
    RETURN true;
  END $$;

  CREATE FUNCTION accept(
    p_now bigint, p_endpoint text, p_owner int, p_token int, p_ids text[], p_types text[], p_states text[], p_leases bigint[],
    p_received_at bigint[], p_reasons text[], p_received text[], p_hashes bytea[], p_starts int[], p_lengths int[],
    p_bodies bytea, p_signal_types text[], p_products text[], OUT seqs bigint[], OUT fates text[] -- new, same (body) or other (body). NULL: all new
  )
  LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
  DECLARE
    v_ids text[];
    v_new bigint[];
  BEGIN
    WITH stored AS (
      INSERT INTO inbox (endpoint, event_id, type, state, due_at, queue_at, ready_since, parked_at, token, owner,
        received_at, body_hash, last_error, signal_type, product)
      SELECT p_endpoint, e.id, e.type, e.state, p_now + coalesce(e.lease, 0), CASE WHEN e.state = 'ready' THEN p_now END,
        CASE WHEN e.state = 'ready' THEN p_now END, CASE WHEN e.state = 'quarantined' THEN p_now END,
        CASE WHEN e.state = 'leased' THEN p_token ELSE 0 END, p_owner, e.received_at, e.hash, e.reason,
        e.signal_type, e.product
      FROM unnest(p_ids, p_types, p_states, p_leases, p_received_at, p_reasons, p_hashes, p_signal_types, p_products)
        WITH ORDINALITY AS e(id, type, state, lease, received_at, reason, hash, signal_type, product, n)
      WHERE (SELECT old.seq FROM inbox old WHERE old.endpoint = p_endpoint AND old.event_id = e.id) IS NULL
      ORDER BY e.n
      ON CONFLICT (endpoint, event_id) DO NOTHING
      RETURNING inbox.seq, inbox.event_id
    )
    SELECT array_agg(stored.seq), array_agg(stored.event_id) INTO v_new, v_ids FROM stored;
    IF v_ids = p_ids THEN
      seqs := v_new;
    ELSE
      -- A new statement, because the one above does not see rows that another process committed while it ran.
      SELECT array_agg(old.seq ORDER BY e.n),
        array_agg(CASE WHEN old.seq = ANY (v_new) THEN 'new' WHEN old.body_hash = e.hash THEN 'same' ELSE 'other' END ORDER BY e.n)
      INTO seqs, fates
      FROM unnest(p_ids, p_hashes) WITH ORDINALITY AS e(id, hash, n)
      LEFT JOIN inbox old ON old.endpoint = p_endpoint AND old.event_id = e.id;
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
  END $$;

  CREATE FUNCTION commit_batch(
    p_endpoint text, p_owner int, p_token int,
    s_seqs bigint[], s_tokens int[], s_states text[], s_delays bigint[], s_attempts int[], s_repeated boolean[], s_errors text[],
    s_completing bigint[],
    a_ids text[], a_types text[], a_states text[], a_leases bigint[], a_received_at bigint[], a_reasons text[],
    a_received text[], a_hashes bytea[], a_starts int[], a_lengths int[], a_bodies bytea, a_signal_types text[], a_products text[],
    p_limit int, p_lease bigint, p_suspects boolean, p_held bigint[] -- p_limit NULL: no claim
  ) RETURNS TABLE (
    summary json, -- in the first row alone; the other rows are the claimed events
    seq bigint, "eventId" text, type text, token int, attempts int, crashes int, "receivedAt" bigint,
    "possiblyRepeated" boolean, replayed boolean, "traceParent" text, body bytea
  )
  LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET search_path FROM CURRENT AS $$
  #variable_conflict use_column
  DECLARE
    v_class int := 'inbox'::regclass::oid::bigint::bit(32)::int;
    v_now bigint;
    v_swept_at bigint;
    v_sweeps boolean;
    v_applied json;
    v_accepted record;
    v_dead json;
    v_claimed bigint[];
    v_next bigint;
    v_is_suspect_due boolean;
  BEGIN
    
    IF current_setting('synchronous_commit') IN ('off', 'local') THEN
      PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    IF current_setting('client_min_messages') = 'error' THEN
      PERFORM set_config('client_min_messages', 'warning', true);
    END IF;

    PERFORM pg_advisory_xact_lock_shared(v_class, p_owner);
    v_now := now_ms();
    SELECT swept_at INTO v_swept_at FROM inbox_owner WHERE id = p_owner;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the owner % is gone', p_owner USING ERRCODE = 'SBX01';
    END IF;
    v_sweeps := p_limit IS NOT NULL AND v_now NOT BETWEEN v_swept_at AND v_swept_at + 1000 - 1;

    IF cardinality(s_seqs) > 0 THEN
      v_applied := settle(v_now, s_seqs, s_tokens, s_states, s_delays, s_attempts, s_repeated, s_errors, s_completing);
    END IF;

    SELECT NULL::bigint[] AS seqs, NULL::text[] AS fates INTO v_accepted;
    IF cardinality(a_ids) > 0 THEN
      SELECT * INTO v_accepted FROM accept(v_now, p_endpoint, p_owner, p_token, a_ids, a_types, a_states, a_leases, a_received_at,
        a_reasons, a_received, a_hashes, a_starts, a_lengths, a_bodies, a_signal_types, a_products);
    END IF;

    IF p_limit IS NOT NULL THEN
      IF v_sweeps THEN
        v_dead := sweep(p_endpoint, p_owner, p_held);
      END IF;
      
  UPDATE inbox SET
    due_at = due_at - (ready_since - v_now),
    queue_at = queue_at - (ready_since - v_now),
    ready_since = v_now
  WHERE seq IN (
    SELECT seq FROM inbox WHERE endpoint = p_endpoint AND ready_since > v_now + 5000
    LIMIT 500 FOR UPDATE SKIP LOCKED);

      IF p_suspects THEN
        
  SELECT array_agg(due.seq ORDER BY due.queue_at, due.seq) INTO v_claimed FROM (
    SELECT seq, queue_at FROM inbox WHERE endpoint = p_endpoint AND queue_at <= v_now AND crashes >= 2
    ORDER BY queue_at, seq LIMIT p_limit FOR UPDATE SKIP LOCKED
  ) due;

      ELSE
        
  SELECT array_agg(due.seq ORDER BY due.queue_at, due.seq) INTO v_claimed FROM (
    SELECT seq, queue_at FROM inbox WHERE endpoint = p_endpoint AND queue_at <= v_now AND crashes < 2
    ORDER BY queue_at, seq LIMIT p_limit FOR UPDATE SKIP LOCKED
  ) due;

      END IF;
      IF v_claimed IS NOT NULL THEN
        UPDATE inbox SET
          -- not the next number: see the column in tables.ts
          state = 'leased', token = token + 1 + (random() * 1000)::int, owner = p_owner, claimed_by = p_owner, due_at = v_now + p_lease,
          queue_at = NULL, ready_since = NULL
        FROM unnest(v_claimed) AS claimed(seq) WHERE inbox.seq = claimed.seq;
      END IF;
      v_next := least((SELECT queue_at FROM inbox WHERE endpoint = p_endpoint AND crashes < 2 AND queue_at > v_now ORDER BY queue_at LIMIT 1), (SELECT queue_at FROM inbox WHERE endpoint = p_endpoint AND crashes >= 2 AND queue_at > v_now ORDER BY queue_at LIMIT 1));
      v_is_suspect_due := (SELECT queue_at FROM inbox WHERE endpoint = p_endpoint AND crashes >= 2 AND queue_at <= v_now ORDER BY queue_at LIMIT 1) <= coalesce((SELECT queue_at FROM inbox WHERE endpoint = p_endpoint AND crashes < 2 AND queue_at <= v_now ORDER BY queue_at LIMIT 1), v_now);
    END IF;

    RETURN QUERY SELECT
      json_build_object('now', v_now, 'applied', v_applied, 'seqs', v_accepted.seqs, 'fates', v_accepted.fates, 'dead', v_dead,
        'nextDueInMs', v_next - v_now, 'isSuspectDue', v_is_suspect_due),
      NULL::bigint, NULL, NULL, NULL::int, NULL::int, NULL::int, NULL::bigint, NULL::boolean, NULL::boolean, NULL, NULL::bytea;
    IF v_claimed IS NOT NULL THEN
      -- No cast to json, which fails for a text that json cannot hold, such as NUL in a header, and would stop all hand-offs.
      RETURN QUERY
        SELECT NULL::json, i.seq, i.event_id, i.type, i.token, i.attempts, i.crashes, i.received_at, i.possibly_repeated,
          i.replayed, substring(b.received FROM '"traceParent":"([0-9a-f-]{55})"'), coalesce(b.body, '')
        FROM unnest(v_claimed) WITH ORDINALITY AS claimed(seq, n)
        JOIN inbox i ON i.seq = claimed.seq LEFT JOIN inbox_body b ON b.seq = claimed.seq
        ORDER BY claimed.n;
    END IF;

    IF v_sweeps THEN
      PERFORM raise_low_seq(v_class, p_owner);
    END IF;
  END $$;

  CREATE FUNCTION replay(
    p_endpoints text[], p_ids text[], p_read_ids text[], p_read_types text[], p_signal_types text[], p_products text[]
  ) RETURNS text[]
  LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET search_path FROM CURRENT AS $$
  DECLARE
    v_now bigint := now_ms();
    v_outcomes text[] := '{}';
    v_outcome text;
    v_row inbox;
    e record;
  BEGIN
    
    IF current_setting('synchronous_commit') IN ('off', 'local') THEN
      PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    IF current_setting('client_min_messages') = 'error' THEN
      PERFORM set_config('client_min_messages', 'warning', true);
    END IF;

    FOR e IN
      SELECT * FROM unnest(p_endpoints, p_ids, p_read_ids, p_read_types, p_signal_types, p_products)
        AS e(endpoint, id, read_id, read_type, signal_type, product)
    LOOP
      SELECT * INTO v_row FROM inbox
      WHERE endpoint = e.endpoint AND event_id = e.id AND state IN ('done', 'dead', 'quarantined') FOR UPDATE;
      IF NOT FOUND THEN
        v_outcome := CASE WHEN EXISTS (SELECT FROM inbox WHERE endpoint = e.endpoint AND event_id = e.id)
          THEN 'wrong_state' ELSE 'not_found' END;
      ELSIF NOT v_row.has_payload THEN
        v_outcome := 'payload_gone';
      ELSIF e.read_id IS NULL THEN
        v_outcome := 'still_unusable';
      ELSE
        BEGIN
          UPDATE inbox SET
            event_id = e.read_id, type = e.read_type, signal_type = e.signal_type, product = e.product, state = 'ready', due_at = v_now, queue_at = v_now, ready_since = v_now,
            parked_at = NULL, attempts = 0, crashes = 0, replayed = true,
            possibly_repeated = possibly_repeated OR state = 'done'
          WHERE seq = v_row.seq;
          PERFORM add_steps(v_now, 'replayed', ARRAY[v_row.seq], ARRAY[v_row.attempts], NULL);
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

  CREATE FUNCTION discard(p_endpoints text[], p_ids text[]) RETURNS text[] LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET search_path FROM CURRENT AS $$
  DECLARE
    v_outcomes text[] := '{}';
    v_outcome text;
    v_row inbox;
    e record;
  BEGIN
    
    IF current_setting('synchronous_commit') IN ('off', 'local') THEN
      PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    IF current_setting('client_min_messages') = 'error' THEN
      PERFORM set_config('client_min_messages', 'warning', true);
    END IF;

    FOR e IN SELECT * FROM unnest(p_endpoints, p_ids) AS e(endpoint, id) LOOP
      SELECT * INTO v_row FROM inbox
      WHERE endpoint = e.endpoint AND event_id = e.id AND state IN ('dead', 'quarantined') FOR UPDATE;
      IF NOT FOUND THEN
        v_outcome := CASE WHEN EXISTS (SELECT FROM inbox WHERE endpoint = e.endpoint AND event_id = e.id)
          THEN 'wrong_state' ELSE 'not_found' END;
      ELSE
        UPDATE inbox SET state = 'done', due_at = now_ms(), parked_at = NULL, has_payload = false WHERE seq = v_row.seq;
        DELETE FROM inbox_body WHERE seq = v_row.seq;
        DELETE FROM inbox_history WHERE seq = v_row.seq;
        v_outcome := 'moved';
      END IF;
      v_outcomes := v_outcomes || v_outcome;
    END LOOP;
    RETURN v_outcomes;
  END $$;

  CREATE FUNCTION prune(
    p_endpoint text, p_from bigint, p_walk bigint, p_payload_age bigint, p_key_age bigint, p_limit int,
    OUT payloads int, OUT keys int, OUT next_seq bigint
  )
  LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET search_path FROM CURRENT AS $$
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
      ORDER BY seq LIMIT p_limit FOR UPDATE SKIP LOCKED);
    WITH gone AS (
      DELETE FROM inbox WHERE seq = ANY (v_old) AND due_at < v_now - p_key_age RETURNING has_payload
    )
    SELECT count(*), count(*) FILTER (WHERE has_payload) INTO keys, payloads FROM gone;
    WITH emptied AS (UPDATE inbox SET has_payload = false WHERE seq = ANY (v_old) AND has_payload RETURNING 1)
    SELECT payloads + count(*) INTO payloads FROM emptied;
    DELETE FROM inbox_body WHERE seq = ANY (v_old);
    DELETE FROM inbox_history WHERE seq = ANY (v_old);
    DELETE FROM inbox_minute WHERE endpoint = p_endpoint AND minute < v_now - 691200000;
    next_seq := CASE WHEN cardinality(v_old) = p_limit THEN v_old[p_limit] + 1
      ELSE (SELECT seq FROM inbox WHERE seq >= v_from + p_walk ORDER BY seq LIMIT 1) END;
  END $$;

  CREATE FUNCTION search(
    p_endpoint text, p_state text, p_type text, p_signal_type text, p_product text, p_id text, p_received_before bigint,
    p_before bigint, p_limit int
  ) RETURNS TABLE (matches boolean, is_last boolean, entry inbox)
  LANGUAGE plpgsql STABLE ROWS 50 SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET search_path FROM CURRENT SET enable_sort = off SET enable_bitmapscan = off AS $$
  DECLARE
    v_few bigint[];
    v_last bigint;
  BEGIN
    IF p_id IS NOT NULL THEN
      -- In the order of the key these come first.
      v_few := ARRAY(
        SELECT seq FROM (
          SELECT seq, event_id FROM inbox WHERE endpoint = p_endpoint AND event_id >= p_id
          ORDER BY endpoint, event_id LIMIT 2000 + 1) AS first
        WHERE starts_with(event_id, p_id));
    ELSIF p_state = 'ready' THEN
      v_few := ARRAY(SELECT seq FROM inbox WHERE endpoint = p_endpoint AND ready_since IS NOT NULL LIMIT 2000 + 1);
    ELSIF p_state = 'leased' THEN
      SELECT last_value INTO v_last FROM inbox_seq_seq;
      IF v_last - 10000 <= ALL (SELECT low_seq FROM inbox_owner WHERE endpoint = p_endpoint) THEN
        v_few := ARRAY(SELECT leased_to(id, low_seq, v_last + 1) FROM inbox_owner WHERE endpoint = p_endpoint);
      END IF;
    END IF;
    IF cardinality(v_few) <= 2000 THEN
      
      RETURN QUERY
        SELECT coalesce(looked.matches, false), looked.n = 2001, (SELECT e FROM inbox e WHERE e.seq = looked.seq) FROM (
          SELECT i.seq, row_number() OVER (ORDER BY i.seq DESC) AS n,
            i.endpoint = p_endpoint
              AND (p_state IS NULL OR i.state = p_state)
              AND (p_type IS NULL OR i.type = p_type)
              AND (p_signal_type IS NULL OR i.signal_type = p_signal_type)
              AND (p_product IS NULL OR i.product = p_product)
              AND (p_id IS NULL OR starts_with(i.event_id, p_id))
              AND (p_received_before IS NULL OR i.received_at < p_received_before) AS matches
          FROM inbox i WHERE i.seq = ANY (v_few) AND i.seq < p_before ORDER BY i.seq DESC LIMIT 2001
        ) AS looked
        WHERE looked.matches OR looked.n = 2001 LIMIT p_limit;
    ELSIF p_state IN ('dead', 'quarantined') THEN
      
      RETURN QUERY
        SELECT coalesce(looked.matches, false), looked.n = 2000, (SELECT e FROM inbox e WHERE e.seq = looked.seq) FROM (
          SELECT i.seq, row_number() OVER (ORDER BY i.seq DESC) AS n,
            i.endpoint = p_endpoint
              AND (p_state IS NULL OR i.state = p_state)
              AND (p_type IS NULL OR i.type = p_type)
              AND (p_signal_type IS NULL OR i.signal_type = p_signal_type)
              AND (p_product IS NULL OR i.product = p_product)
              AND (p_id IS NULL OR starts_with(i.event_id, p_id))
              AND (p_received_before IS NULL OR i.received_at < p_received_before) AS matches
          FROM inbox i WHERE i.endpoint = p_endpoint AND i.parked_at IS NOT NULL AND i.seq < p_before ORDER BY i.seq DESC LIMIT 2000
        ) AS looked
        WHERE looked.matches OR looked.n = 2000 LIMIT p_limit;
    ELSE
      
      RETURN QUERY
        SELECT coalesce(looked.matches, false), looked.n = 10000, (SELECT e FROM inbox e WHERE e.seq = looked.seq) FROM (
          SELECT i.seq, row_number() OVER (ORDER BY i.seq DESC) AS n,
            i.endpoint = p_endpoint
              AND (p_state IS NULL OR i.state = p_state)
              AND (p_type IS NULL OR i.type = p_type)
              AND (p_signal_type IS NULL OR i.signal_type = p_signal_type)
              AND (p_product IS NULL OR i.product = p_product)
              AND (p_id IS NULL OR starts_with(i.event_id, p_id))
              AND (p_received_before IS NULL OR i.received_at < p_received_before) AS matches
          FROM inbox i WHERE true AND i.seq < p_before ORDER BY i.seq DESC LIMIT 10000
        ) AS looked
        WHERE looked.matches OR looked.n = 10000 LIMIT p_limit;
    END IF;
  END $$;

  CREATE FUNCTION add_activity(p_endpoint text, p_sums json) RETURNS void
  LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET search_path FROM CURRENT AS $$
  BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    INSERT INTO inbox_minute AS a (endpoint, minute, accepted, handed_off, failed)
    SELECT p_endpoint, s.at, s.accepted, s."handedOff", s.failed
    FROM json_to_recordset(p_sums) AS s(at bigint, accepted bigint, "handedOff" bigint, failed bigint)
    ORDER BY s.at
    ON CONFLICT (endpoint, minute) DO UPDATE SET
      accepted = a.accepted + excluded.accepted,
      handed_off = a.handed_off + excluded.handed_off,
      failed = a.failed + excluded.failed;
  END $$;
