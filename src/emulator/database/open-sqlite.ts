import { loadDriver } from "../../sqlite/sqlite-driver.js";
import type { Database } from "./database.js";

/**
 * @param source the path of a file, `:memory:`, or the bytes of a database
 * @throws SqliteError, and SignalboxError `store_unsupported` for a driver that crashes this Node
 */
export function openSqlite(source: string | Buffer, options?: { timeout?: number; readonly?: boolean }): Database {
  const BetterSqlite3 = loadDriver();
  // Its generics are other ones, and mean the same: a type test would compare what both make of each call.
  return new BetterSqlite3(source, options) as unknown as Database;
}
