import { realpathSync, statSync } from "node:fs";
import type Database from "better-sqlite3";
import { isSignalboxError } from "../../../errors.js";
import { loadDriver } from "../../../sqlite/sqlite-driver.js";
import { assertInbox } from "../../../stores/sqlite/schema.js";
import { isBusy } from "../../../stores/sqlite/store-error.js";
import { shellQuote } from "../../console/shell-quote.js";
import type { Subject } from "./examination.js";
import { ok, problem, warning, type Finding } from "./finding.js";
import { formatBytes } from "./format-bytes.js";
import { inOurWords } from "./in-our-words.js";

/** The check reads the whole file, some 150 MB a second, and the receiver's log cannot begin anew meanwhile. */
const MOST_CHECKED_BYTES = 256 * 1024 * 1024;
const BUSY_MS = 2000;

/** Reads alone: what a crash left in the write-ahead log stays there for the receiver's own start to judge. */
export function examineInboxContent({ db: givenPath = "" }: Subject): Finding[] {
  const path = realpathSync(givenPath);
  const driver = loadDriver();
  let db: Database.Database | undefined;
  try {
    db = new driver(path, { readonly: true, fileMustExist: true, timeout: BUSY_MS });
    assertInbox(db, path, false);
    return [durabilityOf(db), soundnessOf(db, path)];
  } catch (error) {
    if (isSignalboxError(error)) return [inOurWords("inbox_not_ours", error)];
    if (isBusy(error)) {
      const mend = "Try again; if it stays so, look for what holds it (`fuser`, an open sqlite3 shell).";
      return [warning("inbox_not_checked", `${path} is busy`, mend)];
    }
    const code = error instanceof Error && "code" in error ? String(error.code) : "error";
    if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return [damaged(path, code)];
    const mend = "Look at the disk, and at the rights of the file, its -wal and its -shm; then try again.";
    return [warning("inbox_not_checked", `${path} could not be opened (${code})`, mend)];
  } finally {
    db?.close();
  }
}

function durabilityOf(db: Database.Database): Finding {
  if (db.pragma("journal_mode", { simple: true }) === "wal") {
    const found = "an acknowledgement stands for the write-ahead log, synced before it (wal-fdatasync)";
    return ok("inbox_durability", found);
  }
  const mend = "Restart the receiver, which switches it on, and keep other programs from changing journal_mode.";
  return problem("inbox_not_wal", "the file has no write-ahead log", mend);
}

function soundnessOf(db: Database.Database, path: string): Finding {
  const { size } = statSync(path);
  if (size > MOST_CHECKED_BYTES) {
    const mend = `Stop the receiver and run: sqlite3 ${shellQuote(path)} "PRAGMA quick_check" (about a second for each 150 MB).`;
    return warning("inbox_not_checked", `${formatBytes(size)} are too much to check beside a receiver`, mend);
  }
  const found = db.pragma("quick_check(1)", { simple: true }) as string;
  return found === "ok" ? ok("inbox_sound", "SQLite's quick_check finds no damage") : damaged(path, found);
}

function damaged(path: string, found: string): Finding {
  const mend =
    "Stop the receiver, move the file and its -wal away, and restore a backup or start with a new file " +
    "(README, store_corrupt).";
  return problem("inbox_damaged", `${path} is damaged (${found.replaceAll(/\s+/g, " ")})`, mend);
}
