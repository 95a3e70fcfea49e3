import { realpathSync, statSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { isSqliteFile } from "../../../sqlite/is-sqlite-file.js";
import { codeOf } from "./code-of.js";
import type { Subject } from "./examination.js";
import { blocker, ok, type Finding } from "./finding.js";
import { formatBytes } from "./format-bytes.js";

/** Without SQLite, which would make a file, or a log beside it, where there is none. */
export function examineInboxFile({ db = "", surroundings }: Subject): Finding[] {
  let stats: Stats | undefined;
  let isSqlite = false;
  try {
    stats = statSync(db, { throwIfNoEntry: false });
    isSqlite = stats?.isFile() === true && isSqliteFile(db);
  } catch (error) {
    return [notReadable(db, error as Error)];
  }
  if (stats === undefined) {
    const mend = "Pass the path that the receiver has. If it is right, the receiver was never started.";
    return [blocker("inbox_missing", `there is no file ${db}`, mend)];
  }
  if (!isSqlite) {
    const what = stats.isFile() ? "SQLite file" : "file";
    return [blocker("inbox_not_ours", `${db} is no ${what}`, "Pass the path that the receiver has.")];
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
