import { expect } from "vitest";
import type { Activity, InboxStore, SearchQuery } from "../../../src/kit/index.js";
import { laneKey } from "../../../src/kit/inbox/lane.js";
import type { Run } from "../../../src/kit/stores/postgres/connection.js";
import { postgresStore } from "../../../src/kit/stores/postgres/postgres-store.js";
import { search } from "../../../src/kit/stores/postgres/search.js";
import {
  accept,
  claimOne,
  commit,
  newEvent,
  settle,
  settlement,
  type Lease,
} from "../../contract/cases/store-case.js";
import { POSTGRES_URL } from "../../contract/postgres-medium.js";
import { eventually } from "../eventually.js";
import { CONTEXT, ENDPOINT, testOnDatabase, type Database } from "./open-stores.js";

const LAST_HOUR = { minutes: 1, spans: 60 };

/** What was counted in the last hour. */
async function lately(
  store: InboxStore,
): Promise<Pick<Activity, "accepted" | "handedOff" | "failed">> {
  const sum = { accepted: 0, handedOff: 0, failed: 0 };
  for (const span of await store.activity(ENDPOINT, LAST_HOUR))
    for (const name of ["accepted", "handedOff", "failed"] as const) sum[name] += span[name];
  return sum;
}

testOnDatabase(
  "what processes counted is added up about a second later, and at the latest when they close",
  async ({ open }) => {
    const [here, there] = [await open(), await open()];
    for (const [index, store] of [here, there].entries()) {
      for (let n = 0; n < 3; n++) await accept(store, `evt_${index}_${n}`);
    }
    await eventually("the counts of the other", async () => (await lately(here)).accepted === 6);
    await settle(there, await claimOne(there));
    await there.close(ENDPOINT);
    expect(await lately(here)).toEqual({ accepted: 6, handedOff: 1, failed: 0 });
  },
);

testOnDatabase("what could not be added is added later", async ({ open, sql }) => {
  const store = await open();
  await sql("ALTER TABLE inbox_minute RENAME TO gone");
  await accept(store, "evt_1");
  await expect(lately(store)).rejects.toMatchObject({ code: "store_failed" });
  await sql("ALTER TABLE gone RENAME TO inbox_minute");
  await accept(store, "evt_2");
  expect(await lately(store)).toEqual({ accepted: 2, handedOff: 0, failed: 0 });
});

testOnDatabase(
  "a commit waits for no row of the counts and of the history that another transaction holds",
  async ({ open, hold }) => {
    const store = await open();
    await accept(store, "evt_0");
    await lately(store);
    const holder = await hold("SELECT FROM inbox_minute FOR UPDATE");
    for (let n = 1; n <= 3; n++) {
      await settle(store, await claimOne(store), { state: "ready", lastError: "Error: x" });
      await accept(store, `evt_${n}`);
    }
    await holder.end();
    expect(await lately(store)).toEqual({ accepted: 4, handedOff: 0, failed: 3 });
  },
);

testOnDatabase(
  "a completed event counts as handed off once, with its settlement, and its error is not kept",
  async ({ open, sql }) => {
    const store = await open();
    for (const [state, lastError] of [
      ["done", null],
      ["ready", "Error: after the commit"],
    ] as const) {
      const lease = await accept(store, `evt_${state}`, { state: "leased" });
      const before = await lately(store);
      await sql(store.completeSql?.(lease) ?? "");
      expect(await lately(store)).toEqual(before);
      await settle(store, lease, { state, lastError, mayBeCompleted: true });
      expect(await lately(store)).toEqual({ ...before, handedOff: before.handedOff + 1 });
      const found = await store.get(ENDPOINT, `evt_${state}`);
      expect(found).toMatchObject({ state: "done", history: [] });
    }
  },
);

/** How many rows of a table were read, when as many as `inserted` are counted. */
async function readOfTable(
  { sql, schema }: Pick<Database, "sql" | "schema">,
  table: string,
  inserted: number,
): Promise<number> {
  let read = 0;
  await eventually("the counts", async () => {
    const [row] = await sql<{ read: string; inserted: string }>(
      `SELECT n_tup_ins AS inserted, idx_tup_fetch + seq_tup_read AS read FROM pg_stat_user_tables
       WHERE schemaname = $1 AND relname = $2`,
      [schema, table],
    );
    read = Number(row?.read);
    return Number(row?.inserted) === inserted;
  });
  return read;
}

const WITHOUT_STATISTICS = "ALTER TABLE inbox SET (autovacuum_enabled = off)";

