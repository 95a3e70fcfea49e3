import { createHash } from "node:crypto";
import { closeSync, existsSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { isSignalboxError, SignalboxError } from "../../errors.js";
import { makeFolders } from "../../sqlite/make-folders.js";
import { missingBinaryError } from "../../sqlite/sqlite-driver.js";
import type { Database } from "./database.js";
import { EMULATOR_SCHEMA } from "./emulator-schema.js";
import { openSqlite } from "./open-sqlite.js";

/** "sgem": tells our files from other people's. */
const APPLICATION_ID = 0x7367656d;
/** A file of other tables is another version: there is nothing in it that is worth a migration. */
const SCHEMA_VERSION = createHash("sha256").update(EMULATOR_SCHEMA).digest().readUInt32BE(0) >>> 1;

/** Signing secrets stand in it in the clear, so it is its owner's alone. SQLite gives the files beside it the same mode. */
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
    return openSqlite(path ?? ":memory:", { timeout: 0 });
  };
  return prepare(open, path ?? "The database", true);
}

/** A database in memory with what a snapshot holds, all of it. @throws SignalboxError `store_unsupported` */
export function openSnapshot(bytes: Uint8Array): Database {
  const database = prepare(() => openSqlite(Buffer.from(bytes)), "The snapshot", false);
  if (isWhole(database)) return database;
  database.close();
  throw new SignalboxError("store_unsupported", "The snapshot is damaged.", "Take another one.");
}

/** The beginning of a database says nothing of its end. */
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
  // Says that there is no log beside it: what stands in the log of a file is among these bytes.
  if (bytes.length > 0) bytes.fill(1, 18, 20);
  return bytes;
}

/** Writes what {@link snapshotOf} gave. */
export function writeDatabase(path: string, bytes: Uint8Array): void {
  writeFileSync(path, bytes, { mode: PRIVATE_MODE });
}

/** Deletes a database file, and the log beside it. */
export function removeDatabase(path: string): void {
  for (const suffix of LOGS_AND_ITSELF) rmSync(`${path}${suffix}`, { force: true });
}

const LOGS_AND_ITSELF = ["", "-wal", "-shm", "-journal"];

/** Puts a database that is closed in the place of another one that is. @throws Error, and then nothing changed */
export function replaceDatabase(path: string, by: string): void {
  // SQLite would take a log that was left behind for the new one's.
  if (existsSync(`${path}-wal`)) {
    throw new SignalboxError(
      "store_failed",
      `The log of ${path} was left behind.`,
      "See to the disk, and start again.",
    );
  }
  renameSync(by, path);
}

function prepare(open: () => Database, name: string, mayMake: boolean): Database {
  let database: Database | undefined;
  try {
    database = open();
    const isEmpty = assertOurs(database, name, mayMake);
    // One process has it, so its log needs no memory that others share.
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

/** @returns whether it is empty yet */
function assertOurs(database: Database, name: string, mayMake: boolean): boolean {
  const isEmpty = database.prepare("SELECT count(*) FROM sqlite_schema").pluck().get() === 0;
  if (isEmpty && mayMake) return true;
  if (database.pragma("application_id", { simple: true }) !== APPLICATION_ID) {
    throw new SignalboxError("store_unsupported", `${name} is no database of the emulator.`, "Give it one of its own.");
  }
  if (database.pragma("user_version", { simple: true }) !== SCHEMA_VERSION) {
    const help = "Start with a new one; the seeded data come back.";
    throw new SignalboxError("store_unsupported", `${name} was made by another version of the emulator.`, help);
  }
  return false;
}

function makeTables(database: Database): void {
  database.transaction(() => {
    database.exec(EMULATOR_SCHEMA);
    database.pragma(`application_id = ${APPLICATION_ID}`);
    database.pragma(`user_version = ${SCHEMA_VERSION}`);
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
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code)) {
    const help = "Give the emulator a file of its own.";
    return new SignalboxError("store_unsupported", `${name} is no database of the emulator.`, help, because);
  }
  const help = "Check the path, the disk and the folder's permissions.";
  return new SignalboxError("store_failed", `${name} could not be opened (${code}).`, help, because);
}
