import { loadDriver } from "../../../base/sqlite/sqlite-driver.js";

/**
 * The part of the SQLite driver that the emulator uses. With the driver's own types, users who
 * compile against `signalbox/emulator` would need to install `@types/better-sqlite3`.
 */
export interface Database {
  prepare<Bound extends unknown[] | object = unknown[], Row = unknown>(
    sql: string,
  ): Statement<Bound, Row>;
  exec(sql: string): unknown;
  pragma(source: string, options?: { simple?: boolean }): unknown;
  /** Returns a function that runs `work` in a transaction. */
  transaction<Work extends (...given: never[]) => unknown>(work: Work): Work & { immediate: Work };
  serialize(): Buffer;
  close(): unknown;
}

export interface Statement<Bound extends unknown[] | object = unknown[], Row = unknown> {
  get(...bound: Values<Bound>): Row | undefined;
  all(...bound: Values<Bound>): Row[];
  run(...bound: Values<Bound>): { changes: number; lastInsertRowid: number | bigint };
  /** Makes the statement return the first column of a row instead of the row. */
  pluck(): this;
}

type Values<Bound> = Bound extends unknown[] ? Bound : [Bound];

/**
 * @param source the path of a file, `:memory:`, or the bytes of a database
 * @throws SqliteError, and SignalboxError `store_unsupported` for a driver that would crash this
 * version of Node
 */
export function openSqlite(source: string | Buffer): Database {
  const BetterSqlite3 = loadDriver();
  // The cast is safe: the driver writes its types differently, but they mean the same. A type test
  // compares both.
  return new BetterSqlite3(source, { timeout: 0 }) as unknown as Database;
}

/** Values about the database itself, such as its seed. */
export const SETTINGS_SCHEMA = `
CREATE TABLE setting (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;

export function readSetting(database: Database, name: string): string | null {
  const value = database
    .prepare<[string], string>("SELECT value FROM setting WHERE name = ?")
    .pluck()
    .get(name);
  return value ?? null;
}

/** An equal value is not written again, so that two snapshots of the same state are equal. */
export function writeSetting(database: Database, name: string, value: string): void {
  database
    .prepare(
      `INSERT INTO setting (name, value) VALUES (?, ?)
       ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value IS NOT excluded.value`,
    )
    .run(name, value);
}
