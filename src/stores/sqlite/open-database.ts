import { existsSync, lstatSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Database } from "better-sqlite3";
import { SignalboxError } from "../../errors.js";
import { limitSize } from "./limit-size.js";
import { checkSqliteVersion, loadDriver } from "./load-driver.js";
import { refuseNetworkFileSystem } from "./network-file-system.js";
import { lockOwner } from "./owner-lock.js";
import { assertInbox, migrate } from "./schema.js";
import { storeError } from "./store-error.js";
import { syncFolderOf } from "./wal-sync.js";

/** What a tool beside the receiver needs of a file: no ownership. */
export type SqliteRole = "owner" | "shared" | "operator";

export interface OpenDatabase {
  db: Database;
  /** Without symbolic links, as SQLite names the files beside it. */
  path: string;
  release: () => void;
}

/** Another process may be migrating or recovering the file at this moment. */
const OPEN_TIMEOUT_MS = 5000;

/** @throws SignalboxError `store_in_use`, `store_unsupported`, `store_newer`, `store_corrupt`, `store_failed` */
export function openDatabase(givenPath: string, role: SqliteRole): OpenDatabase {
  const driver = loadDriver();
  let release: (() => void) | undefined;
  let db: Database | undefined;
  let path = givenPath;
  try {
    // An operator looks at what is there; a new empty inbox would answer for a misspelt path.
    if (role !== "operator") mkdirSync(dirname(path), { recursive: true });
    path = withoutLinks(givenPath);
    const folder = dirname(path);
    refuseNetworkFileSystem(folder);
    if (role !== "operator") release = lockOwner(driver, path, role === "shared");
    const wasClosedCleanly = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0;

    db = new driver(path, { timeout: OPEN_TIMEOUT_MS, fileMustExist: role === "operator" });
    checkSqliteVersion(db.prepare("SELECT sqlite_version()").pluck().get() as string);
    const mayMake = role !== "operator";
    assertInbox(db, path, mayMake);
    // The first write of a new file, and the switch to WAL, are synced by SQLite itself.
    db.pragma("synchronous = FULL");
    db.pragma("journal_mode = WAL");
    if (mayMake) migrate(db);
    if (role === "owner" && !wasClosedCleanly) {
      quickCheck(db, path);
      // A sync may have failed before the crash. The kernel has forgotten that, and would call the next one a success for
      // what never reached the disk: so all of it is written anew, with SQLite's own syncs, before anything is answered.
      db.pragma("wal_checkpoint(TRUNCATE)");
    }
    // Elsewhere than on a Mac it changes nothing.
    db.pragma("checkpoint_fullfsync = ON");
    limitSize(db, folder);
    // From here on commits are not synced one by one: see wal-sync.ts. NORMAL still syncs around checkpoints,
    // without which a power cut could damage the file.
    db.pragma("synchronous = NORMAL");
    // A wait inside SQLite would stop the host's event loop; the store waits outside of it.
    db.pragma(`busy_timeout = ${role === "operator" ? OPEN_TIMEOUT_MS : 0}`);
    syncFolderOf(path);
    const opened = db;
    return {
      db,
      path,
      release: () => {
        opened.close();
        release?.();
      },
    };
  } catch (error) {
    db?.close();
    release?.();
    throw storeError(error, path);
  }
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

function quickCheck(db: Database, path: string): void {
  const found = db.pragma("quick_check(1)", { simple: true }) as string;
  if (found === "ok") return;
  throw new SignalboxError(
    "store_corrupt",
    `The inbox ${path} is damaged: ${found}.`,
    "Move the file away and restore a backup, or start with a new file.",
  );
}
