import type Database from "better-sqlite3";
import { SignalboxError } from "../../errors.js";
import { isBusy } from "./store-error.js";

/**
 * Says who may run hand-offs on an inbox: one process alone, or several that all said `shared: true`.
 *
 * A file lock on a file of its own, so that tools may still open the inbox. The lock is SQLite's on that file
 * (Node has no flock), which the kernel drops with the process, however it dies: no stale pid file, ever.
 *
 * @returns how to release it
 * @throws SignalboxError `store_in_use`
 */
export function lockOwner(driver: typeof Database, inboxPath: string, shared: boolean): () => void {
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
