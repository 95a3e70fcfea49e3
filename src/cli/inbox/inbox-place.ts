import { existsSync } from "node:fs";
import { Option } from "#commander";
import { createRun, ignoreErrorsOf, makePool, type Run } from "../../stores/postgres/connection.js";
import { prepareSchema } from "../../stores/postgres/schema.js";
import { storeError } from "../../stores/postgres/store-error.js";
import { ignore } from "../../time/ignore.js";
import { usageError } from "../options/exit.js";
import { notEmpty } from "../options/parse-option.js";

/** The options of a command that takes an inbox in a file or in a database. */
export interface InboxPlace {
  db: string;
  schema?: string | undefined;
}

/** Where the starters keep their inbox. */
export const DEFAULT_INBOX = "signals.db";

export const SCHEMA = new Option(
  "--schema <name>",
  "the schema of an inbox in PostgreSQL (default: signalbox)",
).argParser(notEmpty);

/** The connection string has a password, so no message may contain it. */
export function isDatabase(db: string): boolean {
  return /^postgres(ql)?:\/\//i.test(db);
}

/** @throws CliError when `db` is neither a file nor a database, or `schema` was given for a file */
export function assertPlace({ db, schema }: InboxPlace): void {
  if (isDatabase(db)) return;
  if (schema !== undefined) throw usageError("--schema needs a database: --db postgres://…");
  // It may have a password, so it is not repeated as the name of a file.
  if (/^postgres\w*:|:\/\/|password\s*=|^[^:]{2,}:.*@/i.test(db) && !existsSync(db))
    throw usageError("--db is no file and does not begin with postgres://");
}

/** For what the store of an inbox does not do. @param canMake whether a missing inbox is made */
export async function withDatabase<Result>(
  { db, schema = "signalbox" }: InboxPlace,
  canMake: boolean,
  act: (run: Run, schema: string) => Promise<Result>,
): Promise<Result> {
  const pool = await makePool(db);
  pool.on("error", ignore);
  pool.on("connect", ignoreErrorsOf);
  try {
    const { run } = createRun(pool);
    await prepareSchema(run, schema, canMake);
    return await act(run, schema);
  } catch (error) {
    throw storeError(error, schema);
  } finally {
    await pool.end().catch(ignore);
  }
}
