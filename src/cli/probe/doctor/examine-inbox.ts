import { closeSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type Database from "better-sqlite3";
import { isSignalboxError } from "../../../base/errors.js";
import { loadDriver, missingBinaryError } from "../../../base/sqlite/sqlite-driver.js";
import { describeEndpoints, type SituationProblem } from "../../../kit/inbox/situation.js";
import { isOwned } from "../../../kit/stores/sqlite/owner-lock.js";
import { assertInbox } from "../../../kit/stores/sqlite/schema.js";
import { isBusy } from "../../../kit/stores/sqlite/store-error.js";
import { errorCode } from "../../console/exit.js";
import { shellQuote, printable } from "../../console/terminal.js";
import { inboxCommand, withInbox } from "../../inbox/open-inbox.js";
import {
  blocker,
  ok,
  problem,
  refusedWith,
  warning,
  type Finding,
  type Subject,
} from "./examination.js";

export function examineInboxFile({ db = "", surroundings }: Subject): Finding[] {
  try {
    const stats = statSync(db, { throwIfNoEntry: false });
    if (stats === undefined) {
      const fix =
        "Pass the path that the receiver uses. If it is this path, the file was deleted, or the receiver was never started: " +
        "start it again, and it begins a new inbox.";
      return [blocker("inbox_missing", `there is no file ${db}`, fix)];
    }
    if (!stats.isFile()) return [notOurs(`${db} is not a file`)];
    if (!beginsAsSqlite(db)) return [notOurs(`${db} is not an SQLite file`)];
  } catch (error) {
    const fix =
      "Run this command as the receiver's user. If you did, give that user the right to read the file.";
    return [blocker("inbox_not_readable", `${db} cannot be read (${errorCode(error)})`, fix)];
  }
  const path = realpathSync(db);
  const readOnly = [path, dirname(path)].filter((name) => !surroundings.isWritable(name));
  if (readOnly.length > 0) {
    const fix =
      "Run this command as the receiver's user. If you did, give that user the right to write to the file and its folder, where " +
      "SQLite creates -wal, -shm and -owner, and mount the disk read-write.";
    return [
      blocker("inbox_not_writable", `this user cannot write to ${readOnly.join(" and ")}`, fix),
    ];
  }
  return [driverFault(surroundings) ?? ok("inbox_file", path)];
}

/** No receiver runs in this process, whose locks on the file would end when it is closed. */
function beginsAsSqlite(path: string): boolean {
  const file = openSync(path, "r");
  try {
    const start = Buffer.alloc(16);
    readSync(file, start);
    return start.toString("latin1") === "SQLite format 3\0";
  } finally {
    closeSync(file);
  }
}

function notOurs(found: string): Finding {
  return blocker("inbox_not_ours", found, "Pass the path that the receiver uses.");
}

/**
 * The driver of SQLite is optional, so a receiver that uses PostgreSQL may be installed without it.
 */
function driverFault({ tryDriver }: Subject["surroundings"]): Finding | null {
  try {
    tryDriver();
    return null;
  } catch (error) {
    const known = isSignalboxError(error) ? error : missingBinaryError(error);
    if (known === undefined) throw error;
    return { ...refusedWith("driver_missing", known), blocks: true };
  }
}

/**
 * Finds out whether a process has the inbox open. Such a process holds a lock on the file
 * `<inbox>-owner`.
 */
export function examineInboxOwner({ db = "" }: Subject): Finding[] {
  const path = realpathSync(db);
  try {
    if (isOwned(path)) return [ok("inbox_owner", "a process has the inbox open")];
  } catch (error) {
    const fix = "Run this command as the receiver's user, and find out what that file is.";
    return [
      warning("inbox_not_checked", `${path}-owner could not be opened (${errorCode(error)})`, fix),
    ];
  }
  const fix =
    "Start the receiver. If it runs, it uses another file: compare --db with the path in its sqliteStore(…), which is relative to its working folder.";
  return [warning("inbox_not_owned", "no process on this machine has the inbox open", fix)];
}

/**
 * A larger file is not checked: the check reads about 150 MB per second, and the write-ahead log
 * grows until it ends.
 */
const MOST_CHECKED_BYTES = 256 * 1024 * 1024;
const BUSY_MS = 2000;

/**
 * Opens the file read-only, because only the receiver should recover the write-ahead log after a
 * crash.
 */
export function examineInboxContent({ db: givenPath = "", facts }: Subject): Finding[] {
  const path = realpathSync(givenPath);
  const driver = loadDriver();
  let db: Database.Database | undefined;
  try {
    db = new driver(path, { readonly: true, fileMustExist: true, timeout: BUSY_MS });
    assertInbox(db, path, false);
    return [soundnessOf(db, path)];
  } catch (error) {
    if (isSignalboxError(error)) return [refusedWith("inbox_not_ours", error)];
    if (isBusy(error)) {
      facts.isInboxBusy = true;
      const fix =
        "Try again. If the file stays busy, find the program that locks it (`fuser`, an open sqlite3 shell).";
      return [warning("inbox_not_checked", `${path} is busy`, fix)];
    }
    const code = errorCode(error);
    // A short read: the -wal or the file is shorter than it was.
    if (/^SQLITE_(CORRUPT|IOERR_SHORT_READ)/.test(code)) return [damaged(path, code)];
    const fix = "Check the disk, and the rights of the file, its -wal and its -shm, and try again.";
    return [problem("inbox_not_checked", `${path} could not be opened (${code})`, fix)];
  } finally {
    db?.close();
  }
}

function soundnessOf(db: Database.Database, path: string): Finding {
  const { size } = statSync(path);
  if (size > MOST_CHECKED_BYTES) {
    const fix = `Stop the receiver and run: sqlite3 ${shellQuote(path)} "PRAGMA quick_check" (about a second for each 150 MB).`;
    return warning(
      "inbox_not_checked",
      `${Math.round(size / 2 ** 20)} MiB are too much to check while a receiver runs`,
      fix,
    );
  }
  const found = db.pragma("quick_check(1)", { simple: true }) as string;
  return found === "ok"
    ? ok("inbox_sound", "SQLite's quick_check finds no damage")
    : damaged(path, found);
}

function damaged(path: string, found: string): Finding {
  const fix =
    "Stop the receiver, move the file and its -wal away, and restore a backup or start with a new file (docs/errors.md, store_corrupt).";
  return problem("inbox_damaged", `${path} is damaged (${found.replaceAll(/\s+/g, " ")})`, fix);
}

const FIXES: Partial<Record<SituationProblem["id"], string>> = {
  inbox_behind:
    "Look at what fails. If nothing fails, start the receiver, or raise handoff.concurrency if its callback is slow.",
  inbox_paused:
    "Remove the cause of the error. Hand-offs then go on by themselves, within a minute.",
  inbox_not_owned: "Start the receiver of this endpoint.",
  inbox_refusing:
    "docs/errors.md, Answer codes, says what each code needs. What is mended before the sender's last attempt comes again.",
  inbox_dead:
    "Look at what fails and remove the cause. Then retry the dead events, or discard them.",
  inbox_quarantined:
    "List them: each says why. Retry them with a version that can read them, or discard them.",
};

/** The commands that help, the one to begin with first. */
const COMMANDS: Partial<Record<SituationProblem["id"], readonly string[]>> = {
  inbox_behind: ["inbox failures"],
  inbox_paused: ["inbox failures"],
  inbox_dead: ["inbox failures", "inbox retry --all-dead"],
  inbox_quarantined: ["inbox ls --state quarantined"],
};

/**
 * What waits, fails, was given up or was refused, for each endpoint of the inbox, the worst first.
 */
export async function examineInboxState(subject: Subject): Promise<Finding[]> {
  const { db = "", schema, endpoint: only, since, surroundings, facts } = subject;
  if (facts.isInboxBusy === true) return [];
  try {
    return await withInbox({ db, schema, endpoint: only }, async (inbox) => {
      const states = await inbox.states(surroundings.now(), since);
      // If none has a receiver, another examination tells it.
      const hasAny = states.some((state) => state.facts.hasReceiver === true);
      return describeEndpoints(states).endpoints.flatMap(({ endpoint, problems, text }) => {
        const name =
          inbox.isShared || endpoint !== "default" ? `endpoint ${printable(endpoint)}: ` : "";
        const place = { db, schema, endpoint: inbox.isShared ? endpoint : undefined };
        const found = problems.filter(({ id }) => hasAny || id !== "inbox_not_owned");
        if (problems.length === 0)
          return [ok("inbox_up_to_date", `${name}${text.replace(/\.$/, "")}`)];
        return found.map(({ id, text: what }) => ({
          ...(id === "inbox_not_owned" ? warning : problem)(
            id,
            `${name}${what.replace(/\.$/, "")}`,
            FIXES[id] ?? "",
          ),
          commands: (COMMANDS[id] ?? []).map((words) => inboxCommand(words, place)),
        }));
      });
    });
  } catch (error) {
    if (!isSignalboxError(error)) throw error;
    // Another examination has told it.
    return [];
  }
}
