import type { Database } from "./database.js";

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
