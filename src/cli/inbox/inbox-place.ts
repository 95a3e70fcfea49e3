import { existsSync } from "node:fs";
import { Option } from "#commander";
import {
  createRun,
  ignoreErrorsOf,
  makePool,
  type Run,
} from "../../kit/stores/postgres/connection.js";
import { prepareSchema } from "../../kit/stores/postgres/schema.js";
import { storeError } from "../../kit/stores/postgres/store-error.js";
import { ignore } from "../../base/errors.js";
import { printable } from "../console/printable.js";
import { shellQuote } from "../console/shell-quote.js";
import { usageError } from "../console/exit.js";
import { notEmpty } from "../console/parse-option.js";

/** The options of a command that takes an inbox in a file or in a database. */
export interface InboxPlace {
  db: string;
  schema?: string | undefined;
}

export interface EndpointPlace extends InboxPlace {
  /** @default all */
  endpoint?: string | undefined;
}

/** Where the starters keep their inbox. */
export const DEFAULT_INBOX = "signals.db";

export const SCHEMA = new Option(
  "--schema <name>",
  "the schema of an inbox in PostgreSQL (default: signalbox)",
).argParser(notEmpty);

export const ENDPOINT = new Option(
  "--endpoint <name>",
  "only this endpoint of the inbox (default: all)",
).argParser(notEmpty);

/**
 * A command for this inbox that a person can copy, such as `inbox failures`. It has no password.
 */
export function inboxCommand(words: string, { db, schema, endpoint }: EndpointPlace): string {
  const isSecret =
    isDatabase(db) && (!URL.canParse(db) || new URL(db).password !== "" || /password/i.test(db));
  const options = { db: isSecret ? '"$DATABASE_URL"' : shellQuote(db), schema, endpoint };
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const quoted = given.map(
    ([name, value]) => `--${name} ${name === "db" ? value : shellQuote(value ?? "")}`,
  );
  return printable(`npx signalbox ${words} ${quoted.join(" ")}`);
}

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
