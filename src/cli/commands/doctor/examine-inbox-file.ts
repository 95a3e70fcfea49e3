import { closeSync, openSync, readSync, realpathSync, statSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { codeOf } from "./code-of.js";
import type { Subject } from "./examination.js";
import { blocker, ok, type Finding } from "./finding.js";
import { formatBytes } from "./format-bytes.js";

const MAGIC = "SQLite format 3\0";

/** Without SQLite, which would make a file, or a log beside it, where there is none. */
export function examineInboxFile({ db = "", surroundings }: Subject): Finding[] {
  let stats: Stats | undefined;
  try {
    stats = statSync(db, { throwIfNoEntry: false });
  } catch (error) {
    return [notReadable(db, error as Error)];
  }
  if (stats === undefined) {
    const mend = "Pass the path that the receiver has. If it is right, the receiver was never started.";
    return [blocker("inbox_missing", `there is no file ${db}`, mend)];
  }
  if (!stats.isFile()) return [blocker("inbox_not_ours", `${db} is no file`, "Pass the path that the receiver has.")];
  const start = startOf(db);
  if (start instanceof Error) return [notReadable(db, start)];
  if (start !== MAGIC) {
    return [blocker("inbox_not_ours", `${db} is no SQLite file`, "Pass the path that the receiver has.")];
  }
  const path = realpathSync(db);
  const closed = [path, dirname(path)].filter((name) => !surroundings.isWritable(name));
  if (closed.length > 0) {
    const mend =
      "Run this as the receiver's user. If this is it, let it write to the file and its folder, and mount the disk " +
      "read-write: SQLite makes -wal, -shm and -owner beside the file.";
    return [blocker("inbox_not_writable", `${closed.join(" and ")} may not be written to by this user`, mend)];
  }
  return [ok("inbox_file", `${path}, ${formatBytes(stats.size)}`)];
}

function notReadable(path: string, error: Error): Finding {
  const mend = "Run this as the user that the receiver runs as, or give that user the right to read the file.";
  return blocker("inbox_not_readable", `${path} may not be read (${codeOf(error)})`, mend);
}

function startOf(path: string): string | Error {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, "r");
    const start = Buffer.alloc(MAGIC.length);
    readSync(descriptor, start);
    return start.toString("latin1");
  } catch (error) {
    return error as Error;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
