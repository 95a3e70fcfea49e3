import type { Pool } from "pg";
import { onTestFinished } from "vitest";
import { systemClock } from "../../../src/base/time/clock.js";
import {
  postgresStore,
  type PostgresStore,
} from "../../../src/kit/stores/postgres/postgres-store.js";
import {
  POSTGRES_PORT,
  makePool,
  newSchemaName,
  quotedName,
} from "../../contract/postgres-medium.js";
import { hasServer, testWith } from "../../prerequisites.js";
import { eventually } from "../eventually.js";

export const ENDPOINT = "default";
export const testOnPostgres: ReturnType<typeof testWith> = testWith(await hasServer(POSTGRES_PORT));

/** A schema that is dropped after the test, and a pool to look into it. */
export function newSchema(): { schema: string; name: string; admin: Pool } {
  const schema = newSchemaName();
  const name = quotedName(schema);
  const admin = makePool(2);
  onTestFinished(async () => {
    await admin.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`);
    await admin.end();
  });
  return { schema, name, admin };
}

/** An open store, closed after the test. @param pool by default one of its own */
export async function openStore(schema: string, pool = poolOfTest()): Promise<PostgresStore> {
  const store = postgresStore({ pool, schema });
  await store.open({ endpoint: ENDPOINT, clock: systemClock });
  onTestFinished(() => store.close(ENDPOINT));
  return store;
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

/** A transaction that holds what these statements lock, until `end`. */
export interface Holder {
  query(sql: string): Promise<unknown>;
  /** Resolves when another waits for it. */
  blocks(): Promise<void>;
  end(how?: "COMMIT" | "ROLLBACK"): Promise<void>;
}

export async function hold(...statements: string[]): Promise<Holder> {
  const client = await poolOfTest(1).connect();
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  for (const sql of ["BEGIN", ...statements]) await client.query(sql);
  const waiting = "SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))";
  const asking = poolOfTest(1);
  let isHeld = true;
  // Otherwise a failed test would never end.
  onTestFinished(() => (isHeld ? client.release(true) : undefined));
  return {
    query: (sql) => client.query(sql),
    blocks: () =>
      eventually("another waits", async () => {
        return (await asking.query(waiting, [rows[0]?.pid])).rows.length > 0;
      }),
    async end(how = "ROLLBACK") {
      await client.query(how);
      client.release();
      isHeld = false;
    },
  };
}

/** A pool that ends after the stores of the test, which are closed first. */
export function poolOfTest(max = 4): Pool {
  const pool = makePool(max);
  onTestFinished(() => pool.end());
  return pool;
}

/**
 * Makes the delays after crashes shorter by this factor, an SQL expression, for children that have
 * the usual ones.
 */
export async function shortenCrashDelays(
  admin: Pool,
  name: string,
  factor: number | string,
): Promise<void> {
  await admin.query(`
    CREATE FUNCTION ${name}.shorten() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
      NEW.queue_at := ${name}.now_ms() + (NEW.queue_at - ${name}.now_ms()) / ${factor};
      NEW.due_at := coalesce(NEW.queue_at, NEW.due_at);
      RETURN NEW;
    END $f$;
    CREATE TRIGGER shorten BEFORE UPDATE ON ${name}.inbox FOR EACH ROW WHEN (NEW.crashes > OLD.crashes)
      EXECUTE FUNCTION ${name}.shorten()`);
}

/**
 * As if the process that has leased this event had had no heartbeat for long: another one takes
 * over at its next claim.
 */
export async function takeForDead(admin: Pool, name: string, eventId: string): Promise<void> {
  const beatAt = `CASE WHEN id = (SELECT owner FROM ${name}.inbox WHERE event_id = $1) THEN 0 ELSE beat_at END`;
  const dead = `UPDATE ${name}.inbox_owner SET swept_at = 0, alive_since = 0, beat_at = ${beatAt}`;
  await admin.query(dead, [eventId]);
}

export { quotedName };
