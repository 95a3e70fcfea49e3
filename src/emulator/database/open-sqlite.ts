import BetterSqlite3 from "better-sqlite3";
import type { Database } from "./database.js";

/** @param source the path of a file, `:memory:`, or the bytes of a database @throws SqliteError */
export function openSqlite(source: string | Buffer, options?: { timeout?: number; readonly?: boolean }): Database {
  // Its generics are other ones, and mean the same: a type test would compare what both make of each call.
  return new BetterSqlite3(source, options) as unknown as Database;
}
