import type { Database } from "better-sqlite3";

type Value = number | string | null;

/** Collects rows of one table. */
export interface BulkInsert {
  add(...row: Value[]): void;
  /** Writes what is left. */
  flush(): void;
}

/** Measured with four columns of numbers: one row a statement 1.1 µs a row, 64 rows 0.6 µs, rows as JSON 4.5 µs. */
const ROWS = 64;

/** @param columns in the order of the rows' values */
export function createBulkInsert(database: Database, table: string, columns: readonly string[]): BulkInsert {
  const row = `(${columns.map(() => "?").join(", ")})`;
  const insert = (count: number): string =>
    `INSERT INTO ${table} (${columns.join(", ")}) VALUES ${Array.from({ length: count }, () => row).join(", ")}`;
  const statement = database.prepare<Value[][]>(insert(ROWS));
  let values: Value[] = [];
  return {
    add(...added) {
      for (const value of added) values.push(value);
      if (values.length < ROWS * columns.length) return;
      statement.run(values);
      values = [];
    },
    flush() {
      if (values.length === 0) return;
      database.prepare<Value[][]>(insert(values.length / columns.length)).run(values);
      values = [];
    },
  };
}
