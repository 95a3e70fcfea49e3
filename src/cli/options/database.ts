import { Option } from "commander";
import { createRun, ignore, makePool, type Run } from "../../stores/postgres/connection.js";
import { prepareSchema } from "../../stores/postgres/schema.js";
import { storeError } from "../../stores/postgres/store-error.js";
import { notEmpty } from "./parse-option.js";

/** The options of a command that takes an inbox in a file or in a database. */
export interface InboxPlace {
  db: string;
  schema?: string;
}

export function schemaOption(): Option {
  return new Option("--schema <name>", "the schema of an inbox in PostgreSQL (default: signalbox)").argParser(notEmpty);
}

/** The connection string has a password, so no message may contain it. */
export function isDatabase(db: string): boolean {
  return /^postgres(ql)?:\/\//i.test(db);
}

/**
 * Connects to the database of an inbox, for what its store does not do.
 *
 * @param canMake whether a missing inbox is made
 * @throws SignalboxError `store_…`
 */
export async function withDatabase<Result>(
  { db, schema = "signalbox" }: InboxPlace,
  canMake: boolean,
  act: (run: Run, schema: string) => Promise<Result>,
): Promise<Result> {
  const pool = await makePool(db);
  pool.on("error", ignore);
  try {
    const run = createRun(pool);
    await prepareSchema(run, schema, canMake);
    return await act(run, schema);
  } catch (error) {
    throw storeError(error, schema);
  } finally {
    await pool.end().catch(ignore);
  }
}
