import { codeOf, isSignalboxError, type SignalboxError } from "../../../base/errors.js";
import { DEAD_AFTER_MS } from "../../../kit/stores/postgres/owner-functions.js";
import { quoted, withSchema } from "../../../kit/stores/postgres/schema.js";
import { finding, refusedWith, type Finding, type Subject } from "./examination.js";

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
  yield finding("inbox_database", { version: facts.version, schema });
  if (facts.isStandby) yield finding("database_read_only:standby");
  else if (facts.default_transaction_read_only === "on") yield finding("database_read_only:role");
  if (facts.fsync === "off") yield finding("database_not_durable:fsync");
  else if (facts.full_page_writes === "off") yield finding("database_not_durable:pages");
}

function* checkOwners(owners: readonly Owners[]): Iterable<Finding> {
  // The row of a dead owner without leases is harmless: the next receiver removes it.
  const known = owners.filter(({ alive, hasDeadLeases }) => alive > 0 || hasDeadLeases);
  if (known.length === 0) yield finding("inbox_not_owned:database");
  for (const { endpoint, alive } of known) {
    yield alive > 0
      ? finding("inbox_owner:database", { alive, endpoint })
      : finding("owner_dead", { endpoint, seconds: DEAD_AFTER_MS / 1000 });
  }
}
