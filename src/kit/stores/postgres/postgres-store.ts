import { z } from "zod";
import { SignalboxError } from "../../../base/errors.js";
import {
  assertOneArgument,
  checkOptions,
  OptionError,
} from "../../../base/options/option-error.js";
import type { Clock } from "../../../base/time/clock.js";
import { closedStoreError, endpointInUseError, type InboxStore } from "../../inbox/store.js";
import { createActivityCounter, readActivity, type ActivityCounter } from "./activity.js";
import { COMMIT_PARAMETERS, prepareCommit, type CommitRow, restore } from "./commit.js";
import { createRun, makePool, usePool, type PgPool, type Run } from "./connection.js";
import { createOperations, OPERATIONS, type Operations } from "./operations.js";
import { registerOwner, type Owner, type PostgresDiagnostics } from "./owner.js";
import { assertSchemaName, FACTORY, prepareSchema, quoted } from "./schema.js";
import { search } from "./search.js";
import { storeError } from "./store-error.js";

export type { PgClient, PgPool, PgQuery } from "./connection.js";
export type { PostgresDiagnostics } from "./owner.js";

/** An inbox in a PostgreSQL database. */
export interface PostgresStore extends InboxStore {
  /** As `health().medium`; null while it is not open, and when the last heartbeat failed. */
  diagnostics(endpoint: string): PostgresDiagnostics | null;
}

/**
 * The options of `postgresStore`: a pool or a connection string. A value of `undefined` means
 * absent.
 */
export interface PostgresStoreOptions {
  /**
   * A pool of the package `pg`. It stays open when the receiver closes. The store keeps 1 of its
   * connections for each endpoint, and needs another for each and 1 more: at least 3. End it after
   * the receiver has closed.
   */
  pool?: PgPool | undefined;
  /**
   * Such as `postgres://user:password@host/database`. The store then makes its connections with the
   * package `pg`.
   */
  connectionString?: string | undefined;
  /**
   * The schema with the inbox's tables.
   * @default "signalbox"
   */
  schema?: string | undefined;
  /**
   * Whether a missing schema is made when the store opens, and an older one migrated. If not, the
   * store opens only an inbox of this version, and fails with `store_unsupported`.
   * @default true; false with `operator`
   */
  create?: boolean | undefined;
  /**
   * For a tool: opens an existing inbox, which receivers may use, and never hands off. A role that
   * may only read can list and export it, also on a standby.
   * @default false
   */
  operator?: boolean | undefined;
}

/**
 * An inbox in a PostgreSQL database, version 14 or later, which any number of receivers on any
 * number of machines can share.
 *
 * @throws SignalboxError `option_unknown`, `option_invalid`; `receiver.start()` connects and makes
 * the tables
 * @param options a connection string, such as `postgres://user:password@host/database`, or the
 * options
 * @example
 * postgresStore(process.env.DATABASE_URL);
 * postgresStore({ pool, schema: "webhooks" });
 */
