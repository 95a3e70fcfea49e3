import { closeSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { isSignalboxError } from "../../../base/errors.js";
import type { Database } from "../../../base/sqlite/database.js";
import { loadDriver } from "../../../base/sqlite/sqlite-driver.js";
import { describeEndpoints } from "../../../kit/inbox/situation/situation.js";
import { isOwned } from "../../../kit/stores/sqlite/disk/owner-lock.js";
import { assertInbox } from "../../../kit/stores/sqlite/schema.js";
import { isBusy } from "../../../kit/stores/sqlite/store-error.js";
import { errorCode } from "../../console/exit.js";
import { shellQuote, printable } from "../../console/terminal.js";
import { ignoredText } from "../../inbox/ignored.js";
import { fullDiskOf, inboxCommand, withInbox } from "../../inbox/open-inbox.js";
import { finding, refusedWith, type Finding, type Subject } from "./examination.js";

export function examineInboxFile({ db = "", surroundings }: Subject): Finding[] {
  try {
    const stats = statSync(db, { throwIfNoEntry: false });
    if (stats === undefined) return [finding("inbox_missing", { db })];
    if (!stats.isFile()) return [finding("inbox_not_ours", { db, what: "a file" })];
    if (!beginsAsSqlite(db)) return [finding("inbox_not_ours", { db, what: "an SQLite file" })];
  } catch (error) {
    return [finding("inbox_not_readable", { db, code: errorCode(error) })];
  }
  const path = realpathSync(db);
  const readOnly = [path, dirname(path)].filter((name) => !surroundings.isWritable(name));
  if (readOnly.length > 0)
    return [finding("inbox_not_writable", { names: readOnly.join(" and ") })];
  const folder = fullDiskOf(db);
  const disk = folder === null ? [] : [finding("inbox_disk_full", { folder })];
  return [driverFault(surroundings) ?? finding("inbox_file", { path }), ...disk];
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

/**
 * The driver of SQLite is optional, so a receiver that uses PostgreSQL may be installed without it.
 */
function driverFault({ tryDriver }: Subject["surroundings"]): Finding | null {
  try {
    tryDriver();
    return null;
  } catch (error) {
    if (!isSignalboxError(error)) throw error;
    return { ...refusedWith("driver_missing", error), blocks: true };
  }
}

/**
 * Finds out whether a process has the inbox open. Such a process holds a lock on the file
 * `<inbox>-owner`.
 */
export function examineInboxOwner({ db = "" }: Subject): Finding[] {
  const path = realpathSync(db);
  try {
    return [finding(isOwned(path) ? "inbox_owner" : "inbox_not_owned")];
  } catch (error) {
    return [finding("inbox_not_checked:owner", { path, code: errorCode(error) })];
  }
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
  let db: Database | undefined;
  try {
    db = driver.open(path, { readonly: true, fileMustExist: true, timeout: BUSY_MS });
    assertInbox(db, path, false);
    return [soundnessOf(db, path)];
  } catch (error) {
    if (isSignalboxError(error)) return [refusedWith("inbox_not_ours", error)];
    if (isBusy(error)) {
      facts.isInboxBusy = true;
      return [finding("inbox_not_checked:busy", { path })];
    }
    const code = errorCode(error);
    // A short read: the -wal or the file is shorter than it was.
    const isDamaged = /^SQLITE_(CORRUPT|IOERR_SHORT_READ)/.test(code);
    return [
      isDamaged
        ? finding("inbox_damaged", { path, what: code })
        : finding("inbox_not_checked:closed", { path, code }),
    ];
  } finally {
    db?.close();
  }
}

function soundnessOf(db: Database, path: string): Finding {
  const { size } = statSync(path);
  if (size > MOST_CHECKED_BYTES) {
    const values = { size: Math.round(size / 2 ** 20), quoted: shellQuote(path) };
    return finding("inbox_not_checked:large", values);
  }
  const found = db.pragma("quick_check(1)", { simple: true }) as string;
  return found === "ok"
    ? finding("inbox_sound")
    : finding("inbox_damaged", { path, what: found.replaceAll(/\s+/g, " ") });
}

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
      const ignored = new Map<string, string | null>();
      for (const each of inbox.inboxes)
        ignored.set(each.endpoint, await ignoredText(each, inbox.now));
      return describeEndpoints(states).endpoints.flatMap(({ endpoint, problems, text }) => {
        const name =
          inbox.isShared || endpoint !== "default" ? `endpoint ${printable(endpoint)}: ` : "";
        const place = { db, schema, endpoint: inbox.isShared ? endpoint : undefined };
        const told = (key: Parameters<typeof finding>[0], what: string): Finding => {
          const { commands = [], ...rest } = finding(key, {
            text: `${name}${what.replace(/\.$/, "")}`,
          });
          return { ...rest, commands: commands.map((words) => inboxCommand(words, place)) };
        };
        const skipped = ignored.get(endpoint) ?? null;
        const warnings = skipped === null ? [] : [told("inbox_ignored", skipped)];
        if (problems.length === 0) return [told("inbox_up_to_date", text), ...warnings];
        const found = problems.flatMap(({ id, text: what }) => {
          // Only a receiver in this process tells that it does not store.
          if (id === "inbox_not_storing" || (id === "inbox_not_owned" && !hasAny)) return [];
          return [told(id === "inbox_not_owned" ? "inbox_not_owned:endpoint" : id, what)];
        });
        return [...found, ...warnings];
      });
    });
  } catch (error) {
    if (!isSignalboxError(error)) throw error;
    // Another examination has told it.
    return [];
  }
}
