import { randomUUID } from "node:crypto";
import { userInfo } from "node:os";
import { Pool } from "pg";
import { systemClock } from "../../src/base/time/clock.js";
import type { InboxStore } from "../../src/kit/inbox/store.js";
import { postgresStore, type PgPool } from "../../src/kit/stores/postgres/postgres-store.js";
import type { ContractMedium } from "./cases/store-case.js";

/** The tests with other versions set the variable. */
export const POSTGRES_PORT = Number(process.env["TEST_POSTGRES_PORT"] ?? 5432);
export const POSTGRES_URL = `postgres://${userInfo().username}@127.0.0.1:${POSTGRES_PORT}/test`;

/** A schema of its own, with capitals, a quote and a dollar sign in its name. */
export function newSchemaName(): string {
  return `Test "$$" ${randomUUID()}`;
}

export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function makePool(max = 4, options = "", connectionString = POSTGRES_URL): Pool {
  return new Pool({ connectionString, max, options });
}

/**
 * A store that the database's time stands still for, until `advance`. @param url of the server, or
 * of what is before it
 */
export async function postgresMedium(url = POSTGRES_URL): Promise<ContractMedium> {
  const schema = newSchemaName();
  const name = quotedName(schema);
  const admin = makePool(4, "", url);
  const pools = new Map<InboxStore, Killable>();
  // The tables must be there before their clock can be replaced.
  const first = postgresStore({ pool: admin, schema });
  await first.open({ endpoint: "first", clock: systemClock });
  await first.close("first");
  await admin.query(`
    CREATE TABLE ${name}.test_clock AS SELECT ${Date.UTC(2030, 0, 1)}::bigint AS now;
    CREATE OR REPLACE FUNCTION ${name}.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT now FROM ${name}.test_clock'`);

  function createStore(): InboxStore {
    const killable = killablePool(url);
    const store = postgresStore({ pool: killable.pool, schema });
    pools.set(store, killable);
    return store;
  }

  return {
    createStore,
    createSibling: createStore,
    async readBack(endpoint, eventId) {
      const { rows } = await admin.query<{ state: string }>(
        `SELECT state FROM ${name}.inbox JOIN ${name}.inbox_body USING (seq) WHERE endpoint = $1 AND event_id = $2`,
        [endpoint, eventId],
      );
      return rows[0] as Awaited<ReturnType<InboxStore["get"]>>;
    },
    async advance(ms) {
      await admin.query(`UPDATE ${name}.test_clock SET now = now + ${ms}`);
    },
    execute: (sql) => admin.query(sql),
    kill: (store) => pools.get(store)?.kill(),
    async destroy() {
      for (const { pool } of pools.values()) await pool.end();
      await admin.query(`DROP SCHEMA ${name} CASCADE`);
      await admin.end();
    },
  };
}

export interface Killable {
  pool: PgPool;
  kill(): void;
}

export function killablePool(url = POSTGRES_URL): Killable {
  const pool = makePool(6, "", url);
  let isKilled = false;
  const unlessKilled = <Result>(work: () => Promise<Result>): Promise<Result> =>
    isKilled ? Promise.reject(new Error("killed")) : work();
  return {
    kill: () => void (isKilled = true),
    pool: {
      connect: () =>
        unlessKilled(async () => {
          const client = await pool.connect();
          return {
            query: (query) => unlessKilled(() => client.query(query)),
            release: client.release.bind(client),
            on: client.on.bind(client),
            removeListener: client.removeListener.bind(client),
          };
        }),
      end: () => pool.end(),
      on: pool.on.bind(pool),
      removeListener: pool.removeListener.bind(pool),
    },
  };
}
