import { addColumns } from "../rows.js";

/**
 * The statement that drops functions with their arguments of any version: with other arguments, a
 * function would stand beside them.
 */
function dropFunctions(names: string): string {
  return `DO $$
  DECLARE
    old regprocedure;
  BEGIN
    FOR old IN
      SELECT oid FROM pg_proc
      WHERE pronamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'inbox'::regclass)
        AND proname IN (${names})
    LOOP
      EXECUTE format('DROP FUNCTION %s', old);
    END LOOP;
  END $$;`;
}

/**
 * The changes of each version, append only: `inbox_schema.version` is the number of those that were
 * applied. A schema that has all of them is not changed any more. So whoever edits a function, or a
 * constant in one, appends a version too; an empty text is enough. Processes of the version before
 * still use the schema during a rolling deployment: a version keeps what they use, such as the old
 * signature of a function beside a new one.
 */
export const MIGRATIONS: readonly string[] = [
  // An event is usually born leased and then settled as done. Neither touches an index but those of
  // the two keys, because the other indexed columns are NULL in both states. So this settlement is a
  // HOT update (that of a claimed event is not, because of `claimed_by`): about 1,500 bytes of WAL
  // for an event and no dead index entries, against 2,273 bytes with one partial index for each
  // state, and against a fall from 18,000 to 8,000 events a second while a long transaction holds
  // back vacuum. A column in any index's predicate counts as indexed, so `state` must stand in none.
  `
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
`,
  // One index for all events that wait. `ready_since` is not used any more. The DROP comes first: it
  // takes the strongest lock at once, so that no commit can deadlock with it.
  `
  DROP INDEX inbox_queue, inbox_suspects, inbox_ready_since;
  CREATE INDEX inbox_queue ON inbox (endpoint, queue_at, seq) WHERE queue_at IS NOT NULL;
`,
  // Any sender's events. The content key has a partial index, so that an event without one writes no
  // index entry for it. `sender` NULL: the default one.
  //
  // During a rolling deployment, processes of the version before still commit and settle: the
  // functions that they call are made again, after the migration, with the new arguments last, which
  // have defaults. Their search, replay, lists and imports fail until they are replaced, since they
  // name the old columns. LOCK comes first, in the order of a commit: so no commit can deadlock with
  // it, and those that wait for it have not called `accept` yet. Without the lock of the owners each
  // old process lost the commit that waited.
  `
  LOCK TABLE inbox_owner, inbox;
  ALTER TABLE inbox ADD COLUMN sender text, ADD COLUMN content_key bytea;
  ALTER TABLE inbox RENAME COLUMN signal_type TO subtype;
  ALTER TABLE inbox RENAME COLUMN product TO subject;
  CREATE UNIQUE INDEX inbox_content ON inbox (endpoint, content_key) WHERE content_key IS NOT NULL;
  ${dropFunctions("'accept', 'commit_batch', 'replay', 'search'")}
`,
  // Events that failed and wait for another attempt have an index, in which an event that succeeds
  // has no entry. And what receivers say of themselves. LOCK comes first, as above. Processes of the
  // version before cannot search until they are replaced.
  `
  LOCK TABLE inbox_owner, inbox;
  CREATE INDEX inbox_failing ON inbox (endpoint, seq) WHERE queue_at IS NOT NULL AND last_error IS NOT NULL;
  CREATE TABLE inbox_report (
    endpoint text   NOT NULL COLLATE "C",
    reporter text   NOT NULL,
    at       bigint NOT NULL,
    report   text   NOT NULL, -- JSON
    PRIMARY KEY (endpoint, reporter)
  );
  DROP FUNCTION IF EXISTS search(text, text, text, text, text, text, text, bigint, bigint, int);
`,
  // Duplicates are compared by type, subtype and subject too, and a claim returns the sender.
  // Processes of the version before go on: they pass fewer arguments, and take each fate but `same`
  // for another body. LOCK comes first, as above.
  `
  LOCK TABLE inbox_owner, inbox;
  ${dropFunctions("'accept', 'commit_batch', 'replay'")}
`,
  // Of the events of a minute: those without a callback, and the times from received to done.
  // Processes of the version before pass neither.
  addColumns("bigint"),
  // An event says that it crashes from the second crash on: only a function has changed.
  "",
  // The lanes of ordered events: lane-functions.ts. Processes of the version before pass no lanes, and
  // the repair of another one promotes what they end. LOCK comes first, as above.
  `
  LOCK TABLE inbox_owner, inbox;
  ALTER TABLE inbox
    ADD COLUMN lane bytea, -- a hash of the key; NULL: no order
    ADD COLUMN lane_skips boolean; -- whether a dead event lets the later ones go on
  CREATE TABLE inbox_lane (
    endpoint text     NOT NULL COLLATE "C",
    lane     bytea    NOT NULL,
    place    smallint NOT NULL, -- 1: the head; 2: waits
    seq      bigint   NOT NULL,
    PRIMARY KEY (endpoint, lane, place, seq)
  ) WITH (
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_insert_scale_factor = 0.05
  );
  ${dropFunctions("'accept', 'commit_batch', 'replay'")}
`,
  // The bursts of the option `coalesce`: burst-functions.ts. An event that no other has superseded has
  // NULL in `burst`, and stands in no index for it.
  `
  ALTER TABLE inbox
    ADD COLUMN burst bigint, -- of an event that was superseded: the id of its burst
    ADD COLUMN burst_rank bytea; -- the result of coalesce.newest
  CREATE INDEX inbox_superseded ON inbox (burst, seq) WHERE burst IS NOT NULL;
  CREATE TABLE inbox_burst (
    newest   bigint PRIMARY KEY, -- its seq
    id       bigint NOT NULL UNIQUE, -- the seq of the first event
    until    bigint NOT NULL, -- when the newest is due
    deadline bigint NOT NULL, -- and at the latest
    earlier  int    NOT NULL -- how many were superseded
  ) WITH (fillfactor = 50);
  ${dropFunctions("'commit_batch', 'tend_lanes'")}
`,
  // The last alarm of each kind.
  `
  CREATE TABLE inbox_alarm (
    endpoint text NOT NULL COLLATE "C",
    kind     text NOT NULL,
    state    text NOT NULL, -- JSON
    PRIMARY KEY (endpoint, kind)
  );
`,
  // Erased events: only functions have changed.
  "",
  // How the rows of lanes are found, and locked where they are dissolved: only functions have changed.
  "",
];
