import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { createReceiver } from "../../../src/kit/index.js";
import { postgresStore, type PgPool } from "../../../src/kit/stores/postgres/postgres-store.js";
import { MIGRATIONS } from "../../../src/kit/stores/postgres/tables.js";
import { accept, stateOf } from "../../contract/cases/store-case.js";
import { makePool, POSTGRES_URL } from "../../contract/postgres-medium.js";
import { errorOf } from "../../unit/signalbox-error-of.js";
import { eventually } from "../eventually.js";
import { CONTEXT, ENDPOINT, poolOfTest, testOnDatabase } from "./open-stores.js";

const saying = (code: string, text: string) => ({
  code,
  message: expect.stringContaining(text) as string,
});

/** Ten at once, since a race shows only sometimes. */
testOnDatabase("any number of stores make one schema at once", async ({ open, sql }) => {
  const stores = await Promise.all(Array.from({ length: 10 }, () => open(poolOfTest(3))));
  await accept(stores[0]!, "evt_1");
  expect(await stateOf(stores[9]!, "evt_1")).toBe("ready");
  const versions = await sql("SELECT version FROM inbox_schema");
  expect(versions).toEqual([{ version: MIGRATIONS.length }]);
});

testOnDatabase(
  "a connection string is enough, and close ends its connections",
  async ({ schema, sql }) => {
    const name = randomUUID();
    const connectionString = `${POSTGRES_URL}?application_name=${name}`;
    const store = postgresStore({ connectionString, schema });
    for (let round = 0; round < 2; round++) {
      await store.open(CONTEXT);
      await accept(store, `evt_${round}`);
      await store.close(ENDPOINT);
      await expect(store.list({})).rejects.toMatchObject({ code: "store_failed" });
    }
    // The server ends a process a moment after its connection.
    const left = "SELECT FROM pg_stat_activity WHERE application_name = $1";
    await eventually("the end", async () => (await sql(left, [name])).length === 0);
  },
);

testOnDatabase(
  "a newer schema, a foreign one and a damaged one are refused",
  async ({ schema, name, sql, open }) => {
    const pool = poolOfTest();
    await (await open(pool)).close(ENDPOINT);
    const found: [string, string | null][] = [
      [`UPDATE inbox_schema SET version = ${MIGRATIONS.length + 1}`, "store_newer"],
      [
        `UPDATE inbox_schema SET version = ${MIGRATIONS.length}; DROP TABLE inbox_body`,
        "store_corrupt",
      ],
      ["DELETE FROM inbox_schema", "store_corrupt"],
      ["DROP TABLE inbox_schema", "store_unsupported"],
      [
        `DROP SCHEMA ${name} CASCADE; CREATE SCHEMA ${name}; CREATE TABLE ${name}.inbox_owner ()`,
        "store_unsupported",
      ],
      ["DROP TABLE inbox_owner; CREATE VIEW inbox_key AS SELECT 1", "store_failed"],
      ["DROP VIEW inbox_key", null],
    ];
    for (const [damage, code] of found) {
      await sql(damage);
      const opening = postgresStore({ pool, schema }).open(CONTEXT);
      const refusal = await opening.then(
        () => null,
        (error: { code?: unknown }) => error.code,
      );
      expect(refusal, damage).toBe(code);
    }
  },
);

testOnDatabase(
  "a pool that has too few connections is refused, and one that callbacks may use up is reported",
  async ({ open }) => {
    const store = await open(poolOfTest(4));
    await expect(store.open({ ...CONTEXT, endpoint: "second" })).rejects.toMatchObject(
      saying("option_invalid", "max is 4, but the store needs 5"),
    );
    expect(store.shortage?.(1)).toBe(null);
    expect(store.shortage?.(2)).toContain("set its max to 5");
    expect(postgresStore(POSTGRES_URL).shortage?.(1000)).toBe(null);
  },
);

testOnDatabase("a store for a tool starts no receiver", async ({ schema, open }) => {
  await open();
  const store = postgresStore({ connectionString: POSTGRES_URL, schema, operator: true });
  const receiver = createReceiver({ secrets: "s", store, onSignal: () => {}, logger: false });
  await expect(receiver.start()).rejects.toMatchObject({ code: "store_unsupported" });
});

testOnDatabase("the end of a pool does not wait for the close of the store", async ({ open }) => {
  const pool = makePool();
  await open(pool);
  await pool.end();
});

