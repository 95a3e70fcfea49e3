import type { Database } from "../../database/database.js";

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
  const statement = database.prepare<[Value[]]>(insert(ROWS));
  // One array for all batches: a new one for each kept the garbage collector busy.
  const values: Value[] = Array.from({ length: ROWS * columns.length }, () => null);
  let filled = 0;
  return {
    add(...added) {
      for (const value of added) values[filled++] = value;
      if (filled < values.length) return;
      statement.run(values);
      filled = 0;
    },
    flush() {
      if (filled === 0) return;
      database.prepare<[Value[]]>(insert(filled / columns.length)).run(values.slice(0, filled));
      filled = 0;
    },
  };
}
