import { closeSync, openSync, readSync } from "node:fs";

const MAGIC = "SQLite format 3\0";

/** Checks a file's first bytes, because SQLite would make a database of an empty file. @throws Error of the file system */
export function isSqliteFile(path: string): boolean {
  const descriptor = openSync(path, "r");
  try {
    const start = Buffer.alloc(MAGIC.length);
    readSync(descriptor, start);
    return start.toString("latin1") === MAGIC;
  } finally {
    closeSync(descriptor);
  }
}
