import { statSync } from "node:fs";
import { SignalboxError } from "../../../../base/errors.js";
import { processWide } from "../../../../base/process-wide.js";
import type { SqliteDriver } from "../../../../base/sqlite/database.js";
import { loadDriver } from "../../../../base/sqlite/sqlite-driver.js";
import { isBusy } from "../store-error.js";

/** For how long a start waits for the lock: {@link isOwned} may hold it for some microseconds. */
const PROBE_MS = 50;

/**
 * The inboxes that this process has locked: a lock of the kernel does not keep its own process out.
 */
const lockedHere = processWide("signalbox.locked", () => new Set<string>());

/**
 * Locks the inbox for handing off: by one process alone, or by several that are all `shared`.
 *
 * Node has no flock, so this is SQLite's lock on a separate file; tools can still open the inbox.
 * The kernel releases the lock when the process ends for any reason. A pid file would be left
 * behind.
 *
 * @returns a function that releases the lock
 * @throws SignalboxError `store_in_use`
 */
export function lockOwner(driver: SqliteDriver, inboxPath: string, shared: boolean): () => void {
  const lock = driver.open(`${inboxPath}-owner`, { timeout: PROBE_MS });
  try {
    // Nothing is written to the lock file, and with this mode a killed process leaves no journal
    // behind.
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
    throw inUseError(inboxPath, error);
  }
  lockedHere.add(inboxPath);
  return () => {
    lockedHere.delete(inboxPath);
    lock.close();
  };
}

/**
 * @throws SignalboxError `store_in_use` when this process has the inbox open to hand off, before
 * its file is opened again
 */
export function refuseOwnedHere(inboxPath: string): void {
  if (lockedHere.has(inboxPath)) throw inUseError(inboxPath);
}

function inUseError(inboxPath: string, cause?: unknown): SignalboxError {
  return new SignalboxError(
    "store_in_use",
    `Another receiver has the inbox ${inboxPath} open.`,
    lockedHere.has(inboxPath)
      ? "This process has it open already: give both receivers the same store object."
      : "Stop it, give this receiver another file, or open both with sqliteStore({ path, shared: true }).",
    { cause },
  );
}

/**
 * Whether a process has the inbox open to hand off, found by taking its lock for some microseconds.
 *
 * @param inboxPath without symbolic links
 * @throws SqliteError when the file of the lock cannot be opened
 */
export function isOwned(inboxPath: string): boolean {
  const lockFile = `${inboxPath}-owner`;
  if (statSync(lockFile, { throwIfNoEntry: false }) === undefined) return false;
  const driver = loadDriver();
  const lock = driver.open(lockFile, { timeout: 0 });
  try {
    // Processes that share the inbox hold a shared lock. An attempt to get another shared lock
    // would not detect them.
    lock.exec("BEGIN EXCLUSIVE");
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    lock.close();
  }
}
