import { createHash } from "node:crypto";
import { SignalboxError } from "../../../base/errors.js";
import { OptionError } from "../../../base/options/option-error.js";
import { BURST_FUNCTIONS } from "./burst-functions.js";
import { COMMIT_FUNCTIONS } from "./commit-functions.js";
import { type Run, createRun, makePool, usePool } from "./connection.js";
import { LANE_FUNCTIONS } from "./lane-functions.js";
import { OTHER_FUNCTIONS } from "./other-functions.js";
import { OWNER_FUNCTIONS } from "./owner-functions.js";
import { ACTIVITY_FUNCTION } from "./activity.js";
import { SEARCH_FUNCTION } from "./search.js";
import { storeError } from "./store-error.js";
import { MIGRATIONS } from "./tables.js";

/** Installed after the last migration, in its transaction. */
export const FUNCTIONS =
  OWNER_FUNCTIONS +
  LANE_FUNCTIONS +
  BURST_FUNCTIONS +
  COMMIT_FUNCTIONS +
  OTHER_FUNCTIONS +
  SEARCH_FUNCTION +
  ACTIVITY_FUNCTION;

/** Of the store, for its option errors. */
export const FACTORY = { name: "postgresStore", page: "docs/postgres.md" };

const OLDEST_SERVER = 140_000;

/** Other processes wait for the one that migrates, and a later migration may take long. */
const MIGRATION_TIMEOUT_MS = 10 * 60_000;

/** What each version must have; a part of it may have been lost with a backup, or by hand. */
const TABLE_NAMES = [
  "inbox",
  "inbox_alarm",
  "inbox_body",
  "inbox_burst",
  "inbox_history",
  "inbox_lane",
  "inbox_minute",
  "inbox_owner",
  "inbox_report",
];

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** @throws SignalboxError `option_invalid` */
export function assertSchemaName(name: string): void {
  // PostgreSQL cuts longer names, in a search path $user stands for another schema, and pg would
  // send U+FFFD for half of a surrogate pair.
  const isName = /^(?!pg_|(\$user|information_schema)$)[^\0]+$/i.test(name) && name.isWellFormed();
  if (isName && Buffer.byteLength(name) <= 63) return;
  const problem =
    'expected a name of at most 63 bytes, not "$user", "information_schema", or one that begins with "pg_"';
  throw new OptionError(FACTORY, "schema", problem);
}

interface Found {
  server: number;
  isolation: string;
  encoding: string;
  /** Whether the schema exists. */
  exists: boolean;
  /** The tables with our names. */
  tables: string[];
}

/**
 * Makes or migrates the schema. Any number of processes can do that at once.
 *
 * @param canMake whether to make or migrate it; otherwise it is only read
 * @throws SignalboxError `option_invalid`, `store_unsupported`, `store_newer`, `store_corrupt`
 */
export async function prepareSchema(run: Run, schema: string, canMake: boolean): Promise<void> {
  assertSchemaName(schema);
  const found = await look(run, schema);
  const { server, isolation, encoding } = found;
  if (!(server >= OLDEST_SERVER)) {
    const message = `The inbox needs PostgreSQL 14 or later; this server has version ${server}.`;
    throw unsupported(message, "Connect to a newer server.");
  }
  if (isolation !== "read committed") {
    const message = `Transactions of this role are "${isolation}" by default, but the inbox needs "read committed".`;
    const help =
      "Set default_transaction_isolation for the role, or in the connection string's options.";
    throw unsupported(message, help);
  }
  if (encoding !== "UTF8") {
    const message = `The database has the encoding ${encoding}, which cannot store every event and error.`;
    throw unsupported(message, "Create a database with ENCODING 'UTF8' for the inbox.");
  }
  // A current schema is only read, so that a role without the right to make tables can use it.
  const version = await versionOf(run, schema, found);
  if (version < MIGRATIONS.length && !canMake) throw notMade(schema, version);
  const { tables } =
    version < MIGRATIONS.length ? await migrate(run, schema, found, version) : found;
  const missing = TABLE_NAMES.filter((table) => !tables.includes(table));
  if (missing.length > 0) throw damagedSchema(schema, `missing: ${missing.join(", ")}`);
}