export function postgresStore(options: PostgresStoreOptions | string | undefined): PostgresStore {
  assertOneArgument(FACTORY, arguments.length, "{ connectionString, schema }");
  const given = typeof options === "object" ? options : { connectionString: options };
  const {
    pool: givenPool,
    connectionString = "",
    schema,
    operator,
    create = !operator,
  } = checkOptions(FACTORY, optionsSchema, given);
  assertSchemaName(schema);
  const name = quoted(schema);
  const commitQuery = `SELECT * FROM ${name}.commit_batch(${COMMIT_PARAMETERS})`;

  /** The open endpoints; null while one is opening. */
  const owners = new Map<string, (Owner & { counter?: ActivityCounter }) | null>();
  let opening: Promise<Connection> | null = null;
  let connection: Connection | null = null;
  let closing: Promise<void> | null = null;
  /** `close` waits for these. */
  const inFlight = new Set<Promise<unknown>>();

  async function connect(): Promise<Connection> {
    const fast = givenPool ?? (await makePool(connectionString, FAST_POOL_SIZE));
    const slow = givenPool ?? (await makePool(connectionString));
    const stops = [fast, slow].map((pool) => usePool(pool, givenPool === undefined));
    const disconnect = async (): Promise<void> => {
      for (const stop of stops) await stop();
    };
    const { run } = createRun(fast);
    try {
      await prepareSchema(run, schema, create);
    } catch (error) {
      await disconnect();
      throw error;
    }
    const slowRun = createRun(slow).run;
    const operations = createOperations(slowRun, name, operator);
    return { fast, run, slowRun, operations, disconnect };
  }

  async function disconnectIfUnused(): Promise<void> {
    if (owners.size > 0) return;
    const unused = connection;
    connection = null;
    opening = null;
    if (unused !== null) await (closing = unused.disconnect());
  }

  /** Runs a query, or the queries of an operation, and converts their errors. */
  async function call<Result>(
    operation: (connection: Connection) => Promise<Result>,
  ): Promise<Result> {
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

  const operations = OPERATIONS.map((operation) => {
    type Operation = (...args: unknown[]) => Promise<unknown>;
    const run: Operation = (...args) =>
      call(({ operations: all }) => (all[operation] as Operation)(...args));
    return [operation, run];
  });

  /**
   * For each endpoint one connection for heartbeats and one for commits, and one for the operations
   * of people.
   */
  function connectionsNeeded(): number {
    return 2 * owners.size + 1;
  }

  async function openOwner({ fast, slowRun }: Connection, endpoint: string, clock: Clock) {
    const kept = createRun(fast, true);
    try {
      const owner = await registerOwner(kept, slowRun, name, endpoint, clock);
      return { ...owner, counter: createActivityCounter(slowRun, name, endpoint) };
    } catch (error) {
      kept.release();
      throw error;
    }
  }

  function ownerOf(endpoint: string) {
    const owner = owners.get(endpoint);
    if (owner === undefined || owner === null) throw closedStoreError();
    return owner;
  }

  return {
    ...(Object.fromEntries(operations) as Operations),
    name: "postgres",
    durable: true,
    shared: true,
    async open({ endpoint, clock }) {
      if (owners.has(endpoint))
        throw endpointInUseError(endpoint, `the inbox in the schema ${schema}`);
      owners.set(endpoint, null);
      try {
        const needed = connectionsNeeded();
        const most = givenPool?.options?.max ?? needed;
        if (most < needed && !operator) {
          const problem = `its max is ${most}, but the store needs ${needed} connections for ${owners.size} endpoint(s)`;
          throw new OptionError(FACTORY, "pool", problem);
        }
        await closing;
        connection = await (opening ??= connect());
        owners.set(endpoint, operator ? NO_OWNER : await openOwner(connection, endpoint, clock));
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
      await Promise.all([owner.counter?.close(), owner.close()]);
      await disconnectIfUnused();
    },
    shortage(concurrency) {
      const max = givenPool?.options?.max;
      const needed = connectionsNeeded() + concurrency;
      if (max === undefined || max >= needed) return null;
      return (
        `The pool of postgresStore makes at most ${max} connections. The inbox needs ${connectionsNeeded()} of them, and ` +
        `${concurrency} callbacks at the same time may take 1 each: set its max to ${needed}, or give postgresStore a pool of its own.`
      );
    },
    async commit(batch) {
      const { endpoint } = batch;
      const owner = ownerOf(endpoint);
      const { values, readRows } = prepareCommit(batch);
      return call(({ run }) =>
        owner.with(async (id) => {
          const { result, counts } = readRows(
            await run<CommitRow>(commitQuery, [endpoint, id, ...values]),
          );
          owner.counter?.count(counts);
          return result;
        }),
      );
    },
    async reclaim({ endpoint, held, crashed }) {
      const owner = ownerOf(endpoint);
      // A claim takes over the leases of dead owners: this process has not lived long enough yet to
      // know which are dead.
      if (crashed) return owner.with(async () => ({ freed: 0, dead: [] }));
      const freed = await call(({ run }) =>
        owner.with(async (id) => {
          const [row] = await run<{ freed: number }>(`SELECT ${name}.free_own($1, $2) AS freed`, [
            id,
            held,
          ]);
          return row?.freed ?? 0;
        }),
      );
      return { freed, dead: [] };
    },
    leasedSince: (endpoint) => owners.get(endpoint)?.leasedSince() ?? Infinity,
    completeSql: ({ seq, token }) => `SELECT ${name}.complete(${seq}, ${token})`,
    search: (endpoint, query) => call(({ slowRun }) => search(slowRun, name, endpoint, query)),
    activity: (endpoint, query) =>
      call(async ({ slowRun }) => {
        await owners.get(endpoint)?.counter?.add();
        return readActivity(slowRun, name, endpoint, query);
      }),
    oldestReady: (endpoint) => owners.get(endpoint)?.lastBeat() ?? undefined,
    diagnostics: (endpoint) => owners.get(endpoint)?.lastBeat()?.medium ?? null,
    wipe: async () =>
      "PostgreSQL's files keep what was deleted until VACUUM FULL; its WAL, standbys and backups for as long as they are kept.",
    restore: (endpoint, events) => call(({ run }) => restore(run, name, endpoint, events)),
  };
}

/**
 * Of the pool for commits and heartbeats, which has 2 connections for each endpoint: it is never
 * used up.
 */
const FAST_POOL_SIZE = 100;

// Of a text that is no address, pg would take a part for the name of a host.
const optionsSchema = z
  .strictObject({
    pool: z.custom<PgPool>(isPool, "expected a Pool of the package pg").optional(),
    connectionString: z
      .string()
      .regex(
        /^(postgres(ql)?:\/\/|socket:|\/)/i,
        "expected postgres://… (is the environment variable set?)",
      )
      .regex(
        /^(?!\w+:\/\/([^/?#]*@)?[^@/?#]*,[^@/?#]*([/?#]|$))/,
        "expected one host, since pg takes no list of hosts: name the primary, or a proxy or address that follows it",
      )
      .optional(),
    schema: z.string().default("signalbox"),
    operator: z.boolean().default(false),
    create: z.boolean().optional(),
  })
  .refine(
    ({ pool, connectionString }) => (pool === undefined) !== (connectionString === undefined),
    "expected either a pool or a connection string (is the environment variable set?)",
  );

function isPool(pool: unknown): boolean {
  const methods = pool as Record<string, unknown> | null;
  // A Client has these methods too, and would throw when it connects.
  const isClient = methods?.["connectionParameters"] !== undefined;
  return (
    !isClient &&
    ["connect", "on", "removeListener"].every((method) => typeof methods?.[method] === "function")
  );
}

interface Connection {
  /** The pool for commits and heartbeats. A pool of the user's is for slow queries too. */
  fast: PgPool;
  run: Run;
  /** For slow queries, which must not keep commits and heartbeats waiting. */
  slowRun: Run;
  operations: Operations;
  disconnect(): Promise<void>;
}

/** A tool is no owner: it has no heartbeat, and leases and frees nothing. */
const NO_OWNER: Owner = {
  with() {
    const help = "To receive with it, remove operator: true.";
    throw new SignalboxError("store_unsupported", "The inbox was opened for a tool.", help);
  },
  lastBeat: () => null,
  leasedSince: () => Infinity,
  close: async () => {},
};
