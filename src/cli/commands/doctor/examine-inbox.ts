import { realpathSync, statSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import type Database from "better-sqlite3";
import { isSignalboxError } from "../../../errors.js";
import { isSqliteFile } from "../../../sqlite/is-sqlite-file.js";
import { loadDriver } from "../../../sqlite/sqlite-driver.js";
import { DISK_RESERVE_BYTES, MOST_WAL_BYTES } from "../../../stores/sqlite/limit-size.js";
import { refuseNetworkFileSystem } from "../../../stores/sqlite/network-file-system.js";
import { assertInbox } from "../../../stores/sqlite/schema.js";
import { isBusy } from "../../../stores/sqlite/store-error.js";
import { errorCode } from "../../options/exit.js";
import { shellQuote } from "../../console/shell-quote.js";
import type { Subject } from "./examination.js";
import { blocker, ok, problem, refusedWith, warning, type Finding } from "./findings.js";

export function examineInboxFile({ db = "", surroundings }: Subject): Finding[] {
  let stats: Stats | undefined;
  try {
    stats = statSync(db, { throwIfNoEntry: false });
    if (stats === undefined) {
      const fix =
        "Pass the path that the receiver uses. If this is the receiver's path, the receiver was never started.";
      return [blocker("inbox_missing", `there is no file ${db}`, fix)];
    }
    if (!stats.isFile()) return [notOurs(`${db} is not a file`)];
    if (!isSqliteFile(db)) return [notOurs(`${db} is not an SQLite file`)];
  } catch (error) {
    const fix = "Run this command as the receiver's user. If you did, give that user the right to read the file.";
    return [blocker("inbox_not_readable", `${db} cannot be read (${errorCode(error)})`, fix)];
  }
  const path = realpathSync(db);
  const readOnly = [path, dirname(path)].filter((name) => !surroundings.isWritable(name));
  if (readOnly.length > 0) {
    const fix =
      "Run this command as the receiver's user. If you did, give that user the right to write to the file and its folder, where " +
      "SQLite creates -wal, -shm and -owner, and mount the disk read-write.";
    return [blocker("inbox_not_writable", `this user cannot write to ${readOnly.join(" and ")}`, fix)];
  }
  return [ok("inbox_file", `${path}, ${formatBytes(stats.size)}`)];
}

function notOurs(found: string): Finding {
  return blocker("inbox_not_ours", found, "Pass the path that the receiver uses.");
}

const LOW_DISK_BYTES = 2 ** 30;

const TMPFS = 0x01021994;
const RAMFS = 0x858458f6;
const OVERLAYFS = 0x794c7630;

export function examineInboxDisk({ db = "", surroundings }: Subject): Finding[] {
  const path = realpathSync(db);
  const { type, freeBytes } = surroundings.fileSystemOf(dirname(path));
  const found = [...diskFaults(path, process.platform === "linux" ? type : undefined, freeBytes)];
  return found.length > 0 ? found : [ok("inbox_disk", `${formatBytes(freeBytes)} free on its disk`)];
}

function* diskFaults(path: string, type: number | undefined, freeBytes: number): Generator<Finding> {
  const folder = dirname(path);
  try {
    refuseNetworkFileSystem(folder, type);
  } catch (error) {
    if (!isSignalboxError(error)) throw error;
    yield refusedWith("inbox_on_network", error);
  }
  if (type === TMPFS || type === RAMFS) {
    const fix = "Put the inbox on a disk. Otherwise a reboot loses acknowledged events that were not handed off yet.";
    yield warning("inbox_in_memory", `${folder} is a file system in memory`, fix);
  }
  if (type === OVERLAYFS) {
    const fix = "Put the inbox on a volume. Otherwise a new container starts with an empty inbox.";
    yield warning("inbox_in_container", `${folder} is in the writable layer of a container`, fix);
  }
  const free = `${formatBytes(freeBytes)} free on the disk of ${folder}`;
  if (freeBytes < DISK_RESERVE_BYTES) {
    const fix = `Free disk space: below ${formatBytes(DISK_RESERVE_BYTES)} the inbox does not grow, and deliveries are answered 503 (store_unavailable).`;
    yield problem("disk_full", free, fix);
  } else if (freeBytes < LOW_DISK_BYTES) {
    yield warning("disk_low", free, "Free disk space. An event needs about 1 KiB more than the size of its body.");
  }
  const walBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (walBytes > MOST_WAL_BYTES) {
    const fix =
      "Find a program that reads the inbox for a long time (a backup, an open sqlite3 shell). If there is none, restart the receiver.";
    yield warning("wal_large", `the write-ahead log has ${formatBytes(walBytes)}; about 16 MiB is usual`, fix);
  }
}

/** Finds out whether a process has the inbox open. Such a process holds a lock on the file `<inbox>-owner`. */
export function examineInboxOwner({ db = "", facts }: Subject): Finding[] {
  const lockFile = `${realpathSync(db)}-owner`;
  try {
    facts.isOwned = isLocked(lockFile);
    if (facts.isOwned) return [ok("inbox_owner", "a process has the inbox open")];
  } catch (error) {
    const fix = "Run this command as the receiver's user, and find out what that file is.";
    return [warning("inbox_not_checked", `${lockFile} could not be opened (${errorCode(error)})`, fix)];
  }
  const fix =
    "Start the receiver. If it runs, it uses another file: compare --db with the path in its sqliteStore(…), which is relative to its working folder.";
  return [warning("inbox_not_owned", "no process on this machine has the inbox open", fix)];
}

/**
 * Tries to take the lock. If that succeeds, no process held it, and it is released within microseconds. A receiver that starts in
 * that short time fails with the error that the inbox is in use.
 *
 * @throws SqliteError when the file cannot be opened
 */
function isLocked(lockFile: string): boolean {
  if (statSync(lockFile, { throwIfNoEntry: false }) === undefined) return false;
  const driver = loadDriver();
  const lock = new driver(lockFile, { timeout: 0 });
  try {
    // Processes that share the inbox hold a shared lock. An attempt to get another shared lock would not detect them.
    lock.exec("BEGIN EXCLUSIVE");
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    lock.close();
  }
}

/** A larger file is not checked: the check reads about 150 MB per second, and the write-ahead log grows until it ends. */
const MOST_CHECKED_BYTES = 256 * 1024 * 1024;
const BUSY_MS = 2000;

/** Opens the file read-only, because only the receiver should recover the write-ahead log after a crash. */
export function examineInboxContent({ db: givenPath = "", facts }: Subject): Finding[] {
  const path = realpathSync(givenPath);
  const driver = loadDriver();
  let db: Database.Database | undefined;
  try {
    db = new driver(path, { readonly: true, fileMustExist: true, timeout: BUSY_MS });
    assertInbox(db, path, false);
    return [durabilityOf(db), soundnessOf(db, path), ...(facts.isOwned === false ? lostFrames(db, path) : [])];
  } catch (error) {
    if (isSignalboxError(error)) return [refusedWith("inbox_not_ours", error)];
    if (isBusy(error)) {
      const fix = "Try again. If the file stays busy, find the program that locks it (`fuser`, an open sqlite3 shell).";
      return [warning("inbox_not_checked", `${path} is busy`, fix)];
    }
    const code = errorCode(error);
    // A short read: the -wal or the file is shorter than it was.
    if (/^SQLITE_(CORRUPT|NOTADB|IOERR_SHORT_READ)/.test(code)) return [damaged(path, code)];
    const fix = "Check the disk, and the rights of the file, its -wal and its -shm, and try again.";
    return [problem("inbox_not_checked", `${path} could not be opened (${code})`, fix)];
  } finally {
    db?.close();
  }
}

function durabilityOf(db: Database.Database): Finding {
  if (db.pragma("journal_mode", { simple: true }) === "wal") {
    const found = "the write-ahead log is synced before an acknowledgement (wal-fdatasync)";
    return ok("inbox_durability", found);
  }
  const fix = "Restart the receiver, which turns the log on. Other programs must not change journal_mode.";
  return problem("inbox_not_wal", "the file has no write-ahead log", fix);
}

function soundnessOf(db: Database.Database, path: string): Finding {
  const { size } = statSync(path);
  if (size > MOST_CHECKED_BYTES) {
    const fix = `Stop the receiver and run: sqlite3 ${shellQuote(path)} "PRAGMA quick_check" (about a second for each 150 MB).`;
    return warning("inbox_not_checked", `${formatBytes(size)} is too much to check while a receiver runs`, fix);
  }
  const found = db.pragma("quick_check(1)", { simple: true }) as string;
  return found === "ok" ? ok("inbox_sound", "SQLite's quick_check finds no damage") : damaged(path, found);
}

/** A log is a header of 32 bytes and frames, each of a header of 24 bytes and a page. A running receiver may be writing one. */
function lostFrames(db: Database.Database, path: string): Finding[] {
  const bytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const frameBytes = 24 + (db.pragma("page_size", { simple: true }) as number);
  if (bytes === 0 || (bytes - 32) % frameBytes === 0) return [];
  const fix =
    "After a power failure this is harmless: what is missing was not acknowledged. Otherwise events may be lost: restore the -wal.";
  return [problem("wal_cut", "the end of the write-ahead log is missing", fix)];
}

function damaged(path: string, found: string): Finding {
  const fix =
    "Stop the receiver, move the file and its -wal away, and restore a backup or start with a new file (docs/errors.md, store_corrupt).";
  return problem("inbox_damaged", `${path} is damaged (${found.replaceAll(/\s+/g, " ")})`, fix);
}

const UNITS = [
  ["GiB", 2 ** 30],
  ["MiB", 2 ** 20],
  ["KiB", 2 ** 10],
] as const;

function formatBytes(bytes: number): string {
  const [unit, size] = UNITS.find(([, each]) => bytes >= each) ?? ["bytes", 1];
  const count = bytes / size;
  return `${count < 10 && size > 1 ? count.toFixed(1) : Math.round(count)} ${unit}`;
}
