import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { FUNCTIONS } from "../../../src/stores/postgres/schema.js";
import { MIGRATIONS } from "../../../src/stores/postgres/tables.js";
import { claim, idsOf, settle, stateOf } from "../../contract/cases/store-case.js";
import { newSchema, openStore, testOnPostgres } from "./open-stores.js";

/** What an inbox of version 1 has beside its tables. */
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
});

testOnPostgres("an inbox of version 1 is migrated with its events", async () => {
  const { schema, name, admin } = newSchema();
  const old = await admin.connect();
  await old.query(`CREATE SCHEMA ${name}; SET search_path TO ${name}; ${MIGRATIONS[0]} ${VERSION_1}
    CREATE TABLE inbox_schema (version int NOT NULL); INSERT INTO inbox_schema VALUES (1)`);
  old.release();

  const store = await openStore(schema);
  const claimed = (await claim(store)).events;
  expect(idsOf(claimed)).toEqual(["evt_crashed", "evt_ready"]);
  for (const event of claimed) expect(await settle(store, event)).toBe(true);
  expect(await stateOf(store, "evt_leased")).toBe("leased");
});
