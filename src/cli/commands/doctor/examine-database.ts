import { isSignalboxError, type SignalboxError } from "../../../errors.js";
import { DEAD_AFTER_MS } from "../../../stores/postgres/owner-functions.js";
import { quoted } from "../../../stores/postgres/schema.js";
import { codeOf } from "../../../stores/postgres/store-error.js";
import { formatAge } from "../../../text/format.js";
import { withDatabase } from "../../inbox/inbox-place.js";
import type { Subject } from "./examination.js";
import { ok, problem, refusedWith, skipped, warning, type Finding } from "./findings.js";

/** What PostgreSQL says of itself and of the inbox. A role without pg_read_all_stats does not see all. */
interface DatabaseFacts {
  schema: string;
  version: string;
  isStandby: boolean;
  settings: Record<"fsync" | "full_page_writes" | "autovacuum" | "default_transaction_read_only", "on" | "off"> & {
    synchronous_commit: string;
    synchronous_standby_names: string;
  };
  /** Quoted. */
  role: string;
  seesAll: boolean;
  standbys: number;
  synchronousStandbys: number;
  tables: { name: string; live: number; dead: number; isVacuumed: boolean; vacuumedAgoMs: number | null }[];
  holders: { kind: keyof typeof RELEASE; name: string; seconds: number | null }[];
  connections: number;
  mostConnections: number;
  /** `hasLeases` only where none is alive: whether an event is leased to a dead one. */
  owners: { endpoint: string; alive: number; hasLeases: boolean }[];
}

const SETTINGS =
  "fsync full_page_writes autovacuum default_transaction_read_only synchronous_commit synchronous_standby_names";
/** An open transaction is reported after this time; where its time is not known, after this number of other transactions. */
const LONG_SECONDS = 600;
const LONG_XIDS = 1_000_000;
/** Dead rows are reported above this number, if they are also more than a fifth of the table. Autovacuum begins at 2 %. */
const MANY_DEAD = 10_000;

const FACTS = (name: string, longSeconds: number): string => `
  WITH activity AS (
    SELECT 'transaction' AS kind,
      format('of pid %s (%s)', pid, concat_ws(', ', usename, nullif(application_name, ''))) AS name,
      xact_start AS since, greatest(age(backend_xmin), age(backend_xid)) AS xids
    FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type IS DISTINCT FROM 'autovacuum worker'
    UNION ALL SELECT 'prepared transaction', gid, prepared, age(transaction) FROM pg_prepared_xacts WHERE database = current_database()
    UNION ALL SELECT 'replication slot', slot_name, NULL, age(xmin) FROM pg_replication_slots
    UNION ALL SELECT 'query of the standby', application_name, NULL, age(backend_xmin) FROM pg_stat_replication
  ), holders AS (
    SELECT kind, name, extract(epoch FROM now() - since)::int AS seconds FROM activity
    WHERE xids IS NOT NULL AND CASE WHEN since IS NULL THEN xids > ${LONG_XIDS} ELSE now() - since > interval '${longSeconds} s' END
    ORDER BY xids DESC
  ), standbys AS (
    SELECT sync_state IN ('sync', 'quorum') AS is_synchronous FROM pg_stat_replication r
    WHERE coalesce(state, 'streaming') = 'streaming'
      AND NOT EXISTS (SELECT FROM pg_replication_slots s WHERE s.active_pid = r.pid AND s.slot_type = 'logical')
  ), tables AS (
    SELECT t.relname AS name, n_live_tup AS live, n_dead_tup AS dead,
      NOT coalesce('autovacuum_enabled=false' = ANY (c.reloptions), false) AS "isVacuumed",
      (extract(epoch FROM now() - greatest(last_vacuum, last_autovacuum)) * 1000)::bigint AS "vacuumedAgoMs"
    FROM pg_stat_all_tables t JOIN pg_class c ON c.oid = t.relid
    WHERE t.schemaname = $1 AND t.relname IN ('inbox', 'inbox_body', 'inbox_owner')
  ), owners AS (
    SELECT endpoint, count(*) FILTER (WHERE abs(${name}.now_ms() - beat_at) <= ${DEAD_AFTER_MS}) AS alive, array_agg(id) AS ids
    FROM ${name}.inbox_owner GROUP BY endpoint
  ), leases AS (
    SELECT endpoint, alive, alive = 0 AND EXISTS (
      SELECT FROM ${name}.inbox_owner o WHERE o.id = ANY (ids) AND (
        EXISTS (SELECT FROM ${name}.inbox i WHERE i.claimed_by = o.id)
        OR (SELECT seq FROM ${name}.inbox i WHERE i.seq >= o.low_seq AND i.owner = o.id AND i.state = 'leased' ORDER BY seq LIMIT 1)
          IS NOT NULL
      )) AS "hasLeases"
    FROM owners ORDER BY endpoint
  )
  SELECT json_build_object(
    'schema', $1, 'version', split_part(current_setting('server_version'), ' ', 1), 'isStandby', pg_is_in_recovery(),
    'settings', (SELECT json_object_agg(s, current_setting(s)) FROM unnest(string_to_array('${SETTINGS}', ' ')) s),
    'role', quote_ident(current_user), 'seesAll', pg_has_role('pg_read_all_stats', 'USAGE'),
    'standbys', (SELECT count(*) FROM standbys),
    'synchronousStandbys', (SELECT count(*) FROM standbys WHERE is_synchronous),
    'tables', (SELECT json_agg(tables) FROM tables),
    'holders', (SELECT coalesce(json_agg(holders), '[]') FROM holders),
    'connections', (SELECT sum(numbackends) FROM pg_stat_database),
    'mostConnections', current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
    'owners', (SELECT coalesce(json_agg(leases), '[]') FROM leases)
  ) AS facts`;

