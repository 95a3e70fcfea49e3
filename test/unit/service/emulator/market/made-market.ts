import { createHash } from "node:crypto";
import {
  openSqlite,
  type Database,
} from "../../../../../src/service/emulator/database/database.js";
import { generateMarket } from "../../../../../src/service/emulator/market/create-market.js";
import { MARKET_SCHEMA } from "../../../../../src/service/emulator/market/market-schema.js";

/** October 2026. */
export const LAST = 2026 * 12 + 9;

export function emptyMarket(): Database {
  const database = openSqlite(":memory:");
  database.exec(MARKET_SCHEMA);
  return database;
}

/** Keywords are observed from the 13th month on. Fewer months are made faster. */
export function madeMarket(seed: number, lastMonth = LAST, months = 24): Database {
  const database = emptyMarket();
  generateMarket(database, { seed, lastMonth, months });
  return database;
}

/** The tables that a market is made of. */
export const tablesOf = (database: Database): string[] =>
  database
    .rows<{ name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name",
    )
    .map(({ name }) => name);

/** A digest of each table's rows, whatever their order. */
export function digestsOf(database: Database): Record<string, string> {
  return Object.fromEntries(tablesOf(database).map((table) => [table, digestOf(database, table)]));
}

export function digestOf(database: Database, table: string): string {
  const rows = database.rows<object>(`SELECT * FROM ${table}`);
  const lines = rows.map((row) => JSON.stringify(Object.values(row))).sort();
  return createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 16);
}

export const countOf = (database: Database, sql: string): number =>
  database.value<number>(sql) ?? 0;
