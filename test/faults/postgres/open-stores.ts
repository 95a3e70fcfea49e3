import type { Pool, QueryResultRow } from "pg";
import { onTestFinished } from "vitest";
import { systemClock } from "../../../src/base/time/clock.js";
import {
  postgresStore,
  type PgPool,
  type PostgresStore,
} from "../../../src/kit/stores/postgres/postgres-store.js";
import {
  POSTGRES_PORT,
  killablePool,
  makePool,
  newSchemaName,
  quotedName,
} from "../../contract/postgres-medium.js";
import { hasServer, testWith } from "../../prerequisites.js";
import { eventually } from "../eventually.js";

export const ENDPOINT = "default";
export const CONTEXT = { endpoint: ENDPOINT, clock: systemClock };
const testOnPostgres = testWith(await hasServer(POSTGRES_PORT));

/** A transaction that holds what its statements lock, until `end`. */
export interface Holder {
  query(sql: string, values?: unknown[]): Promise<unknown>;
  /** Resolves when another waits for it. */
  blocks(): Promise<void>;
  end(how?: "COMMIT" | "ROLLBACK"): Promise<void>;
}

/** A schema of a test, for the tables of one inbox. It is dropped after the test. */
export interface Database {
  schema: string;
  /** The schema as it stands in a statement. */
  name: string;
  /** Runs statements that find the tables without the name of the schema. @returns the rows */
  sql<Row extends QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
  hold(...statements: string[]): Promise<Holder>;
  /** An open store, closed after the test. @param pool by default one of its own */
  open(pool?: PgPool): Promise<PostgresStore>;
  /** An open store, and what does to it what SIGKILL would do. */
  openKillable(): Promise<{ store: PostgresStore; kill(): void }>;
}

export function newDatabase(): Database {
  const schema = newSchemaName();
  const name = quotedName(schema);
  const admin = makePool(4, `-c search_path=${name.replaceAll(" ", "\\ ")}`);
  onTestFinished(async () => {
    await admin.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`);
    await admin.end();
  });
  const database: Database = {
    schema,
    name,
    sql: async <Row extends QueryResultRow>(text: string, values: unknown[] = []) =>
      (await (values.length === 0 ? admin.query<Row>(text) : admin.query<Row>(text, values))).rows,
    async hold(...statements) {
      const client = await admin.connect();
      const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
      for (const statement of ["BEGIN", ...statements]) await client.query(statement);
      const waiting = "SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))";
      let isHeld = true;
      // Otherwise a failed test would never end.
      onTestFinished(() => (isHeld ? client.release(true) : undefined));
      return {
        query: (statement, values) => client.query(statement, values),
        blocks: () =>
          eventually("another waits", async () => {
            return (await database.sql(waiting, [rows[0]?.pid])).length > 0;
          }),
        async end(how = "ROLLBACK") {
          await client.query(how);
          client.release();
          isHeld = false;
        },
      };
    },
    async open(pool = poolOfTest()) {
      const store = postgresStore({ pool, schema });
      await store.open(CONTEXT);
      onTestFinished(() => store.close(ENDPOINT));
      return store;
    },
    async openKillable() {
      const { pool, kill } = killablePool();
      onTestFinished(() => pool.end());
      return { store: await database.open(pool), kill };
    },
  };
  return database;
}

/** A test with a schema of its own. */
export function testOnDatabase(what: string, run: (database: Database) => Promise<void>): void {
  testOnPostgres(what, () => run(newDatabase()));
}

/**
 * A pool of the test that notes the codes of the errors of its statements: the store runs some of
 * them again, and so hides them.
 */
export function watchedPool(codes: unknown[]): Pool {
  const pool = poolOfTest();
  pool.on("connect", (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
    const watched = (...args: unknown[]) =>
      query(...args).catch((error: unknown) => {
        codes.push((error as { code?: unknown }).code);
        throw error;
      });
    Object.assign(client, { query: watched });
  });
  return pool;
}

/** A pool that ends after the stores of the test, which are closed first. */
export function poolOfTest(max = 4, options = ""): Pool {
  const pool = makePool(max, options);
  onTestFinished(() => pool.end());
  return pool;
}

/**
 * Makes the delays after crashes shorter by this factor, an SQL expression, for children that have
 * the usual ones.
 */
export async function shortenCrashDelays(
  client: { query: (sql: string) => Promise<unknown> },
  name: string,
  factor: number | string,
): Promise<void> {
  await client.query(`
    CREATE FUNCTION ${name}.shorten() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
      NEW.queue_at := ${name}.now_ms() + (NEW.queue_at - ${name}.now_ms()) / ${factor};
      NEW.due_at := coalesce(NEW.queue_at, NEW.due_at);
      RETURN NEW;
    END $f$;
    CREATE TRIGGER shorten BEFORE UPDATE ON ${name}.inbox FOR EACH ROW WHEN (NEW.crashes > OLD.crashes)
      EXECUTE FUNCTION ${name}.shorten()`);
}

/**
 * As if the process that has leased this event had had no heartbeat for long, and the last look
 * for dead processes were long ago: another one takes over at its next claim.
 */
export async function takeForDead({ sql }: Database, eventId: string): Promise<void> {
  const beatAt = `CASE WHEN id = (SELECT owner FROM inbox WHERE event_id = $1) THEN 0 ELSE beat_at END`;
  await sql(`UPDATE inbox_owner SET swept_at = 0, alive_since = 0, beat_at = ${beatAt}`, [eventId]);
}
