import { closeSync, existsSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { isSignalboxError, SignalboxError } from "../../errors.js";
import { makeFolders } from "../../sqlite/make-folders.js";
import { missingBinaryError } from "../../sqlite/sqlite-driver.js";
import { ACCESS_SCHEMA } from "../access/access-schema.js";
import { INVESTIGATION_SCHEMA } from "../investigations/investigation-row.js";
import { MARKET_SCHEMA } from "../market/market-schema.js";
import { OPERATION_FAULT_SCHEMA } from "../operations/operation-faults.js";
import { WEBHOOK_SCHEMA } from "../webhooks/webhook-schema.js";
import { openSqlite, type Database } from "./database.js";
import { SETTINGS_SCHEMA } from "./settings.js";

const EMULATOR_SCHEMA = [
  SETTINGS_SCHEMA,
  ACCESS_SCHEMA,
  OPERATION_FAULT_SCHEMA,
  MARKET_SCHEMA,
  INVESTIGATION_SCHEMA,
  WEBHOOK_SCHEMA,
].join("\n");

/** "sgem": tells our files from others. */
const APPLICATION_ID = 0x7367656d;

/** The file holds signing secrets in the clear, so only its owner may read it. SQLite gives the files beside it the same mode. */
const PRIVATE_MODE = 0o600;

/**
 * @param path of the file, which is made when it is missing, as its folders are; null for one in memory
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

/** A database in memory with all that a snapshot holds. @throws SignalboxError `store_unsupported` */
export function openSnapshot(bytes: Uint8Array): Database {
  const database = prepare(() => openSqlite(Buffer.from(bytes)), "The snapshot", false);
  if (isWhole(database)) return database;
  database.close();
  throw new SignalboxError("store_unsupported", "The snapshot is damaged.", "Take another one.");
}

/** Reads the whole database: opening one reads only its beginning. */
function isWhole(database: Database): boolean {
  try {
    return database.pragma("quick_check(1)", { simple: true }) === "ok";
  } catch {
    return false;
  }
}

/** The whole of a database as bytes, for {@link openSnapshot}, or to be written to a file. */
export function snapshotOf(database: Database): Buffer {
  const bytes = database.serialize();
  // Says that there is no log beside it: these bytes include the log of a file.
  if (bytes.length > 0) bytes.fill(1, 18, 20);
  return bytes;
}

/** Writes the bytes of {@link snapshotOf}. */
export function writeDatabase(path: string, bytes: Uint8Array): void {
  writeFileSync(path, bytes, { mode: PRIVATE_MODE });
}

/** Deletes a database file, and the log beside it. */
export function removeDatabase(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(`${path}${suffix}`, { force: true });
}

/** Puts a closed database in the place of another closed one. @throws Error, and then nothing changed */
export function replaceDatabase(path: string, by: string): void {
  // SQLite would take a log that was left behind for the log of the new file.
  if (existsSync(`${path}-wal`)) {
    throw new SignalboxError("store_failed", `The log of ${path} was left behind.`, "Check the disk, and start again.");
  }
  renameSync(by, path);
}

function prepare(open: () => Database, name: string, mayMake: boolean): Database {
  let database: Database | undefined;
  try {
    database = open();
    // A file may come from elsewhere: without this its views and triggers could call functions that have effects.
    database.pragma("trusted_schema = OFF");
    const isEmpty = schemaOf(database).length === 0;
    if (!isEmpty || !mayMake) assertOurs(database, name);
    // One process has the file, so its log needs no memory that is shared.
    database.pragma("locking_mode = EXCLUSIVE");
    database.pragma("journal_mode = WAL");
    database.pragma("synchronous = NORMAL");
    database.pragma("foreign_keys = ON");
    if (isEmpty) makeTables(database);
    // Takes the lock now, not with the first write.
    database.exec("BEGIN IMMEDIATE; COMMIT");
    return database;
  } catch (error) {
    database?.close();
    throw databaseError(error, name);
  }
}

/** @throws SignalboxError `store_unsupported` unless the tables, indexes and triggers are exactly those that we make */
function assertOurs(database: Database, name: string): void {
  if (database.pragma("application_id", { simple: true }) !== APPLICATION_ID) {
    throw new SignalboxError("store_unsupported", `${name} is no database of the emulator.`, "Give it one of its own.");
  }
  expectedSchema ??= madeSchema();
  if (schemaOf(database) === expectedSchema) return;
  // A migration would not pay: all that a file has can be made anew.
  const help = "Start with a new one; the seeded data come back.";
  throw new SignalboxError("store_unsupported", `${name} was made by another version of the emulator.`, help);
}

/** Made once for each process, when the first used database is opened. */
let expectedSchema: string | undefined;

function madeSchema(): string {
  const database = openSqlite(":memory:");
  makeTables(database);
  const schema = schemaOf(database);
  database.close();
  return schema;
}

/** The statements of all tables, indexes, views and triggers; empty for a database without any. */
function schemaOf(database: Database): string {
  const entries = database
    .prepare<[], { sql: string | null }>("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name")
    .all();
  if (entries.length === 0) return "";
  return JSON.stringify(entries.map((entry) => ({ ...entry, sql: meaningOf(entry.sql ?? "") })));
}

/** A statement without its comments, in one line: an edited comment does not make a file one of another version. */
function meaningOf(sql: string): string {
  return sql.replaceAll(/--[^\n]*/g, "").replaceAll(/\s+/g, " ");
}

function makeTables(database: Database): void {
  database.transaction(() => {
    database.exec(EMULATOR_SCHEMA);
    database.pragma(`application_id = ${APPLICATION_ID}`);
  })();
}

function databaseError(error: unknown, name: string): SignalboxError {
  if (isSignalboxError(error)) return error;
  const withoutBinary = missingBinaryError(error);
  if (withoutBinary !== undefined) return withoutBinary;
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  const because = { cause: error };
  if (code.startsWith("SQLITE_BUSY")) {
    return new SignalboxError("store_in_use", `${name} is in use.`, "Stop the emulator that has it open.", because);
  }
  if (/^SQLITE_(NOTADB|CORRUPT|ERROR)/.test(code)) {
    const help = "Give the emulator a file of its own.";
    return new SignalboxError("store_unsupported", `${name} is no database of the emulator.`, help, because);
  }
  const help = "Check the path, the disk and the folder's permissions.";
  return new SignalboxError("store_failed", `${name} could not be opened (${code}).`, help, because);
}
