import { SignalboxError } from "../../errors.js";
import { closedStoreError, endpointInUseError, type InboxStore } from "../../inbox/store.js";
import { unknownName } from "../../options/option-error.js";
import { createActivityCounter, readActivity, type ActivityCounter } from "./activity.js";
import { COMMIT_PARAMETERS, prepareCommit, type CommitRow } from "./commit.js";
import { createRun, ignore, ignoreErrorsOf, makePool, type PgPool, type Run } from "./connection.js";
import { registerOwner, type Owner, type PostgresDiagnostics } from "./owner.js";
import { createQueries, type Queries } from "./queries.js";
import { restore } from "./restore.js";
import { assertSchemaName, prepareSchema, quoted } from "./schema.js";
import { search } from "./search.js";
import { storeError } from "./store-error.js";

export type { PgClient, PgPool, PgQuery, PgTypes } from "./connection.js";
export type { PostgresDiagnostics } from "./owner.js";

/** An inbox in a PostgreSQL database. */
export interface PostgresStore extends InboxStore {
  /** As `health().medium`; null while it is not open, and when the last heartbeat failed. */
  diagnostics(endpoint: string): PostgresDiagnostics | null;
}

/** The options of `postgresStore`: a pool or a connection string. A value of `undefined` means absent. */
export interface PostgresStoreOptions {
  /** A pool of the package `pg`. It stays open when the receiver closes. It needs 2 free connections. */
  pool?: PgPool | undefined;
  /** Such as `postgres://user:password@host/database`. The store then makes up to 4 connections with the package `pg`. */
  connectionString?: string | undefined;
  /**
   * The schema with the inbox's tables. It is created if it is missing.
   * @default "signalbox"
   */
  schema?: string | undefined;
  /**
   * For a tool: opens an existing inbox, which receivers may use, and never hands off. A role that may only read can list and
   * export it, also on a standby.
   * @default false
   */
  operator?: boolean | undefined;
}

/**
 * An inbox in a PostgreSQL database, version 14 or later, which any number of receivers on any number of machines can share.
 *
 * @throws SignalboxError `option_unknown`, `option_invalid`; `receiver.start()` connects and makes the tables
 * @example
 * postgresStore({ connectionString: process.env.DATABASE_URL });
 * postgresStore({ pool, schema: "webhooks" });
 */