export async function examineDatabase({ db = "", schema }: Subject, longSeconds = LONG_SECONDS): Promise<Finding[]> {
  try {
    return await withDatabase({ db, schema }, false, async (run, found) => {
      const [row] = await run<{ facts: DatabaseFacts }>(FACTS(quoted(found), longSeconds), [found]);
      return CHECKS.flatMap((check) => [...check((row as { facts: DatabaseFacts }).facts)]);
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

type Check = (facts: DatabaseFacts) => Iterable<Finding>;

const CHECKS: readonly Check[] = [
  checkServer,
  checkDurability,
  checkFailover,
  checkVacuum,
  checkConnections,
  checkOwners,
];

function* checkServer({ version, schema, isStandby, settings }: DatabaseFacts): Iterable<Finding> {
  yield ok("inbox_database", `PostgreSQL ${version}, schema ${schema}`);
  if (isStandby) {
    const fix = "Pass the address of the primary. If there is none any more, promote this standby.";
    yield problem("database_read_only", "the server is a standby, which accepts no delivery", fix);
  } else if (settings.default_transaction_read_only === "on") {
    const fix = "Set it to off for the role of the receiver.";
    yield problem("database_read_only", "default_transaction_read_only is on for this role", fix);
  }
}

function* checkDurability({ settings }: DatabaseFacts): Iterable<Finding> {
  if (settings.fsync === "off") {
    const fix = "Set fsync = on. Then stop the receivers, and restart PostgreSQL.";
    yield problem("database_not_durable", "fsync is off: a crash of the machine loses acknowledged events", fix);
  } else if (settings.full_page_writes === "off") {
    const fix = "Set full_page_writes = on, unless the file system writes whole pages, as ZFS does.";
    yield warning("database_not_durable", "full_page_writes is off: a crash of the machine can damage the inbox", fix);
  } else {
    const role = settings.synchronous_commit;
    const forced = role === "off" ? " (the inbox sets synchronous_commit to on; the role has it off)" : "";
    yield ok("inbox_durability", `each commit is synced before an acknowledgement${forced}`);
  }
}

function* checkFailover({
  isStandby,
  settings,
  seesAll,
  standbys,
  synchronousStandbys,
}: DatabaseFacts): Iterable<Finding> {
  if (isStandby) return;
  const isSynchronous = settings.synchronous_standby_names !== "";
  if (isSynchronous && seesAll && synchronousStandbys === 0) {
    const fix =
      "Start the standby, or correct synchronous_standby_names. If it is empty, commits do not wait, but a failover loses events.";
    const found = "no synchronous standby is connected, so no commit ends: deliveries are answered 503";
    yield problem("standby_missing", found, fix);
  } else if (isSynchronous) {
    const isWritten = settings.synchronous_commit === "remote_write";
    const found = isWritten
      ? "a synchronous standby receives each acknowledged event, but loses the latest if its own machine crashes (synchronous_commit = remote_write)"
      : "a synchronous standby has each acknowledged event, so a failover loses none";
    yield ok("failover", found);
  } else if (standbys === 0) {
    yield ok("failover", "no standby is connected: the loss of this server's disk loses the inbox");
  } else {
    const fix = "If this must not be, set synchronous_standby_names. Each commit then waits for the standby.";
    const found = `no standby is synchronous (${standbys} connected): a failover loses the latest acknowledged events`;
    yield warning("failover_loses", found, fix);
  }
}

/** What ends each thing that keeps the old versions of rows. */
const RELEASE = {
  transaction: "End it with pg_terminate_backend(pid), and correct the program that left it open.",
  "prepared transaction": "End it with ROLLBACK PREPARED or COMMIT PREPARED.",
  "replication slot": "Start the program that reads it, or drop it with pg_drop_replication_slot.",
  "query of the standby": "End the query there, or set hot_standby_feedback = off there.",
};

function* checkVacuum({ schema, settings, role, seesAll, tables, holders }: DatabaseFacts): Iterable<Finding> {
  const [holder] = holders;
  if (holder !== undefined) {
    const { kind, name, seconds } = holder;
    const age = seconds === null ? "for long" : `for ${formatAge(seconds * 1000)}`;
    const found = `a ${kind}, ${name}, has kept old versions of rows ${age}: claims become slower`;
    yield warning("vacuum_held_back", found, RELEASE[kind]);
  } else if (!seesAll) {
    const found = "long transactions of other roles, because this role may not see them";
    yield skipped("vacuum_held_back", found, `Run: GRANT pg_read_all_stats TO ${role}`);
  }
  const off = tables.find(({ isVacuumed }) => settings.autovacuum === "off" || !isVacuumed);
  if (off !== undefined) {
    const fix = "Set autovacuum = on in the server, and reset autovacuum_enabled of the table.";
    yield problem("autovacuum_off", `autovacuum is off for ${off.name}: the inbox becomes larger and slower`, fix);
  }
  for (const { name, live, dead, vacuumedAgoMs } of tables) {
    if (dead < MANY_DEAD || dead < live / 5) continue;
    const last =
      vacuumedAgoMs === null ? "it was never vacuumed" : `the last vacuum was ${formatAge(vacuumedAgoMs)} ago`;
    const fix = `Run: VACUUM ${quoted(schema)}.${name}. If they come back, raise autovacuum_vacuum_cost_limit.`;
    yield warning("inbox_bloated", `${name} has ${dead} dead rows and ${live} live ones; ${last}`, fix);
  }
}

function* checkConnections({ connections, mostConnections }: DatabaseFacts): Iterable<Finding> {
  if (connections < 0.9 * mostConnections) return;
  const fix = "Raise max_connections, make the pools of the applications smaller, or use pgbouncer.";
  yield warning("connections_low", `${connections} of ${mostConnections} connections are in use`, fix);
}

function* checkOwners({ owners }: DatabaseFacts): Iterable<Finding> {
  // The row of a dead owner without leases is harmless: the next receiver removes it.
  const known = owners.filter(({ alive, hasLeases }) => alive > 0 || hasLeases);
  if (known.length === 0) {
    const fix =
      "Start the receiver. If it runs, it uses another inbox: compare --db and --schema with its postgresStore(…).";
    yield warning("inbox_not_owned", "no receiver has the inbox open", fix);
  }
  for (const { endpoint, alive } of known) {
    if (alive > 0) yield ok("inbox_owner", `${alive} open with the endpoint ${endpoint}`);
    else {
      const fix = `Start a receiver with this endpoint. It takes over the events after ${DEAD_AFTER_MS / 1000} seconds.`;
      yield warning("owner_dead", `a receiver of endpoint ${endpoint} died, and none runs: its events wait`, fix);
    }
  }
}
