import { randomUUID } from "node:crypto";
import { Client, Pool } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/base/time/clock.js";
import { createReceiver } from "../../../src/kit/index.js";
import { postgresStore, type PgPool } from "../../../src/kit/stores/postgres/postgres-store.js";
import { MIGRATIONS } from "../../../src/kit/stores/postgres/tables.js";
import { accept, stateOf } from "../../contract/cases/store-case.js";
import { makePool, POSTGRES_URL } from "../../contract/postgres-medium.js";
import { eventually } from "../eventually.js";
import {
  ENDPOINT,
  newSchema,
  openStore,
  poolOfTest,
  quotedName,
  testOnPostgres,
} from "./open-stores.js";

const CONTEXT = { endpoint: ENDPOINT, clock: systemClock };

/** Ten at once, since a race shows only sometimes. */
testOnPostgres("any number of stores make one schema at once", async () => {
  const { schema, name, admin } = newSchema();
  const stores = await Promise.all(
    Array.from({ length: 10 }, () => openStore(schema, poolOfTest(3))),
  );
  await accept(stores[0] as (typeof stores)[number], "evt_1");
  expect(await stateOf(stores[9] as (typeof stores)[number], "evt_1")).toBe("ready");
  expect((await admin.query(`SELECT version FROM ${name}.inbox_schema`)).rows).toEqual([
    { version: MIGRATIONS.length },
  ]);
});

testOnPostgres("a connection string is enough, and close ends its connections", async () => {
  const { schema, admin } = newSchema();
  const application_name = randomUUID();
  const store = postgresStore({
    connectionString: `${POSTGRES_URL}?application_name=${application_name}`,
    schema,
  });
  for (let round = 0; round < 2; round++) {
    await store.open(CONTEXT);
    await accept(store, `evt_${round}`);
    await store.close(ENDPOINT);
    await expect(store.list({})).rejects.toMatchObject({ code: "store_failed" });
  }
  // The server ends a process a moment after its connection.
  const left = "SELECT FROM pg_stat_activity WHERE application_name = $1";
  await eventually(
    "the end",
    async () => (await admin.query(left, [application_name])).rows.length === 0,
  );
});

testOnPostgres("a newer schema, a foreign one and a damaged one are refused", async () => {
  const { schema, name, admin } = newSchema();
  const pool = poolOfTest();
  await (await openStore(schema, pool)).close(ENDPOINT);
  const refusal = async (sql: string): Promise<unknown> => {
    await admin.query(sql);
    return postgresStore({ pool, schema })
      .open(CONTEXT)
      .then(
        () => null,
        (error: { code?: unknown }) => error.code,
      );
  };
  expect(await refusal(`UPDATE ${name}.inbox_schema SET version = ${MIGRATIONS.length + 1}`)).toBe(
    "store_newer",
  );
  expect(
    await refusal(
      `UPDATE ${name}.inbox_schema SET version = ${MIGRATIONS.length}; DROP TABLE ${name}.inbox_body`,
    ),
  ).toBe("store_corrupt");
  expect(await refusal(`DELETE FROM ${name}.inbox_schema`)).toBe("store_corrupt");
  expect(await refusal(`DROP TABLE ${name}.inbox_schema`)).toBe("store_unsupported");
  expect(
    await refusal(
      `DROP SCHEMA ${name} CASCADE; CREATE SCHEMA ${name}; CREATE TABLE ${name}.inbox_owner ()`,
    ),
  ).toBe("store_unsupported");
  expect(
    await refusal(`DROP TABLE ${name}.inbox_owner; CREATE VIEW ${name}.inbox_key AS SELECT 1`),
  ).toBe("store_failed");
  expect(await refusal(`DROP VIEW ${name}.inbox_key`)).toBe(null);
});

testOnPostgres(
  "a pool that has too few connections is refused, and one that callbacks may use up is reported",
  async () => {
    const { schema } = newSchema();
    const store = postgresStore({ pool: poolOfTest(4), schema });
    await store.open(CONTEXT);
    onTestFinished(() => store.close(ENDPOINT));
    const refused = {
      code: "option_invalid",
      message: expect.stringContaining("max is 4, but the store needs 5"),
    };
    await expect(store.open({ ...CONTEXT, endpoint: "second" })).rejects.toMatchObject(refused);
    expect(store.shortage?.(1)).toBe(null);
    expect(store.shortage?.(2)).toContain("set its max to 5");
    const own = postgresStore(POSTGRES_URL);
    expect(own.shortage?.(1000)).toBe(null);
  },
);

test("a client in place of a pool is refused, which would end the process when it connects", () => {
  expect(() => postgresStore({ pool: new Client() as never })).toThrow(
    /expected a Pool of the package pg/,
  );
});

testOnPostgres("a store for a tool starts no receiver", async () => {
  const { schema } = newSchema();
  await openStore(schema);
  const store = postgresStore({ connectionString: POSTGRES_URL, schema, operator: true });
  const receiver = createReceiver({ secrets: "s", store, onSignal: () => {}, logger: false });
  await expect(receiver.start()).rejects.toMatchObject({ code: "store_unsupported" });
});

testOnPostgres("the end of a pool does not wait for the close of the store", async () => {
  const { schema } = newSchema();
  const pool = makePool();
  const store = await openStore(schema, pool);
  await pool.end();
  await store.close(ENDPOINT);
});

