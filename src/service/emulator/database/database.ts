import type { Database as SqliteDatabase, Statement } from "../../../base/sqlite/database.js";
import { loadDriver } from "../../../base/sqlite/sqlite-driver.js";

/** SQLite with statements that are prepared once, by their texts. */
export interface Database extends SqliteDatabase {
  /** The first row that a query gives. */
  row<Row>(sql: string, ...bound: unknown[]): Row | undefined;
  rows<Row>(sql: string, ...bound: unknown[]): Row[];
  /** The first column of the first row. */
  value<Value>(sql: string, ...bound: unknown[]): Value | undefined;
  run(sql: string, ...bound: unknown[]): unknown;
  /** Adds a row. A row with the same key is replaced. @returns its row id */
  put(table: string, row: object): number;
}

/**
 * @param source the path of a file, `:memory:`, or the bytes of a database
 * @throws SqliteError, and SignalboxError `store_unsupported` where there is no driver
 */
export function openSqlite(source: string | Buffer): Database {
  const database = loadDriver().open(source, { timeout: 0 });
  const prepared = new Map<string, Statement>();
  function statementOf(sql: string) {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    const statement = database.prepare(sql);
    prepared.set(sql, statement);
    return statement;
  }
  return Object.assign(database, {
    row: (sql: string, ...bound: unknown[]) => statementOf(sql).get(...bound),
    rows: (sql: string, ...bound: unknown[]) => statementOf(sql).all(...bound),
    value: (sql: string, ...bound: unknown[]) =>
      Object.values(statementOf(sql).get(...bound) ?? {})[0],
    run: (sql: string, ...bound: unknown[]) => statementOf(sql).run(...bound),
    put(table: string, row: object): number {
      const names = Object.keys(row);
      const values = names.map((name) => `@${name}`).join(", ");
      const sql = `REPLACE INTO ${table} (${names.join(", ")}) VALUES (${values})`;
      return Number(statementOf(sql).run(row).lastInsertRowid);
    },
  }) as Database;
}

/** Values about the database itself, such as its seed. */
export const SETTINGS_SCHEMA = `
CREATE TABLE setting (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;

export const readSetting = (database: Database, name: string): string | null =>
  database.value<string>("SELECT value FROM setting WHERE name = ?", name) ?? null;

/** An equal value is not written again, so that two snapshots of the same state are equal. */
export function writeSetting(database: Database, name: string, value: string): void {
  if (readSetting(database, name) !== value) database.put("setting", { name, value });
}
