import type { Database, Statement } from "../../database/database.js";

/** The chance that a product or a keyword is not observed in a month. */
export const MISSED = 0.003;

type Value = number | string | null;

/** Writes the data of the generator. */
export interface MarketWriter {
  /** @param row the values in the order of the table's columns in `market-schema.ts` */
  add(table: string, ...row: Value[]): void;
  run(sql: string, ...values: Value[]): void;
}

export function createMarketWriter(database: Database): MarketWriter {
  const prepared = new Map<string, Statement<Value[]>>();
  const prepare = (key: string, sql: string): Statement<Value[]> => {
    const statement = database.prepare<Value[]>(sql);
    prepared.set(key, statement);
    return statement;
  };
  return {
    add: (table, ...row) =>
      void (prepared.get(table) ?? prepare(table, insertSql(table, row.length))).run(...row),
    run: (sql, ...values) => void (prepared.get(sql) ?? prepare(sql, sql)).run(...values),
  };
}

function insertSql(table: string, columns: number): string {
  return `INSERT INTO ${table} VALUES (${Array(columns).fill("?").join(", ")})`;
}

/** A writer that does nothing, for months whose rows already exist. */
export const NO_WRITER: MarketWriter = { add() {}, run() {} };