testOnPostgres(
  "a table that is dropped under a running store is told, and nothing is acknowledged",
  async () => {
    const { schema, name, admin } = newSchema();
    const store = await openStore(schema);
    await accept(store, "evt_1");
    await admin.query(`ALTER TABLE ${name}.inbox_body RENAME TO gone`);
    await expect(accept(store, "evt_2")).rejects.toMatchObject({
      code: "store_failed",
      message: expect.stringContaining("is missing"),
    });
    await admin.query(
      `ALTER TABLE ${name}.gone RENAME TO inbox_body; ALTER FUNCTION ${name}.accept RENAME TO gone`,
    );
    await expect(accept(store, "evt_2")).rejects.toMatchObject({
      code: "store_failed",
      message: expect.stringContaining("42883"),
    });
    await admin.query(`ALTER FUNCTION ${name}.gone RENAME TO accept`);
    await accept(store, "evt_2");
    expect(await stateOf(store, "evt_1")).toBe("ready");
  },
);

testOnPostgres(
  "a role can use a schema that it may not change, and is told which rights are missing",
  async () => {
    const { schema, name, admin } = newSchema();
    const role = `signalbox_${randomUUID()}`;
    await admin.query(`CREATE ROLE ${quotedName(role)}`);
    onTestFinished(async () => {
      const cleaner = new Pool({ connectionString: POSTGRES_URL, max: 1 });
      await cleaner.query(`DROP OWNED BY ${quotedName(role)}`);
      await cleaner.query(`DROP ROLE ${quotedName(role)}`);
      await cleaner.end();
    });
    const pool = new Pool({ connectionString: POSTGRES_URL, max: 3, options: `-c role=${role}` });
    onTestFinished(() => pool.end());
    const denied = {
      code: "store_failed",
      message: expect.stringContaining("42501: permission denied for "),
    };
    await expect(postgresStore({ pool, schema }).open(CONTEXT)).rejects.toMatchObject(denied);
    await (await openStore(schema)).close(ENDPOINT);
    await expect(postgresStore({ pool, schema }).open(CONTEXT)).rejects.toMatchObject(denied);
    // As docs/postgres.md says.
    await admin.query(`
    GRANT USAGE ON SCHEMA ${name} TO ${quotedName(role)};
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${name} TO ${quotedName(role)};
    GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA ${name} TO ${quotedName(role)};`);
    const store = await openStore(schema, pool);
    await accept(store, "evt_1", { state: "leased" });
    await store.stats(ENDPOINT);
    expect(store.diagnostics(ENDPOINT)).toMatchObject({
      durability: "primary",
      synchronousStandbys: null,
    });
    await store.prune({
      endpoint: ENDPOINT,
      payloadsOlderThanMs: 0,
      keysOlderThanMs: 0,
      limit: 10,
    });
    await store.close(ENDPOINT);
  },
);

test.each([
  ["28P01", 'password authentication failed for user "x"', true],
  ["3D000", 'database "x" does not exist', true],
  ["57P03", "the database system is starting up", true],
  ["XX000", "unexpected data: secret", false],
  ["EPIPE", "write EPIPE", false],
])(
  "an error of a connection has the sentence of the server, another has not: %s",
  async (code, text, isShown) => {
    const failing: PgPool = {
      connect: () => Promise.reject(Object.assign(new Error(text), { code })),
      end: async () => {},
      on() {},
      removeListener() {},
    };
    const reason = `failed (${isShown ? `${code}: ${text}` : code}).`;
    const refused = { code: "store_failed", message: expect.stringContaining(reason) };
    await expect(postgresStore({ pool: failing }).open(CONTEXT)).rejects.toMatchObject(refused);
  },
);

test("an old server, another isolation and another encoding are refused", async () => {
  const answering = (row: object): PgPool => ({
    connect: async () => ({
      query: async () => ({ rows: [row] }),
      release() {},
      on() {},
      removeListener() {},
    }),
    end: async () => {},
    on() {},
    removeListener() {},
  });
  for (const found of [
    { server: 130_012, isolation: "read committed", encoding: "UTF8" },
    { server: 170_000, isolation: "serializable", encoding: "UTF8" },
    { server: 170_000, isolation: "read committed", encoding: "LATIN1" },
  ]) {
    const store = postgresStore({ pool: answering({ ...found, exists: false, tables: [] }) });
    await expect(store.open(CONTEXT)).rejects.toMatchObject({ code: "store_unsupported" });
  }
});

test("wrong options are refused", () => {
  const pool = { connect() {}, on() {}, removeListener() {} };
  const codeOf = (options: unknown): unknown => {
    try {
      postgresStore(options as never);
      return null;
    } catch (error) {
      return (error as { code: unknown }).code;
    }
  };
  expect(() => postgresStore({ conectionString: "x" } as never)).toThrow(
    'Did you mean "connectionString"?',
  );
  expect(codeOf({ pool })).toBe(null);
  expect(codeOf("postgres://127.0.0.1/x")).toBe(null);
  expect(() => postgresStore({ connectionString: "host=127.0.0.1 password=secret" })).not.toThrow(
    "secret",
  );
  for (const options of [
    undefined,
    {},
    { pool, connectionString: "x" },
    { pool: {} },
    { connectionString: "mysql://user:secret@127.0.0.1/x" },
    { connectionString: "host=127.0.0.1 password=secret" },
    { pool, schema: "" },
    { pool, schema: "pg_x" },
    { pool, schema: "half \ud800" },
    { pool, schema: "x".repeat(64) },
  ])
    expect(codeOf(options)).toBe("option_invalid");
});
