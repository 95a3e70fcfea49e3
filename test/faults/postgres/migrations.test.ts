import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { PoolClient } from "pg";
import { expect, test } from "vitest";
import { FUNCTIONS } from "../../../src/stores/postgres/schema.js";
import { MIGRATIONS } from "../../../src/stores/postgres/tables.js";
import { claim, idsOf, settle, stateOf } from "../../contract/cases/store-case.js";
import { ENDPOINT, newSchema, openStore, testOnPostgres } from "./open-stores.js";

/** What an inbox of version 1 was made with: its tables and functions. */
const VERSION_1 = readFileSync(new URL("schema-1.sql", import.meta.url), "utf8");

/** For each version the hash of its tables; for the last also that of its functions. */
const LANDED = [{ tables: "3b39cd4489474ff6" }, { tables: "d3afada14dfdf3dd", functions: "ddde102b63a1676a" }];

function hashOf(sql: string): string {
  return createHash("sha256").update(sql).digest("hex").slice(0, 16);
}

test("a version that has landed is not edited", () => {
  const help =
    "The SQL of a landed version has changed, and inboxes that have this version would not get it. Append a migration to TABLES " +
    "(an empty text, if only functions or their constants changed), and then its hashes here.";
  const versions = MIGRATIONS.map((_, index) => hashOf(MIGRATIONS.slice(0, index + 1).join("")));
  expect(versions, help).toEqual(LANDED.map(({ tables }) => tables));
  expect(hashOf(FUNCTIONS), help).toBe(LANDED.at(-1)?.functions);
  expect(VERSION_1.startsWith(MIGRATIONS[0] ?? "none"), help).toBe(true);
});

/** Accepts an event as a process of version 1 did. */
async function acceptByVersion1(client: PoolClient, owner: number, id: string, state: string): Promise<void> {
  const none = Array.from({ length: 8 }, () => []);
  const received = JSON.stringify({ at: 5, headers: {} });
  const accept = [id, "t", state, state === "leased" ? 1e9 : null, 5, null, received, Buffer.from("h"), 1, 2];
  const values = [
    ENDPOINT,
    owner,
    7,
    ...none,
    ...accept.map((value) => [value]),
    Buffer.from("{}"),
    [null],
    [null],
    null,
    null,
    false,
    [],
  ];
  const parameters = values.map((_, index) => `$${index + 1}`).join(", ");
  await client.query(`SELECT * FROM commit_batch(${parameters})`, values);
}

testOnPostgres("an inbox of version 1 is migrated with its events", async () => {
  const { schema, name, admin } = newSchema();
  const old = await admin.connect();
  await old.query(`CREATE SCHEMA ${name}; SET search_path TO ${name}; ${VERSION_1};
    CREATE TABLE inbox_schema (version int NOT NULL); INSERT INTO inbox_schema VALUES (1)`);
  const { rows: owners } = await old.query<{ id: number }>(`SELECT register_owner('${ENDPOINT}') AS id`);
  const owner = owners[0]?.id ?? 0;
  const events = { evt_done: "done", evt_crashed: "leased", evt_ready: "ready", evt_leased: "leased" };
  for (const [id, state] of Object.entries(events)) await acceptByVersion1(old, owner, id, state);
  await old.query(`SELECT free_crashed(0, ARRAY(SELECT seq FROM inbox WHERE event_id = 'evt_crashed'))`);

  const store = await openStore(schema);
  const claimed = (await claim(store)).events;
  expect(idsOf(claimed)).toEqual(["evt_crashed", "evt_ready"]);
  for (const event of claimed) expect(await settle(store, event)).toBe(true);
  expect(await stateOf(store, "evt_leased")).toBe("leased");
  old.release();
});
