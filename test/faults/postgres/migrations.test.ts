import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Batch, BatchResult } from "../../../src/kit/inbox/batch.js";
import { prepareCommit, type CommitRow } from "../../../src/kit/stores/postgres/commit.js";
import { FUNCTIONS } from "../../../src/kit/stores/postgres/schema.js";
import { MIGRATIONS } from "../../../src/kit/stores/postgres/tables.js";
import {
  claim,
  claimRequest,
  commit,
  ENDPOINT,
  idsOf,
  newEvent,
  settle,
  settlement,
  stateOf,
  type Lease,
} from "../../contract/cases/store-case.js";
import { testOnDatabase, type Database } from "./open-stores.js";

/** What an inbox of version 1 has beside its tables. */
const VERSION_1 = readFileSync(new URL("schema-1.sql", import.meta.url), "utf8");

/** For each version the hash of its tables; for the last also that of its functions. */
const LANDED = [
  { tables: "3b39cd4489474ff6" },
  { tables: "d3afada14dfdf3dd" },
  { tables: "045786a497dc15a5" },
  { tables: "09617f3d8c9aff3f" },
  { tables: "e3c3e0e4633df316" },
  { tables: "1735958d946541d7" },
  { tables: "1735958d946541d7" },
  { tables: "a49ec8c75ae56f36" },
  { tables: "c44b57f85061501b" },
  { tables: "fd6f7408ec979353" },
  { tables: "fd6f7408ec979353" },
  { tables: "fd6f7408ec979353", functions: "dc136eb24d849102" },
];

function hashOf(sql: string): string {
  return createHash("sha256").update(sql).digest("hex").slice(0, 16);
}

test("a version that has landed is not edited", () => {
  const help =
    "The SQL of a landed version has changed, and inboxes that have this version would not get it. Append a migration to MIGRATIONS " +
    "(an empty text, if only functions or their constants changed), and then its hashes here.";
  const versions = MIGRATIONS.map((_, index) => hashOf(MIGRATIONS.slice(0, index + 1).join("")));
  expect(versions, help).toEqual(LANDED.map(({ tables }) => tables));
  expect(hashOf(FUNCTIONS), help).toBe(LANDED.at(-1)?.functions);
});

/** Version 2 has another `commit_batch` beside that of version 1. */
const VERSION_2 = `
  CREATE FUNCTION commit_batch(
    text, int, int, bigint[], int[], text[], bigint[], int[], boolean[], text[], bigint[], text[], text[], text[], bigint[], bigint[],
    text[], text[], bytea[], int[], int[], bytea, text[], text[], int, bigint, bigint[]
  ) RETURNS TABLE (summary json) LANGUAGE plpgsql AS 'BEGIN END';
  UPDATE inbox SET signal_type = 'price_drop', product = 'acme' WHERE event_id = 'evt_done';`;

/** A store that has migrated an inbox of an old version, with the events of `schema-1.sql`. */
async function migrated({ sql, name, open }: Database, version: number, more: string) {
  await sql(`CREATE SCHEMA ${name}`);
  await sql(`${MIGRATIONS.slice(0, version).join("")} ${VERSION_1} ${more}
    CREATE TABLE inbox_schema (version int NOT NULL); INSERT INTO inbox_schema VALUES (${version})`);
  return {
    store: await open(),
    /** As a process of before the migration does, which passes fewer arguments. */
    async commitAsOld(arguments_: number, batch: Partial<Batch>): Promise<BatchResult> {
      const prepared = prepareCommit({
        endpoint: ENDPOINT,
        settlements: [],
        accepts: [],
        claim: null,
        ...batch,
      });
      const values = [ENDPOINT, 1, ...prepared.values].slice(0, arguments_);
      const parameters = values.map((_, index) => `$${index + 1}`).join(", ");
      const rows = await sql<CommitRow>(`SELECT * FROM commit_batch(${parameters})`, values);
      return prepared.readRows(rows).result;
    },
  };
}

testOnDatabase("an inbox of version 1 is migrated with its events", async (database) => {
  const { store } = await migrated(database, 1, "");
  const claimed = (await claim(store)).events;
  expect(idsOf(claimed)).toEqual(["evt_crashed", "evt_ready"]);
  for (const event of claimed) expect(await settle(store, event)).toBe(true);
  expect(await stateOf(store, "evt_leased")).toBe("leased");
});

