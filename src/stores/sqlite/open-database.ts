import { existsSync, lstatSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type Database from "better-sqlite3";
import { SignalboxError } from "../../errors.js";
import { limitSize, MOST_WAL_BYTES } from "./limit-size.js";
import { checkSqliteVersion, loadDriver } from "../../sqlite/sqlite-driver.js";
import { makeFolders } from "../../sqlite/make-folders.js";
import { refuseUnguardedFiles } from "./inbox-files.js";
import { refuseNetworkFileSystem } from "./network-file-system.js";
import { lockOwner } from "./owner-lock.js";
import { assertInbox, migrate } from "./schema.js";
import { damagedError, isBusy, storeError } from "./store-error.js";
import { syncFolderOf, syncFoldersFrom } from "./wal-sync.js";

/** What a tool beside the receiver needs of a file: no ownership. */
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
    // An operator looks at what is there; a new empty inbox would answer for a misspelt path.
    let firstMade: string | undefined;
    if (role !== "operator") makeFolders(dirname(path), (folder) => void (firstMade ??= folder));
    path = withoutLinks(givenPath);
    const folder = dirname(path);
    refuseNetworkFileSystem(folder);
    refuseUnguardedFiles(path);
    if (role !== "operator") release = lockOwner(driver, path, role === "shared");
    const wasClosedCleanly = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0;

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
    // From here on commits are not synced one by one: see wal-sync.ts. NORMAL still syncs around checkpoints,
    // without which a power cut could damage the file.
    db.pragma("synchronous = NORMAL");
    // A wait inside SQLite would stop the host's event loop; the store waits outside of it.
    db.pragma(`busy_timeout = ${role === "operator" ? OPEN_TIMEOUT_MS : 0}`);
    // Checkpoints are not for this thread: see checkpointer.ts.
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
 * The last connection that closes writes the WAL into the file and deletes it. A file found damaged must stay as it is, or
 * the next start would take it for one that was closed cleanly. A reader that closes last does nothing.
 */
function closeUntouched(driver: typeof Database, db: Database.Database, path: string): void {
  let reader: Database.Database | undefined;
  try {
    reader = new driver(path, { readonly: true });
    reader.pragma("schema_version");
  } catch {
    // Not even readable: then there is nothing that closing could write either.
  }
  db.close();
  reader?.close();
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

/** SQLite does not wait for its turn here, as it does elsewhere: several processes may make a file at once. */
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

/** SQLite would read zeros for what is missing of the last page. */
function refuseCutFile(db: Database.Database, path: string): void {
  const pageBytes = db.pragma("page_size", { simple: true }) as number;
  if (statSync(path).size % pageBytes !== 0) throw damagedError(path, "a part of its last page is missing");
}
