import { loadDriver } from "../../sqlite/sqlite-driver.js";

/**
 * The part of the SQLite driver that the emulator uses. With the driver's own types, every user who compiles against
 * `signalbox/emulator` would have to install them.
 */
export interface Database {
  /** With a type for the bound values (one, or all of them), and for a row. */
  prepare<Bound extends unknown[] | object = unknown[], Row = unknown>(sql: string): Statement<Bound, Row>;
  exec(sql: string): unknown;
  pragma(source: string, options?: { simple?: boolean }): unknown;
  /** Runs in one transaction; inside another one as a part of it. */
  transaction<Work extends (...given: never[]) => unknown>(work: Work): Work & { immediate: Work };
  /** The whole database, as bytes. */
  serialize(): Buffer;
  close(): unknown;
}

/** A prepared statement; see {@link Database}. */
export interface Statement<Bound extends unknown[] | object = unknown[], Row = unknown> {
  get(...bound: Values<Bound>): Row | undefined;
  all(...bound: Values<Bound>): Row[];
  run(...bound: Values<Bound>): { changes: number; lastInsertRowid: number | bigint };
  /** Rows are the values of their first column from now on. */
  pluck(): this;
}

type Values<Bound> = Bound extends unknown[] ? Bound : [Bound];

/**
 * @param source the path of a file, `:memory:`, or the bytes of a database
 * @throws SqliteError, and SignalboxError `store_unsupported` for a driver that crashes this Node
 */
export function openSqlite(source: string | Buffer): Database {
  const BetterSqlite3 = loadDriver();
  // The driver's generics differ from ours and mean the same: a type test compares what both make of each call.
  return new BetterSqlite3(source, { timeout: 0 }) as unknown as Database;
}
