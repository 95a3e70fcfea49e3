import { existsSync, lstatSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type Database from "better-sqlite3";
import { SignalboxError } from "../../errors.js";
import { limitSize, MOST_WAL_BYTES } from "./limit-size.js";
import { checkSqliteVersion, loadDriver } from "../../sqlite/sqlite-driver.js";
import { makeFolders } from "../../sqlite/make-folders.js";
import { refuseUnguardedFiles } from "./inbox-files.js";
import { refuseNetworkFileSystem } from "./network-file-system.js";
import { assertInbox, migrate } from "./schema.js";
import { damagedError, isBusy, storeError } from "./store-error.js";
import { syncFolderOf, syncFoldersFrom } from "./wal-sync.js";

/** `operator`: a tool beside a receiver, which owns nothing. */
export type SqliteRole = "owner" | "shared" | "operator";

export interface OpenDatabase {
  db: Database.Database;
  /** Without symbolic links, as SQLite names the files beside it. */
  path: string;
  /** False: the last process that had it open died, or still has it open. */
  wasClosedCleanly: boolean;
  /** `keepWal`: leaves the files as they are. */
  release: (options?: { keepWal: boolean }) => void;
}

/** Another process may be migrating or recovering the file at this moment. */
const OPEN_TIMEOUT_MS = 5000;

/** @throws SignalboxError `store_in_use`, `store_unsupported`, `store_newer`, `store_corrupt`, `store_failed` */
export function openDatabase(givenPath: string, role: SqliteRole): OpenDatabase {
  const driver = loadDriver();
  let release: (() => void) | undefined;
  let db: Database.Database | undefined;
  let path = givenPath;
  try {
    // For a tool nothing is made: a misspelt path must not give a new, empty inbox.
    let firstMade: string | undefined;
    if (role !== "operator") makeFolders(dirname(path), (folder) => void (firstMade ??= folder));
    path = withoutLinks(givenPath);
    const folder = dirname(path);
    refuseNetworkFileSystem(folder);
    refuseUnguardedFiles(path);
    if (role !== "operator") release = lockOwner(driver, path, role === "shared");
    const wasClosedCleanly = sizeOf(`${path}-wal`) === 0;
    // SQLite would delete the WAL, and begin an empty inbox.
    if (!wasClosedCleanly && sizeOf(path) === 0)
      throw damagedError(path, "it is empty or missing, and its -wal is not");

    db = new driver(path, { timeout: OPEN_TIMEOUT_MS, fileMustExist: role === "operator" });
    checkSqliteVersion(db.prepare("SELECT sqlite_version()").pluck().get() as string);
    if (wasClosedCleanly) refuseCutFile(db, path);
    const mayMake = role !== "operator";
    assertInbox(db, path, mayMake);
    // The first write of a new file, and the switch to WAL, are synced by SQLite itself.
    db.pragma("synchronous = FULL");
    switchToWal(db);
    if (mayMake) migrate(db);
    // Elsewhere than on a Mac it changes nothing.
    db.pragma("checkpoint_fullfsync = ON");
    limitSize(db, folder);
    // From here on wal-sync.ts syncs the commits. NORMAL still syncs around checkpoints: without that a power cut could
    // damage the file.
    db.pragma("synchronous = NORMAL");
    // A wait inside SQLite would stop the host's event loop, so the store waits outside of it.
    db.pragma(`busy_timeout = ${role === "operator" ? OPEN_TIMEOUT_MS : 0}`);
    // Another thread makes the checkpoints: see checkpointer.ts.
    db.pragma("wal_autocheckpoint = 0");
    db.pragma(`journal_size_limit = ${MOST_WAL_BYTES}`);
    syncFolderOf(path);
    if (firstMade !== undefined) syncFoldersFrom(dirname(givenPath), firstMade);
    const opened = db;
    return {
      db,
      path,
      wasClosedCleanly,
      release: ({ keepWal } = { keepWal: false }) => {
        if (keepWal) closeUntouched(driver, opened, path);
        else opened.close();
        release?.();
      },
    };
  } catch (error) {
    if (db !== undefined) closeUntouched(driver, db, path);
    release?.();
    throw storeError(error, path);
  }
}

/**
 * The last connection that closes writes the WAL into the file and deletes it. A damaged file must stay as it is, or the
 * next start would take it for one that was closed cleanly. So a read-only connection, which writes nothing, closes last.
 */
function closeUntouched(driver: typeof Database, db: Database.Database, path: string): void {
  let reader: Database.Database | undefined;
  try {
    reader = new driver(path, { readonly: true });
    reader.pragma("schema_version");
  } catch {
    // What cannot be read cannot be written by closing either.
  }
  db.close();
  reader?.close();
}

/** @returns 0 for a file that is not there */
export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** @throws SignalboxError `store_unsupported` for a link to nothing, which SQLite would refuse with other words */
function withoutLinks(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return join(realpathSync(dirname(path)), basename(path));
  if (!stats.isSymbolicLink() || existsSync(path)) return realpathSync(path);
  throw new SignalboxError(
    "store_unsupported",
    `${path} is a link to nothing.`,
    "Make its target, or pass the target's path.",
  );
}

const NEVER = new Int32Array(new SharedArrayBuffer(4));

/** Several processes may make a file at once, and here SQLite does not wait by itself. */
function switchToWal(db: Database.Database): void {
  const startedAt = performance.now();
  for (;;) {
    try {
      db.pragma("journal_mode = WAL");
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() - startedAt > OPEN_TIMEOUT_MS) throw error;
      Atomics.wait(NEVER, 0, 0, 5);
    }
  }
}

/** SQLite would read zeros for the missing part of the last page. */
function refuseCutFile(db: Database.Database, path: string): void {
  const pageBytes = db.pragma("page_size", { simple: true }) as number;
  if (statSync(path).size % pageBytes !== 0) throw damagedError(path, "a part of its last page is missing");
}

/**
 * Takes the lock that says which process may hand off from an inbox: one alone, or several that are all `shared`.
 *
 * Node has no flock, so it is SQLite's lock on a file of its own, which leaves the inbox to tools. The kernel drops it
 * when the process ends, in whatever way: a pid file would be left behind.
 *
 * @returns how to release it
 * @throws SignalboxError `store_in_use`
 */
function lockOwner(driver: typeof Database, inboxPath: string, shared: boolean): () => void {
  const lock = new driver(`${inboxPath}-owner`, { timeout: 0 });
  try {
    // Nothing is ever written, so no journal has to be left behind by a process that is killed.
    lock.pragma("journal_mode = MEMORY");
    if (shared) {
      lock.exec("BEGIN");
      lock.prepare("SELECT count(*) FROM sqlite_schema").get();
    } else {
      lock.exec("BEGIN EXCLUSIVE");
    }
  } catch (error) {
    lock.close();
    if (!isBusy(error)) throw error;
    throw new SignalboxError(
      "store_in_use",
      `Another receiver has the inbox ${inboxPath} open.`,
      "Stop it, give this one a file of its own, or open both with sqliteStore({ path, shared: true }).",
      { cause: error },
    );
  }
  return () => lock.close();
}