testOnDatabase(
  "a commit reads as many rows as it has events, also while PostgreSQL knows nothing of the table",
  async ({ sql, schema }) => {
    const store = postgresStore({ connectionString: POSTGRES_URL, schema });
    await store.open(CONTEXT);
    await sql(WITHOUT_STATISTICS);
    const events = 2000;
    let settlements: ReturnType<typeof settlement>[] = [];
    for (let first = 0; first < events; first += 50) {
      const accepts = Array.from({ length: 50 }, (_, index) =>
        newEvent(`evt_${first + index}`, { state: "leased" }),
      );
      const result = await commit(store, { settlements, accepts });
      settlements = result.accepts.map((lease) => settlement(lease as Lease));
    }
    // The end of its connections passes on what they counted.
    await store.close(ENDPOINT);
    // Twice: for the settlement of each, and at the close. As a whole the table would be read 40
    // times.
    expect(await readOfTable({ sql, schema }, "inbox", events)).toBeLessThan(3 * events);
  },
);

testOnDatabase(
  "an ordered commit reads its own lanes, also where one has many events and PostgreSQL knows an empty table",
  async ({ sql, schema }) => {
    const store = postgresStore({ connectionString: POSTGRES_URL, schema });
    await store.open(CONTEXT);
    await sql("ALTER TABLE inbox_lane SET (autovacuum_enabled = off)");
    await sql("VACUUM ANALYZE inbox_lane");
    const events = 4000;
    let settlements: ReturnType<typeof settlement>[] = [];
    for (let first = 0; first < events; first += 50) {
      // Half of them wait behind the first one, which does not end.
      const keys = Array.from({ length: 50 }, (_, index) =>
        index % 2 === 0 ? laneKey("all") : laneKey(`own ${first + index}`),
      );
      const accepts = keys.map((key, index) =>
        newEvent(`evt_${first + index}`, { state: "leased", lane: { key, skips: false } }),
      );
      const result = await commit(store, { settlements, accepts });
      settlements = result.accepts.flatMap((lease, index) =>
        index % 2 === 0 ? [] : [settlement(lease as Lease, { lane: keys[index] ?? null })],
      );
    }
    await store.close(ENDPOINT);
    expect(await readOfTable({ sql, schema }, "inbox_lane", events)).toBeLessThan(3 * events);
  },
);

testOnDatabase(
  "a search reads a bounded number of rows, also while PostgreSQL knows nothing of the table",
  async ({ open, sql, hold, name }) => {
    await open();
    await sql(`${WITHOUT_STATISTICS};
      INSERT INTO inbox (endpoint, event_id, type, state, due_at, ready_since, queue_at, parked_at, received_at, token, owner,
        body_hash, subtype, subject)
      SELECT '${ENDPOINT}', 'evt_' || n, 'signal.published', state, 0,
        CASE WHEN state = 'ready' THEN 0 END, CASE WHEN state = 'ready' THEN 0 END, CASE WHEN state = 'dead' THEN 0 END,
        n, 0, 0, '', 'type', CASE WHEN n = 1 THEN 'rare' ELSE 'common' END
      FROM generate_series(1, 100000) n,
        LATERAL (SELECT CASE n % 50000 WHEN 1 THEN 'dead' WHEN 2 THEN 'ready' ELSE 'done' END AS state) s`);
    // The counts of one transaction.
    const client = await hold();
    const run: Run = async <Row>(text: string, values: unknown[] = []) =>
      ((await client.query(text, values)) as { rows: Row[] }).rows;
    const find = (query: SearchQuery) => search(run, name, ENDPOINT, query);
    async function rowsRead(): Promise<number> {
      const [row] = await run<{ read: string }>(
        `SELECT pg_stat_get_xact_tuples_fetched('inbox'::regclass)
           + pg_stat_get_xact_tuples_returned('inbox'::regclass) AS read`,
      );
      return Number(row?.read);
    }
    async function expectRead(query: SearchQuery, most: number): Promise<void> {
      const before = await rowsRead();
      await find(query);
      expect((await rowsRead()) - before, JSON.stringify(query)).toBeLessThan(most);
    }

    for (const state of ["dead", "ready", "leased", "quarantined"] as const)
      await expectRead({ state }, 10);
    await expectRead({}, 100);
    await expectRead({ eventId: "evt_77" }, 5000);
    // More than one call takes from the index, in whose order these are not the first.
    const { entries } = await find({ eventId: "evt", limit: 2 });
    expect(entries.map(({ eventId }) => eventId)).toEqual(["evt_100000", "evt_99999"]);
    for (const query of [
      { subject: "rare" },
      { subtype: "none" },
      { eventId: "evt", type: "none" },
      { receivedBefore: 0 },
    ]) {
      await expectRead(query, 15_000);
      await expectRead({ ...query, beforeSeq: 50_000 }, 15_000);
    }
  },
);