export function postgresStore(options: PostgresStoreOptions): PostgresStore {
  assertOptions(options);
  const { schema = "signalbox", operator = false } = options;
  const name = quoted(schema);
  const commitQuery = `SELECT * FROM ${name}.commit_batch(${COMMIT_PARAMETERS})`;

  /** The open endpoints; null while one is opening. */
  const owners = new Map<string, Owner | null>();
  /** Of the open endpoints; not of a tool. */
  const counters = new Map<string, ActivityCounter>();
  let opening: Promise<Connection> | null = null;
  let connection: Connection | null = null;
  let closing: Promise<void> | null = null;
  /** `close` waits for these. */
  const inFlight = new Set<Promise<unknown>>();

  async function connect(): Promise<Connection> {
    const { connectionString = "" } = options;
    const fast = options.pool ?? (await makePool(connectionString));
    const slow = options.pool ?? (await makePool(connectionString));
    const pools = [fast, slow];
    for (const pool of pools) {
      pool.on("error", ignore);
      pool.on("connect", ignoreErrorsOf);
    }
    const run = createRun(fast);
    try {
      await prepareSchema(run, schema, !operator);
    } catch (error) {
      await disconnect(pools);
      throw error;
    }
    const slowRun = createRun(slow);
    return { pools, run, slowRun, queries: createQueries(slowRun, name, operator) };
  }

  async function disconnect(pools: readonly PgPool[]): Promise<void> {
    for (const pool of pools) {
      if (options.pool === undefined) {
        await pool.end().catch(ignore);
        continue;
      }
      pool.removeListener("error", ignore);
      pool.removeListener("connect", ignoreErrorsOf);
    }
  }

  async function disconnectIfUnused(): Promise<void> {
    if (owners.size > 0) return;
    const unused = connection;
    connection = null;
    opening = null;
    if (unused !== null) await (closing = disconnect(unused.pools));
  }

  /** Runs a query, or the queries of an operation, and converts their errors. */
  async function call<Result>(operation: (connection: Connection) => Promise<Result>): Promise<Result> {
    if (connection === null) throw closedStoreError();
    const called = operation(connection);
    inFlight.add(called);
    try {
      return await called;
    } catch (error) {
      throw storeError(error, schema);
    } finally {
      inFlight.delete(called);
    }
  }

  function ownerOf(endpoint: string): Owner {
    const owner = owners.get(endpoint);
    if (owner === undefined || owner === null) throw closedStoreError();
    return owner;
  }

  return {
    name: "postgres",
    durable: true,
    shared: true,
    ownsLeases: true,
    async open({ endpoint, clock }) {
      if (owners.has(endpoint)) throw endpointInUseError(endpoint, `the inbox in the schema ${schema}`);
      owners.set(endpoint, null);
      try {
        await closing;
        connection = await (opening ??= connect());
        owners.set(endpoint, operator ? NO_OWNER : await registerOwner(connection.run, name, endpoint, clock));
        if (!operator) counters.set(endpoint, createActivityCounter(connection.slowRun, name, endpoint));
      } catch (error) {
        owners.delete(endpoint);
        await disconnectIfUnused();
        throw storeError(error, schema);
      }
    },
    async close(endpoint) {
      const owner = owners.get(endpoint);
      owners.delete(endpoint);
      if (owner === undefined || owner === null) return;
      await Promise.allSettled(inFlight);
      const counter = counters.get(endpoint);
      counters.delete(endpoint);
      await Promise.all([counter?.close(), owner.close()]);
      await disconnectIfUnused();
    },
    async commit(batch) {
      const { endpoint } = batch;
      const owner = ownerOf(endpoint);
      const { values, readRows } = prepareCommit(batch);
      const result = await call(({ run }) =>
        owner.with(async (id) => {
          const committed = readRows(await run<CommitRow>(commitQuery, [endpoint, id, ...values]));
          counters.get(endpoint)?.count(committed.counts);
          return committed.result;
        }),
      );
      result.claim?.dead.push(...owner.takeDead());
      return result;
    },
    async takeOver({ endpoint, held, crashed }) {
      const owner = ownerOf(endpoint);
      // A claim takes over the leases of dead owners: this process has not lived long enough yet to know which are dead.
      if (crashed) return { freed: 0, dead: [] };
      const freed = await call(({ run }) =>
        owner.with(async (id) => {
          const [row] = await run<{ freed: number }>(`SELECT ${name}.free_own($1, $2) AS freed`, [id, held]);
          return row?.freed ?? 0;
        }),
      );
      return { freed, dead: [] };
    },
    leasedSince: (endpoint) => owners.get(endpoint)?.leasedSince() ?? Infinity,
    completeSql: ({ seq, token }) => `SELECT ${name}.complete(${seq}, ${token})`,
    list: (query) => call(({ queries }) => queries.list(query)),
    search: (endpoint, query) => call(({ slowRun }) => search(slowRun, name, endpoint, query)),
    activity: (endpoint, query) =>
      call(async ({ slowRun }) => {
        await counters.get(endpoint)?.add();
        return readActivity(slowRun, name, endpoint, query);
      }),
    get: (endpoint, eventId) => call(({ queries }) => queries.get(endpoint, eventId)),
    stats: (endpoint) => call(({ queries }) => queries.stats(endpoint)),
    oldestReadyAgeMs: (endpoint) => owners.get(endpoint)?.lastBeat()?.oldestReadyAgeMs,
    diagnostics: (endpoint) => owners.get(endpoint)?.lastBeat()?.medium ?? null,
    replay: (events, readAgain) => call(({ queries }) => queries.replay(events, readAgain)),
    discard: (events) => call(({ queries }) => queries.discard(events)),
    restore: (endpoint, events) => call(({ run }) => restore(run, name, endpoint, events)),
    prune: (request) => call(({ queries }) => queries.prune(request)),
  };
}

interface Connection {
  /** The second one is for slow queries, which must not keep commits and heartbeats waiting. A pool of the user's is both. */
  pools: readonly PgPool[];
  run: Run;
  slowRun: Run;
  queries: Queries;
}

/** A tool is no owner: it has no heartbeat, and leases and frees nothing. */
const NO_OWNER: Owner = {
  with() {
    const help = "To receive with it, remove operator: true.";
    throw new SignalboxError("store_unsupported", "The inbox was opened for a tool.", help);
  },
  lastBeat: () => null,
  takeDead: () => [],
  leasedSince: () => Infinity,
  close: async () => {},
};

const OPTION_NAMES = ["pool", "connectionString", "schema", "operator"];

function invalid(message: string): SignalboxError {
  return new SignalboxError("option_invalid", message, "docs/postgres.md lists every option.");
}

function assertOptions(options: unknown): asserts options is PostgresStoreOptions {
  if (typeof options !== "object" || options === null) throw invalid("The options of postgresStore are no object.");
  const unknown = Object.keys(options).find((name) => !OPTION_NAMES.includes(name));
  if (unknown !== undefined) throw unknownName("postgresStore", "option", unknown, OPTION_NAMES);
  const { pool, connectionString, schema = "signalbox" } = options as Record<string, unknown>;
  if ((pool === undefined) === (connectionString === undefined)) {
    throw invalid("postgresStore needs either a pool or a connectionString.");
  }
  const hasMethods = ["connect", "on", "removeListener"].every(
    (method) => typeof (pool as Record<string, unknown> | null | undefined)?.[method] === "function",
  );
  if (pool !== undefined && !hasMethods) {
    throw invalid("The pool of postgresStore is no pool. Pass a Pool of the package pg.");
  }
  if (connectionString !== undefined && (typeof connectionString !== "string" || connectionString === "")) {
    throw invalid("The connectionString of postgresStore is no text. Is the environment variable set?");
  }
  // Of anything else pg would take a part for the name of a host. It may have a password, so it is not repeated.
  if (typeof connectionString === "string" && !/^(postgres(ql)?:\/\/|socket:|\/)/i.test(connectionString)) {
    throw invalid("The connectionString of postgresStore does not begin with postgres://.");
  }
  assertSchemaName(schema);
}