testOnDatabase(
  "an inbox of version 2 keeps its facts, and a process of that version goes on",
  async (database) => {
    const { store, commitAsOld } = await migrated(database, 2, VERSION_2);
    const facts = { subtype: "price_drop", subject: "acme", sender: "signals" };
    expect(await store.get(ENDPOINT, "evt_done")).toMatchObject(facts);
    expect(
      (await store.search(ENDPOINT, { subtype: "price_drop", subject: "acme" })).entries,
    ).toMatchObject([facts]);

    const lost = newEvent("evt_old", { state: "leased", ...facts, sender: null });
    const [first, again] = (await commitAsOld(27, { accepts: [lost, newEvent("evt_done")] }))
      .accepts;
    expect([first?.status, again?.status]).toEqual(["accepted", "duplicate"]);
    expect(await store.get(ENDPOINT, "evt_old")).toMatchObject({ state: "leased", ...facts });
    const settlements = [settlement(first as Lease)];
    expect((await commitAsOld(27, { settlements })).settlements).toEqual([true]);
    expect(await stateOf(store, "evt_old")).toBe("done");
  },
);

/** Version 4 has another `commit_batch`. */
const VERSION_4 = `
  CREATE FUNCTION commit_batch(
    text, int, int, bigint[], int[], text[], bigint[], int[], boolean[], text[], bigint[], text[], text[], text[], bigint[], bigint[],
    text[], text[], bytea[], int[], int[], bytea, text[], text[], int, bigint, bigint[], text[] DEFAULT NULL, bytea[] DEFAULT NULL
  ) RETURNS TABLE (summary json) LANGUAGE plpgsql AS 'BEGIN END';`;

testOnDatabase(
  "a process of version 4 goes on, and each knows the events of the other",
  async (database) => {
    const { store, commitAsOld } = await migrated(database, 4, VERSION_4);
    const contentKey = createHash("sha256").update("content").digest();
    const facts = { sender: "github", subtype: "opened", subject: "acme/shop" };
    const statuses = ({ accepts }: BatchResult): unknown[] =>
      accepts.map((each) => (each.status === "duplicate" ? each.otherThan : each.status));

    const byOld = newEvent("evt_by_old", { ...facts, contentKey });
    expect(statuses(await commitAsOld(29, { accepts: [byOld] }))).toEqual(["accepted"]);
    const retried = { ...byOld, contentKey: null };
    const repeated = { ...retried, eventId: "evt_repeated", possiblyRepeated: true };
    const captured = { ...retried, type: "zzz" };
    expect(statuses(await commit(store, { accepts: [retried, repeated, captured] }))).toEqual([
      null,
      "accepted",
      "id",
    ]);

    const counted = [{ at: Date.now(), accepted: 7, handedOff: 3, failed: 0 }];
    await database.sql("SELECT add_activity($1, $2)", [ENDPOINT, JSON.stringify(counted)]);
    const [found] = await store.activity(ENDPOINT, { minutes: 1440, spans: 2 });
    expect(found).toMatchObject({ accepted: 8, ignored: 0, handedOff: 3 });

    const byNew = newEvent("evt_by_new", { ...facts, body: Buffer.from("other") });
    expect(statuses(await commit(store, { accepts: [byNew] }))).toEqual(["accepted"]);
    expect(
      statuses(await commitAsOld(29, { accepts: [byNew, { ...byOld, eventId: "evt_old_again" }] })),
    ).toEqual([null, null]);

    const { claim: claimed } = await commitAsOld(29, { claim: claimRequest() });
    const marks = claimed?.events.map((event) => [
      event.eventId,
      event.possiblyRepeated,
      event.type,
    ]);
    expect(marks).toContainEqual(["evt_repeated", true, "signal.published"]);
    for (const event of claimed?.events ?? []) {
      expect((await commitAsOld(29, { settlements: [settlement(event)] })).settlements).toEqual([
        true,
      ]);
    }
    expect(await stateOf(store, "evt_by_old")).toBe("done");
  },
);
