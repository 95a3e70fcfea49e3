import { closeSync, existsSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { isSignalboxError, SignalboxError } from "../../../base/errors.js";
import { makeFolders } from "../../../base/files.js";
import { ACCESS_SCHEMA } from "../access/create-access.js";
import { INVESTIGATION_SCHEMA } from "../investigations/create-investigations.js";
import { MARKET_SCHEMA } from "../market/market-schema.js";
import { OPERATION_FAULT_SCHEMA } from "../operations/operation-faults.js";
import { WEBHOOK_SCHEMA } from "../webhooks/webhook-schema.js";
import { openSqlite, type Database, SETTINGS_SCHEMA } from "./database.js";

const EMULATOR_SCHEMA = [
  SETTINGS_SCHEMA,
  ACCESS_SCHEMA,
  OPERATION_FAULT_SCHEMA,
  MARKET_SCHEMA,
  INVESTIGATION_SCHEMA,
  WEBHOOK_SCHEMA,
].join("\n");

/** "sgem" in ASCII marks the files of the emulator. */
const APPLICATION_ID = 0x7367656d;

/**
 * The file holds unencrypted signing secrets, so only its owner can read it. SQLite gives the -wal
 * and -shm files this mode.
 */
const PRIVATE_MODE = 0o600;

/**
 * @param path of the file, which is created with its folders when it is missing; null for a
 * database in memory
 * @throws SignalboxError `store_unsupported`, `store_in_use`, `store_failed`
 */
export function openDatabase(path: string | null): Database {
  const open = (): Database => {
    if (path !== null) {
      makeFolders(dirname(path));
      if (!existsSync(path)) closeSync(openSync(path, "a", PRIVATE_MODE));
    }
    return openSqlite(path ?? ":memory:");
  };
  return prepare(open, path ?? "The database", true);
}

/** Opens a snapshot as a database in memory. @throws SignalboxError `store_unsupported` */
export function openSnapshot(bytes: Uint8Array): Database {
  return prepare(() => openSqlite(Buffer.from(bytes)), "The snapshot", false);
}

/** Returns a database as bytes, for {@link openSnapshot} and {@link writeSnapshot}. */
export function snapshotOf(database: Database): Buffer {
  const bytes = database.serialize();
  // Sets header bytes 18 and 19 to "no WAL", because the snapshot already includes the contents of
  // the WAL.
  if (bytes.length > 0) bytes.fill(1, 18, 20);
  return bytes;
}

/** Writes a snapshot beside a database. */
export function writeSnapshot(path: string, bytes: Uint8Array): void {
  // A file or link that is there already keeps its mode and its place.
  rmSync(besideOf(path), { force: true });
  writeFileSync(besideOf(path), bytes, { mode: PRIVATE_MODE, flag: "wx" });
}

/**
 * Puts the snapshot that was written beside a closed database in its place. If it throws, nothing
 * has changed.
 */
export function takeSnapshot(path: string): void {
  // A WAL that remains of the old file is an error, because SQLite would apply it to the new file.
  if (existsSync(`${path}-wal`)) throw new Error(`${path}-wal was not removed`);
  renameSync(besideOf(path), path);
}

const besideOf = (path: string): string => `${path}.loading`;

function prepare(open: () => Database, name: string, mayCreate: boolean): Database {
  let database: Database | undefined;
  try {
    database = open();
    // The file may come from somebody else. Without this pragma, its views and triggers could call
    // functions with side effects.
    database.pragma("trusted_schema = OFF");
    const isEmpty = schemaOf(database) === "";
    if (!isEmpty || !mayCreate) assertExpectedSchema(database, name);
    // Checks every page of a snapshot, because opening a database reads only its beginning.
    if (!mayCreate && database.pragma("quick_check(1)", { simple: true }) !== "ok") {
      throw new SignalboxError(
        "store_unsupported",
        `${name} is damaged.`,
        "Take another snapshot.",
      );
    }
    // Only one process uses the file, so the WAL needs no shared memory.
    database.pragma("locking_mode = EXCLUSIVE");
    database.pragma("journal_mode = WAL");
    database.pragma("synchronous = NORMAL");
    database.pragma("foreign_keys = ON");
    if (isEmpty) makeTables(database);
    // Takes the lock now, not with the first write, so a file that another process uses is an error
    // here.
    database.exec("BEGIN IMMEDIATE; COMMIT");
    return database;
  } catch (error) {
    database?.close();
    throw databaseError(error, name);
  }
}

/**
 * @throws SignalboxError `store_unsupported` unless the tables, indexes and triggers are exactly
 * those of this version
 */
function assertExpectedSchema(database: Database, name: string): void {
  if (database.pragma("application_id", { simple: true }) !== APPLICATION_ID)
    throw otherDatabase(name);
  if (schemaOf(database) === bare(EMULATOR_SCHEMA)) return;
  // A file of another version is refused, not migrated, because the seed can generate the data
  // again.
  const help = "Use a new file. The same seed gives the same data again.";
  throw new SignalboxError(
    "store_unsupported",
    `${name} was made by another version of the emulator.`,
    help,
  );
}

const otherDatabase = (name: string, because?: { cause: unknown }): SignalboxError =>
  new SignalboxError(
    "store_unsupported",
    `${name} is not a database of the emulator.`,
    "Give the emulator a separate file.",
    because,
  );

/**
 * Returns the statements that made all tables, indexes, views and triggers, which SQLite keeps as
 * they were written; empty for a new database.
 */
function schemaOf(database: Database): string {
  const made = database.rows<{ sql: string }>(
    "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL",
  );
  return bare(made.map(({ sql }) => `${sql};`).join(""));
}

/**
 * In another order, as VACUUM writes them, or with other comments and white space they are the
 * same, and a file stays usable.
 */
const bare = (sql: string): string =>
  sql
    .replaceAll(/--[^\n]*|\s+/g, "")
    .split(";")
    .toSorted()
    .join(";");

function makeTables(database: Database): void {
  database.transaction(() => {
    database.exec(EMULATOR_SCHEMA);
    database.pragma(`application_id = ${APPLICATION_ID}`);
  })();
}

function databaseError(error: unknown, name: string): SignalboxError {
  if (isSignalboxError(error)) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  const because = { cause: error };
  if (code.startsWith("SQLITE_BUSY")) {
    return new SignalboxError(
      "store_in_use",
      `${name} is in use.`,
      "Stop the emulator that has it open.",
      because,
    );
  }
  if (/^SQLITE_(NOTADB|CORRUPT|ERROR)/.test(code)) return otherDatabase(name, because);
  const help = "Check the path, the disk and the folder's permissions.";
  return new SignalboxError(
    "store_failed",
    `${name} could not be opened (${code}).`,
    help,
    because,
  );
}
