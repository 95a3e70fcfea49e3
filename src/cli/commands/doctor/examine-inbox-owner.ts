import { realpathSync, statSync } from "node:fs";
import { loadDriver } from "../../../sqlite/sqlite-driver.js";
import { isBusy } from "../../../stores/sqlite/store-error.js";
import { codeOf } from "./code-of.js";
import type { Subject } from "./examination.js";
import { ok, warning, type Finding } from "./finding.js";
import { lockHolders } from "./lock-holders.js";

/** Who has the inbox open tells so by a lock on the file `-owner`. */
export function examineInboxOwner({ db = "" }: Subject): Finding[] {
  const lockFile = `${realpathSync(db)}-owner`;
  const holders = lockHolders(lockFile) ?? [];
  if (holders.length > 0) {
    const names = holders.length === 1 ? `process ${holders[0]} has` : `processes ${holders.join(", ")} have`;
    return [ok("inbox_owner", `${names} the inbox open`)];
  }
  // Of another container, or on another system: whether it is locked is to be had all the same.
  try {
    if (isLocked(lockFile)) return [ok("inbox_owner", "a process has the inbox open")];
  } catch (error) {
    const mend = "Run this as the user that the receiver runs as, and see what stands there.";
    return [warning("inbox_not_checked", `${lockFile} could not be opened (${codeOf(error)})`, mend)];
  }
  const mend =
    "Start the receiver. If it runs, it has another file: compare its sqliteStore(…) path with --db, seen from its working folder.";
  return [warning("inbox_not_owned", "no process on this machine has the inbox open", mend)];
}

/**
 * A glance: it ends before a receiver that starts at this moment would give up.
 *
 * @throws SqliteError when the file cannot be read
 */
function isLocked(lockFile: string): boolean {
  if (statSync(lockFile, { throwIfNoEntry: false }) === undefined) return false;
  const driver = loadDriver();
  const lock = new driver(lockFile, { timeout: 0, readonly: true });
  try {
    lock.prepare("SELECT count(*) FROM sqlite_schema").get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    // It could be read, so nobody keeps others out.
    if (codeOf(error) === "SQLITE_NOTADB") return false;
    throw error;
  } finally {
    lock.close();
  }
}
