import { Pool } from "pg";

/**
 * Runs statements one after the other, each in a transaction of its own. @returns the first row of
 * the last one
 */
export async function queryDatabase<Row>(
  connectionString: string,
  ...statements: readonly string[]
): Promise<Row> {
  const pool = new Pool({ connectionString, max: 1 });
  // The server may stop before the connection is closed.
  pool.on("error", () => {});
  try {
    let rows: unknown[] = [];
    for (const statement of statements) rows = (await pool.query(statement)).rows;
    return rows[0] as Row;
  } finally {
    await pool.end();
  }
}