function unsupported(message: string, help: string): SignalboxError {
  return new SignalboxError("store_unsupported", message, help);
}

async function look(run: Run, schema: string): Promise<Found> {
  const names = [...TABLE_NAMES, "inbox_schema"].map((name) => `'${name}'`).join(", ");
  const [found] = await run<Found>(
    `SELECT current_setting('server_version_num')::int AS server, current_setting('transaction_isolation') AS isolation,
      current_setting('server_encoding') AS encoding,
      EXISTS (SELECT FROM pg_namespace WHERE nspname = $1) AS exists,
      (SELECT coalesce(json_agg(c.relname), '[]') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v') AND c.relname IN (${names})) AS tables`,
    [schema],
  );
  return found as Found;
}

async function versionOf(run: Run, schema: string, { tables }: Found): Promise<number> {
  if (!tables.includes("inbox_schema")) {
    if (tables.length === 0) return 0;
    const help = "Pass another schema. If this was an inbox, restore the schema from a backup.";
    const message = `The schema ${schema} has tables with the names of an inbox, but no version of signalbox made them.`;
    throw unsupported(message, help);
  }
  const [row] = await run<{ version: number }>(
    `SELECT version FROM ${quoted(schema)}.inbox_schema`,
  );
  if (row === undefined) throw damagedSchema(schema, "inbox_schema has no row");
  if (row.version > MIGRATIONS.length) {
    throw new SignalboxError(
      "store_newer",
      `The inbox in the schema ${schema} was made by a newer signalbox (${row.version}, this one knows ${MIGRATIONS.length}).`,
      "Upgrade this installation.",
    );
  }
  return row.version;
}

function notMade(schema: string, version: number): SignalboxError {
  if (version === 0) {
    const help =
      "Pass the database and schema of the receiver, which makes its inbox when it starts.";
    return unsupported(`There is no inbox in the schema ${schema} of this database.`, help);
  }
  const help = "Start a receiver once with this version of signalbox, which migrates it.";
  return unsupported(`The inbox in the schema ${schema} was made by an older signalbox.`, help);
}

function damagedSchema(schema: string, found: string): SignalboxError {
  const help =
    "Restore the schema from a backup; or move its tables to another schema, and start with an empty inbox.";
  return new SignalboxError(
    "store_corrupt",
    `The inbox in the schema ${schema} is damaged (${found}).`,
    help,
  );
}

/**
 * One text of several statements, which PostgreSQL runs as one transaction: all of it or nothing.
 *
 * @returns what is there now
 */
async function migrate(
  run: Run,
  schema: string,
  { exists }: Found,
  version: number,
): Promise<Found> {
  const name = quoted(schema);
  const lockKey = createHash("sha256").update(`signalbox ${schema}`).digest().readBigInt64BE();
  const sql = [
    `SELECT pg_advisory_xact_lock(${lockKey});`,
    // The right to make a schema is not needed if the schema is there.
    exists ? "" : `CREATE SCHEMA IF NOT EXISTS ${name};`,
    `SET LOCAL search_path TO ${name}, pg_temp;`,
    version === 0
      ? "CREATE TABLE inbox_schema (version int NOT NULL); INSERT INTO inbox_schema VALUES (0);"
      : `SELECT 1 / count(*) FROM inbox_schema WHERE version = ${version};`,
    ...MIGRATIONS.slice(version),
    FUNCTIONS,
    `UPDATE inbox_schema SET version = ${MIGRATIONS.length};`,
  ];
  const failure = await run(sql.join("\n"), [], MIGRATION_TIMEOUT_MS).catch(
    (error: unknown) => error,
  );
  const found = await look(run, schema);
  // If another process has migrated meanwhile, the first statements have failed.
  if ((await versionOf(run, schema, found)) < MIGRATIONS.length) throw failure;
  return found;
}

/** For what no store does: gives `act` the database of an inbox that is there. */
export async function withSchema<Result>(
  connectionString: string,
  schema: string,
  act: (run: Run) => Promise<Result>,
): Promise<Result> {
  const pool = await makePool(connectionString);
  const end = usePool(pool, true);
  try {
    const { run } = createRun(pool);
    await prepareSchema(run, schema, false);
    return await act(run);
  } catch (error) {
    throw storeError(error, schema);
  } finally {
    await end();
  }
}
