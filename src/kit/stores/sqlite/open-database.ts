import { existsSync, lstatSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { codeOf, SignalboxError } from "../../../base/errors.js";
import { makeFolders, syncFolderOf, syncFoldersFrom } from "../../../base/files.js";
import type { Database, SqliteDriver } from "../../../base/sqlite/database.js";
import { loadDriver } from "../../../base/sqlite/sqlite-driver.js";
import {
  assertWritable,
  refuseNetworkFileSystem,
  refuseUnguardedFiles,
} from "./disk/inbox-files.js";
import { limitSize, MOST_WAL_BYTES } from "./disk/limit-size.js";
import { isOwned, lockOwner, refuseOwnedHere } from "./disk/owner-lock.js";
import { assertInbox, migrate } from "./schema.js";
import { damagedError, isBusy, storeError } from "./store-error.js";

/** `operator`: a tool that does not hand off. */
export type SqliteRole = "owner" | "shared" | "operator";

export interface OpenDatabase {
  db: Database;
  /** Without symbolic links. SQLite derives the names of the other files from it. */
  path: string;
  /** False when the last process that opened it died, or still has it open. */
  wasClosedCleanly: boolean;
  /** `keepWal`: closes without changing the files. */
  release: (options: { keepWal: boolean }) => void;
}

/** How long to wait while another process migrates or recovers the file. */
const OPEN_TIMEOUT_MS = 5000;

/**
 * @throws SignalboxError `store_in_use`, `store_unsupported`, `store_newer`, `store_corrupt`,
 * `store_failed`
 */
export function openDatabase(givenPath: string, role: SqliteRole): OpenDatabase {
  const driver = loadDriver();
  let release: (() => void) | undefined;
  let db: Database | undefined;
  let path = givenPath;
  try {
    // A tool must not make a new, empty inbox when its path is misspelt.
    let firstMade: string | undefined;
    if (role !== "operator") makeFolders(dirname(path), (folder) => void (firstMade ??= folder));
    path = withoutLinks(givenPath);
    const folder = dirname(path);
    refuseNetworkFileSystem(folder);
    if (role === "owner") refuseOwnedHere(path);
    refuseUnguardedFiles(path);
    assertWritable(path, role === "operator");
    // Without this error, SQLite would delete the WAL and make an empty inbox.
    if (sizeOf(`${path}-wal`) > 0 && sizeOf(path) === 0)
      throw damagedError(path, "it is empty or missing, and its -wal is not");

    db = driver.open(path, { timeout: OPEN_TIMEOUT_MS, fileMustExist: role === "operator" });
    assertSqliteFile(db, path);
    const isAlone = role === "owner" || (role === "shared" && !isOwned(path));
    if (role !== "operator") release = lockOwner(driver, path, role === "shared");
    const wasClosedCleanly = sizeOf(`${path}-wal`) === 0;
    // SQLite would read the missing part of a page as zeros.
    if (
      wasClosedCleanly &&
      sizeOf(path) % (db.pragma("page_size", { simple: true }) as number) !== 0
    ) {
      throw damagedError(path, "a part of its last page is missing");
    }
    const canMake = role !== "operator";
    assertInbox(db, path, canMake);
    // With FULL, SQLite syncs the first write of a new file, and the switch to WAL.
    db.pragma("synchronous = FULL");
    switchToWal(db);
    if (canMake) migrate(db, isAlone);
    // What is deleted is overwritten with zeros; see erase.ts.
    db.pragma("secure_delete = ON");
    // On macOS, checkpoints sync to the medium itself; elsewhere this has no effect.
    db.pragma("checkpoint_fullfsync = ON");
    limitSize(db, folder);
    // From here on wal-sync.ts syncs the commits. NORMAL still syncs before and after checkpoints;
    // otherwise a power cut could damage the file.
    db.pragma("synchronous = NORMAL");
    // A wait inside SQLite would block the event loop, so the store waits with timers instead.
    db.pragma(`busy_timeout = ${role === "operator" ? OPEN_TIMEOUT_MS : 0}`);
    // checkpointer.ts makes the checkpoints.
    db.pragma("wal_autocheckpoint = 0");
    db.pragma(`journal_size_limit = ${MOST_WAL_BYTES}`);
    syncFolderOf(path);
    if (firstMade !== undefined) syncFoldersFrom(dirname(givenPath), firstMade);
    const opened = db;
    return {
      db,
      path,
      wasClosedCleanly,
      release: ({ keepWal }) => {
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
 * Closes a damaged file without changing it. Usually the last connection that closes copies the WAL
 * into the file and deletes it, and then the next start would treat the file as closed cleanly. So
 * a read-only connection, which writes nothing, closes last.
 */
function closeUntouched(driver: SqliteDriver, db: Database, path: string): void {
  let reader: Database | undefined;
  try {
    reader = driver.open(path, { readonly: true });
    reader.pragma("schema_version");
  } catch {
    // If the file cannot be read, closing does not write to it either.
  }
  db.close();
  reader?.close();
}

/** @returns 0 for a missing file */
export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** @throws SignalboxError `store_unsupported` for a symbolic link whose target is missing */
function withoutLinks(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return join(realpathSync(dirname(path)), basename(path));
  if (!stats.isSymbolicLink() || existsSync(path)) return realpathSync(path);
  throw new SignalboxError(
    "store_unsupported",
    `${path} is a symbolic link whose target is missing.`,
    "Create the target, or pass the target's path.",
  );
}

/**
 * Checked before the lock, which would leave an -owner file beside a file that is not ours. SQLite
 * reads the file, and never a descriptor of our own: if this process has the file open already,
 * closing that descriptor would drop SQLite's locks on it.
 */
function assertSqliteFile(db: Database, path: string): void {
  try {
    db.pragma("schema_version");
  } catch (error) {
    if (codeOf(error) !== "SQLITE_NOTADB") throw error;
    const help =
      "Check the path. If it is right, the file is damaged: move it away and restore a backup.";
    throw new SignalboxError("store_corrupt", `${path} is not an SQLite file.`, help, {
      cause: error,
    });
  }
}

const NEVER = new Int32Array(new SharedArrayBuffer(4));

/**
 * Several processes may make a file at the same time. For this pragma SQLite does not wait for a
 * lock, so it is retried.
 */
function switchToWal(db: Database): void {
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
