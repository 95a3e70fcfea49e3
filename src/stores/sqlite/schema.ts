import type { Database } from "better-sqlite3";
import { SignalboxError } from "../../errors.js";

// Two tables, so that a change of state rewrites no payload. One partial index per state holds exactly the rows
// that its query wants. Not WITHOUT ROWID: it costs three times the bytes written per event.
const INBOX = `
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
`;

// By a `ready_since` that is still to come a row is known that waits by a clock that was set back since.
const READY_SINCE = `
  ALTER TABLE inbox ADD COLUMN ready_since INTEGER NOT NULL DEFAULT 0; -- ready: since when; else: of no account
  CREATE INDEX inbox_ready_since ON inbox (endpoint, ready_since) WHERE state = 'ready';
`;

// `received` holds more than the headers from now on; payloads.ts reads what was there before, since a rewrite of all
// payloads would double the file. What is ready needs no index of its own for suspects. What waits for a person is listed
// by `seq`, which an index holds behind its columns.
const LISTED_BY_SEQ = `
  ALTER TABLE inbox_body RENAME COLUMN headers TO received;
  DROP INDEX inbox_ready;
  DROP INDEX inbox_suspect;
  DROP INDEX inbox_dead;
  DROP INDEX inbox_quarantined;
  CREATE INDEX inbox_ready ON inbox (endpoint, due_at) WHERE state = 'ready';
  CREATE INDEX inbox_dead ON inbox (endpoint) WHERE state = 'dead';
  CREATE INDEX inbox_quarantined ON inbox (endpoint) WHERE state = 'quarantined';
`;

/** Append only: a file carries in `user_version` how many of these it has seen. */
const MIGRATIONS: readonly string[] = [INBOX, READY_SINCE, LISTED_BY_SEQ];

/** "sgbx": marks a file as an inbox. */
const APPLICATION_ID = 0x73676278;

function versionOf(db: Database): number {
  return db.pragma("user_version", { simple: true }) as number;
}

/**
 * To be called before anything is written: a database of something else must stay as it is.
 *
 * @param mayMake whether an empty or older file will be migrated
 * @throws SignalboxError `store_newer`, `store_unsupported`
 */
export function assertInbox(db: Database, path: string, mayMake: boolean): void {
  // In one transaction: another process may be making the file at this moment.
  const [isOurs, isEmpty] = db.transaction(() => [
    db.pragma("application_id", { simple: true }) === APPLICATION_ID,
    db.prepare("SELECT count(*) FROM sqlite_schema").pluck().get() === 0,
  ])();
  if (!isOurs && !(isEmpty && mayMake)) {
    throw new SignalboxError(
      "store_unsupported",
      `${path} is no inbox of signalbox.`,
      mayMake ? "Give the inbox a file of its own." : "Pass the path that the receiver has.",
    );
  }
  const version = versionOf(db);
  if (version > MIGRATIONS.length) {
    throw new SignalboxError(
      "store_newer",
      `${path} was written by a newer signalbox (schema ${version}, this one knows ${MIGRATIONS.length}).`,
      "Upgrade this installation, or restore the file from before the upgrade.",
    );
  }
  if (version < MIGRATIONS.length && !mayMake) {
    const help = "Start its receiver once with this release, which brings it up to date.";
    throw new SignalboxError("store_unsupported", `${path} was written by an older signalbox.`, help);
  }
}

/** Brings an inbox that {@link assertInbox} let pass up to date. */
export function migrate(db: Database): void {
  // A file that is up to date is not written to: it may be damaged, and is checked later.
  if (versionOf(db) === MIGRATIONS.length) return;
  db.transaction(() => {
    for (const migration of MIGRATIONS.slice(versionOf(db))) db.exec(migration);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${MIGRATIONS.length}`);
  }).immediate();
}
