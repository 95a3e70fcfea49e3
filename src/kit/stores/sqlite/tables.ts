import { addColumns } from "../rows.js";

/** Append only: a file's `user_version` is the number of migrations that were applied to it. */
export const MIGRATIONS: readonly string[] = [
  // With two tables a change of state does not rewrite the payload. Each state has a partial index
  // with the rows of its query. WITHOUT ROWID is not used, because it writes three times the bytes
  // for each event.
  `
  CREATE TABLE inbox (
    seq               INTEGER PRIMARY KEY,
    endpoint          TEXT    NOT NULL,
    event_id          TEXT    NOT NULL,
    type              TEXT    NOT NULL,
    state             TEXT    NOT NULL CHECK (state = 'leased' OR state = 'done' OR state = 'ready' OR state = 'dead'
                                             OR state = 'quarantined'), -- IN would make a table of them for every row
    due_at            INTEGER NOT NULL, -- ready: when due; leased: when the lease runs out; else: since when
    token             INTEGER NOT NULL,
    attempts          INTEGER NOT NULL DEFAULT 0,
    crashes           INTEGER NOT NULL DEFAULT 0,
    possibly_repeated INTEGER NOT NULL DEFAULT 0,
    replayed          INTEGER NOT NULL DEFAULT 0,
    has_payload       INTEGER NOT NULL DEFAULT 1,
    received_at       INTEGER NOT NULL,
    body_hash         BLOB    NOT NULL,
    last_error        TEXT
  ) STRICT;
  CREATE UNIQUE INDEX inbox_key ON inbox (endpoint, event_id);
  CREATE INDEX inbox_ready ON inbox (endpoint, due_at) WHERE state = 'ready' AND crashes < 2;
  CREATE INDEX inbox_suspect ON inbox (endpoint, due_at) WHERE state = 'ready' AND crashes >= 2;
  CREATE INDEX inbox_leased ON inbox (endpoint, due_at) WHERE state = 'leased';
  CREATE INDEX inbox_done_payload ON inbox (endpoint, due_at) WHERE state = 'done' AND has_payload = 1;
  CREATE INDEX inbox_done_key ON inbox (endpoint, due_at) WHERE state = 'done' AND has_payload = 0;
  CREATE INDEX inbox_dead ON inbox (endpoint, due_at) WHERE state = 'dead';
  CREATE INDEX inbox_quarantined ON inbox (endpoint, due_at) WHERE state = 'quarantined';

  CREATE TABLE inbox_body (
    seq     INTEGER PRIMARY KEY,
    headers TEXT NOT NULL,
    body    BLOB NOT NULL
  ) STRICT;
`,
  // If `ready_since` is in the future, the clock was set back after the row became ready, and a claim
  // corrects the row.
  `
  ALTER TABLE inbox ADD COLUMN ready_since INTEGER NOT NULL DEFAULT 0; -- ready: since when; else: not used
  CREATE INDEX inbox_ready_since ON inbox (endpoint, ready_since) WHERE state = 'ready';
`,
  // The column `headers` becomes `received`, which holds a time too. Old rows are not converted,
  // since that would double the file; payloads.ts reads both forms. Dead and quarantined events are
  // listed by `seq`, which SQLite appends to the columns of each index, so their indexes no longer
  // contain `due_at`.
  `
  ALTER TABLE inbox_body RENAME COLUMN headers TO received;
  DROP INDEX inbox_ready;
  DROP INDEX inbox_suspect;
  DROP INDEX inbox_dead;
  DROP INDEX inbox_quarantined;
  CREATE INDEX inbox_ready ON inbox (endpoint, due_at) WHERE state = 'ready';
  CREATE INDEX inbox_dead ON inbox (endpoint) WHERE state = 'dead';
  CREATE INDEX inbox_quarantined ON inbox (endpoint) WHERE state = 'quarantined';
`,
  // A claim asked for events with two crashes alone.
  `
  CREATE INDEX inbox_suspect ON inbox (endpoint, due_at) WHERE state = 'ready' AND crashes >= 2;
`,
  // What people look for: facts of an event, its earlier steps, and counts over time. No index,
  // because it would write a page for each event; search.ts reads the table. Old events have no
  // facts.
  `
  ALTER TABLE inbox ADD COLUMN signal_type TEXT;
  ALTER TABLE inbox ADD COLUMN product TEXT;

  CREATE TABLE inbox_history (
    seq      INTEGER NOT NULL,
    step     INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    kind     TEXT    NOT NULL,
    attempts INTEGER NOT NULL,
    error    TEXT,
    PRIMARY KEY (seq, step)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE inbox_minute (
    endpoint   TEXT    NOT NULL,
    minute     INTEGER NOT NULL, -- minutes since 1970
    accepted   INTEGER NOT NULL,
    handed_off INTEGER NOT NULL,
    failed     INTEGER NOT NULL,
    PRIMARY KEY (endpoint, minute)
  ) STRICT, WITHOUT ROWID;
`,
  // No claim asks for suspects any more: events that crashed wait for a delay.
  `
  DROP INDEX inbox_suspect;
`,
  // Any sender's events. The content key has a partial index, so that an event without one writes no
  // index page for it. `sender` NULL: the default one.
  `
  ALTER TABLE inbox RENAME COLUMN signal_type TO subtype;
  ALTER TABLE inbox RENAME COLUMN product TO subject;
  ALTER TABLE inbox ADD COLUMN sender TEXT;
  ALTER TABLE inbox ADD COLUMN content_key BLOB;
  CREATE UNIQUE INDEX inbox_content ON inbox (endpoint, content_key) WHERE content_key IS NOT NULL;
`,
  // Events that failed and wait for another attempt, in the order of `seq`, so that an event that
  // succeeds writes nothing to it. And what receivers say of themselves.
  `
  CREATE INDEX inbox_failing ON inbox (endpoint) WHERE state = 'ready' AND last_error IS NOT NULL;

  CREATE TABLE inbox_report (
    endpoint TEXT    NOT NULL,
    reporter TEXT    NOT NULL,
    at       INTEGER NOT NULL,
    report   TEXT    NOT NULL,
    PRIMARY KEY (endpoint, reporter)
  ) STRICT, WITHOUT ROWID;
`,
  // Done events stand in no index but those of the keys: see DROP_UNUSED. Processes of the version
  // before are refused from now on, because they would read the whole inbox to prune it.
  "",
  // Of the events of a minute: those without a callback, and the times from received to done. Zeros
  // take a byte each. A process of the version before, which has the file open, goes on.
  addColumns("INTEGER"),
  // The lanes of ordered events: lanes.ts. An event without one has NULL in both columns. A process of
  // the version before, which has the file open, goes on; what it ends is promoted by another one.
  `
  ALTER TABLE inbox ADD COLUMN lane BLOB; -- a hash of the key
  ALTER TABLE inbox ADD COLUMN lane_skips INTEGER; -- whether a dead event lets the later ones go on

  CREATE TABLE inbox_lane (
    endpoint TEXT    NOT NULL,
    lane     BLOB    NOT NULL,
    place    INTEGER NOT NULL, -- 1: the head; 2: waits
    seq      INTEGER NOT NULL,
    PRIMARY KEY (endpoint, lane, place, seq)
  ) STRICT, WITHOUT ROWID;
`,
  // The bursts of the option `coalesce`: bursts.ts. An event that no other has superseded has NULL in
  // `burst`, and stands in no index for it.
  `
  ALTER TABLE inbox ADD COLUMN burst INTEGER; -- of an event that was superseded: the id of its burst
  ALTER TABLE inbox ADD COLUMN burst_rank BLOB; -- the result of coalesce.newest
  CREATE INDEX inbox_superseded ON inbox (burst) WHERE burst IS NOT NULL;

  CREATE TABLE inbox_burst (
    newest   INTEGER PRIMARY KEY, -- its seq
    id       INTEGER NOT NULL UNIQUE, -- the seq of the first event
    since    INTEGER NOT NULL, -- when the last event came
    until    INTEGER NOT NULL, -- when the newest is due
    deadline INTEGER NOT NULL, -- and at the latest
    earlier  INTEGER NOT NULL -- how many were superseded
  ) STRICT;
`,
  // The last alarm of each kind.
  `
  CREATE TABLE inbox_alarm (
    endpoint TEXT NOT NULL,
    kind     TEXT NOT NULL,
    state    TEXT NOT NULL, -- JSON
    PRIMARY KEY (endpoint, kind)
  ) STRICT, WITHOUT ROWID;
`,
  // From now on `secure_delete` overwrites what is deleted. A file of an older version has copies in
  // free pages, until a vacuum; a new one has no event yet.
  `
  CREATE TABLE inbox_unclean AS SELECT seq FROM inbox LIMIT 1;
`,
];

/**
 * Drops the indexes with which older versions find old done events. Such a process that has a
 * shared file open needs them until it ends, so this is not a migration.
 */
export const DROP_UNUSED =
  "DROP INDEX IF EXISTS inbox_done_payload; DROP INDEX IF EXISTS inbox_done_key";
