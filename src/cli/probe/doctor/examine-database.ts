import { codeOf, isSignalboxError, type SignalboxError } from "../../../base/errors.js";
import { DEAD_AFTER_MS } from "../../../kit/stores/postgres/owner-functions.js";
import { quoted, withSchema } from "../../../kit/stores/postgres/schema.js";
import { ok, problem, refusedWith, warning, type Finding, type Subject } from "./examination.js";

interface DatabaseFacts {
  version: string;
  isStandby: boolean;
  fsync: "on" | "off";
  full_page_writes: "on" | "off";
  default_transaction_read_only: "on" | "off";
}

const FACTS = `
  SELECT split_part(current_setting('server_version'), ' ', 1) AS version, pg_is_in_recovery() AS "isStandby",
    current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
    current_setting('default_transaction_read_only') AS default_transaction_read_only`;

interface Owners {
  endpoint: string;
  alive: number;
  /** Whether an event is leased to a dead one. */
  hasDeadLeases: boolean;
}

/**
 * The look for leases is ordered, so that PostgreSQL begins at `low_seq` in an index and does not
 * read the whole table.
 */
const OWNERS = (name: string): string => `
  SELECT endpoint, count(*) FILTER (WHERE NOT is_dead)::int AS alive,
    bool_or(is_dead AND (
      EXISTS (SELECT FROM ${name}.inbox i WHERE i.claimed_by = o.id)
      OR (SELECT seq FROM ${name}.inbox i WHERE i.seq >= o.low_seq AND i.owner = o.id AND i.state = 'leased' ORDER BY seq LIMIT 1)
        IS NOT NULL)) AS "hasDeadLeases"
  FROM (SELECT *, abs(${name}.now_ms() - beat_at) > ${DEAD_AFTER_MS} AS is_dead FROM ${name}.inbox_owner) o
  GROUP BY endpoint ORDER BY endpoint`;

export async function examineDatabase({
  db = "",
  schema = "signalbox",
}: Subject): Promise<Finding[]> {
  try {
    return await withSchema(db, schema, async (run) => {
      const [facts] = await run<DatabaseFacts>(FACTS, []);
      const owners = await run<Owners>(OWNERS(quoted(schema)), []);
      return [...checkServer(facts as DatabaseFacts, schema), ...checkOwners(owners)];
    });
  } catch (error) {
    if (!isSignalboxError(error)) throw error;
    return [refusedWith(idOf(error), error)];
  }
}

function idOf({ code, cause }: SignalboxError): string {
  if (codeOf(cause) === "ERR_MODULE_NOT_FOUND") return "driver_missing";
  if (code === "store_corrupt") return "inbox_damaged";
  return code === "store_failed" ? "inbox_not_readable" : "inbox_not_ours";
}

function* checkServer(facts: DatabaseFacts, schema: string): Iterable<Finding> {
  yield ok("inbox_database", `PostgreSQL ${facts.version}, schema ${schema}`);
  if (facts.isStandby) {
    const fix = "Pass the address of the primary. If there is none any more, promote this standby.";
    yield problem("database_read_only", "the server is a standby, which accepts no delivery", fix);
  } else if (facts.default_transaction_read_only === "on") {
    const fix = "Set it to off for the role of the receiver.";
    yield problem("database_read_only", "default_transaction_read_only is on for this role", fix);
  }
  if (facts.fsync === "off") {
    const fix = "Set fsync = on. Then stop the receivers, and restart PostgreSQL.";
    yield problem(
      "database_not_durable",
      "fsync is off: a crash of the machine loses acknowledged events",
      fix,
    );
  } else if (facts.full_page_writes === "off") {
    const fix =
      "Set full_page_writes = on, unless the file system writes whole pages, as ZFS does.";
    yield warning(
      "database_not_durable",
      "full_page_writes is off: a crash of the machine can damage the inbox",
      fix,
    );
  }
}

function* checkOwners(owners: readonly Owners[]): Iterable<Finding> {
  // The row of a dead owner without leases is harmless: the next receiver removes it.
  const known = owners.filter(({ alive, hasDeadLeases }) => alive > 0 || hasDeadLeases);
  if (known.length === 0) {
    const fix =
      "Start the receiver. If it runs, it uses another inbox: compare --db and --schema with its postgresStore(…).";
    yield warning("inbox_not_owned", "no receiver has the inbox open", fix);
  }
  for (const { endpoint, alive } of known) {
    if (alive > 0) yield ok("inbox_owner", `${alive} open with the endpoint ${endpoint}`);
    else {
      const fix = `Start a receiver with this endpoint. It takes over the events after ${DEAD_AFTER_MS / 1000} seconds.`;
      yield warning(
        "owner_dead",
        `a receiver of endpoint ${endpoint} died, and none runs: its events wait`,
        fix,
      );
    }
  }
}