testOnDatabase(
  "a table that is dropped under a running store is told, and nothing is acknowledged",
  async ({ open, sql }) => {
    const store = await open();
    await accept(store, "evt_1");
    for (const [what, missing] of [
      ["TABLE inbox_body", "is missing"],
      ["FUNCTION accept", "42883"],
    ] as const) {
      const [kind, own] = what.split(" ");
      await sql(`ALTER ${what} RENAME TO gone`);
      await expect(accept(store, "evt_2")).rejects.toMatchObject(saying("store_failed", missing));
      await sql(`ALTER ${kind} gone RENAME TO ${own}`);
    }
    await accept(store, "evt_2");
    expect(await stateOf(store, "evt_1")).toBe("ready");
  },
);

testOnDatabase(
  "a role can use a schema that it may not change, and is told which rights are missing",
  async ({ schema, name, sql, open }) => {
    const role = `signalbox_${randomUUID().replaceAll("-", "_")}`;
    await sql(`CREATE ROLE ${role}`);
    onTestFinished(async () => void (await sql(`DROP OWNED BY ${role}; DROP ROLE ${role}`)));
    const pool = poolOfTest(3, `-c role=${role}`);
    const denied = saying("store_failed", "42501: permission denied for ");
    await expect(postgresStore({ pool, schema }).open(CONTEXT)).rejects.toMatchObject(denied);
    await (await open()).close(ENDPOINT);
    await expect(postgresStore({ pool, schema }).open(CONTEXT)).rejects.toMatchObject(denied);
    // As docs/postgres.md says.
    await sql(`
      GRANT USAGE ON SCHEMA ${name} TO ${role};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${name} TO ${role};
      GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA ${name} TO ${role};`);
    const store = await open(pool);
    await accept(store, "evt_1", { state: "leased" });
    await store.stats(ENDPOINT);
    const isUnseen = { durability: "primary", synchronousStandbys: null };
    expect(store.diagnostics(ENDPOINT)).toMatchObject(isUnseen);
    const ages = { payloadsOlderThanMs: 0, keysOlderThanMs: 0 };
    await store.prune({ endpoint: ENDPOINT, ...ages, limit: 10 });
    await store.close(ENDPOINT);
  },
);

const poolOf = (connect: PgPool["connect"]): PgPool => ({
  connect,
  end: async () => {},
  on() {},
  removeListener() {},
});

test.each([
  ["28P01", 'password authentication failed for user "x"', true],
  ["3D000", 'database "x" does not exist', true],
  ["57P03", "the database system is starting up", true],
  ["XX000", "unexpected data: secret", false],
  ["EPIPE", "write EPIPE", false],
])(
  "an error of a connection has the sentence of the server, another has not: %s",
  async (code, text, isShown) => {
    const pool = poolOf(() => Promise.reject(Object.assign(new Error(text), { code })));
    const reason = `failed (${isShown ? `${code}: ${text}` : code}).`;
    const opening = postgresStore({ pool }).open(CONTEXT);
    await expect(opening).rejects.toMatchObject(saying("store_failed", reason));
  },
);

test("an old server, another isolation and another encoding are refused", async () => {
  for (const found of [
    { server: 130_012, isolation: "read committed", encoding: "UTF8" },
    { server: 170_000, isolation: "serializable", encoding: "UTF8" },
    { server: 170_000, isolation: "read committed", encoding: "LATIN1" },
  ]) {
    const rows = [{ ...found, exists: false, tables: [] }];
    const client = { query: async () => ({ rows }), release() {}, on() {}, removeListener() {} };
    const store = postgresStore({ pool: poolOf(async () => client) });
    await expect(store.open(CONTEXT)).rejects.toMatchObject({ code: "store_unsupported" });
  }
});

test("wrong options are refused", () => {
  const pool = poolOf(() => Promise.reject(new Error("never")));
  const refused = (options: unknown) => errorOf(() => postgresStore(options as never));
  expect(refused({ conectionString: "x" }).message).toMatch(/Did you mean "connectionString"\?/);
  // It would end the process when it connects.
  expect(refused({ pool: new Client() }).message).toMatch(/expected a Pool of the package pg/);
  const withoutUrl = "host=127.0.0.1 password=secret";
  expect(refused(withoutUrl).message).not.toContain("secret");
  for (const options of [
    undefined,
    {},
    { pool, connectionString: "x" },
    { pool: {} },
    { connectionString: "mysql://user:secret@127.0.0.1/x" },
    { connectionString: withoutUrl },
    { pool, schema: "" },
    { pool, schema: "pg_x" },
    { pool, schema: "half \ud800" },
    { pool, schema: "x".repeat(64) },
  ])
    expect(refused(options).code).toBe("option_invalid");
});
