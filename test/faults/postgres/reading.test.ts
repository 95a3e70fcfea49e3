import type { Client } from "pg";
import { expect, onTestFinished } from "vitest";
import type { Activity, InboxStore, SearchQuery } from "../../../src/kit/index.js";
import type { Run } from "../../../src/kit/stores/postgres/connection.js";
import { search } from "../../../src/kit/stores/postgres/search.js";
import { accept, claimOne, commit, settle, settlement } from "../../contract/cases/store-case.js";
import { eventually } from "../eventually.js";
import { ENDPOINT, hold, newSchema, openStore, poolOfTest, testOnPostgres } from "./open-stores.js";

/** What was counted in the last hour. */
async function lately(store: InboxStore): Promise<Omit<Activity, "at">> {
  const sum = { accepted: 0, handedOff: 0, failed: 0 };
  for (const { accepted, handedOff, failed } of await store.activity(ENDPOINT, {
    minutes: 1,
    spans: 60,
  })) {
    sum.accepted += accepted;
    sum.handedOff += handedOff;
    sum.failed += failed;
  }
  return sum;
}

testOnPostgres(
  "what processes counted is added up about a second later, and at the latest when they close",
  async () => {
    const { schema } = newSchema();
    const [here, there] = [await openStore(schema), await openStore(schema)];
    for (const [index, store] of [here, there].entries()) {
      for (let n = 0; n < 3; n++) await accept(store, `evt_${index}_${n}`);
    }
    await eventually(
      "the counts of the other process",
      async () => (await lately(here)).accepted === 6,
    );
    await settle(there, await claimOne(there));
    await there.close(ENDPOINT);
    expect(await lately(here)).toEqual({ accepted: 6, handedOff: 1, failed: 0 });
  },
);

testOnPostgres("what could not be added is added later", async () => {
  const { schema, name, admin } = newSchema();
  const store = await openStore(schema);
  await admin.query(`ALTER TABLE ${name}.inbox_minute RENAME TO gone`);
  await accept(store, "evt_1");
  await expect(store.activity(ENDPOINT, { minutes: 1, spans: 60 })).rejects.toMatchObject({
    code: "store_failed",
  });
  await admin.query(`ALTER TABLE ${name}.gone RENAME TO inbox_minute`);
  await accept(store, "evt_2");
  expect(await lately(store)).toEqual({ accepted: 2, handedOff: 0, failed: 0 });
});

testOnPostgres(
  "a commit waits for no row of the counts and of the history that another transaction holds",
  async () => {
    const { schema, name } = newSchema();
    const store = await openStore(schema, poolOfTest());
    await accept(store, "evt_0");
    await lately(store);
    const holder = await hold(`SELECT FROM ${name}.inbox_minute FOR UPDATE`);
    for (let n = 1; n <= 3; n++) {
      await settle(store, await claimOne(store), { state: "ready", lastError: "Error: x" });
      await accept(store, `evt_${n}`);
    }
    await holder.end();
    expect(await lately(store)).toEqual({ accepted: 4, handedOff: 0, failed: 3 });
  },
);

testOnPostgres(
  "a completed event counts as handed off once, with its settlement, and its error is not kept",
  async () => {
    const { schema, admin } = newSchema();
    const store = await openStore(schema);
    const outcomes = [
      { state: "done", lastError: null },
      { state: "ready", lastError: "Error: after the commit" },
    ] as const;
    for (const { state, lastError } of outcomes) {
      const lease = await accept(store, `evt_${state}`, { state: "leased" });
      const before = await lately(store);
      await admin.query(store.completeSql?.(lease) ?? "");
      expect(await lately(store)).toEqual(before);
      await commit(store, {
        settlements: [settlement(lease, { state, lastError, mayBeCompleted: true })],
      });
      expect(await lately(store)).toEqual({ ...before, handedOff: before.handedOff + 1 });
      expect(await store.get(ENDPOINT, `evt_${state}`)).toMatchObject({
        state: "done",
        history: [],
      });
    }
  },
);

testOnPostgres(
  "a search reads a bounded number of rows, also while PostgreSQL knows nothing of the table",
  async () => {
    const { schema, name, admin } = newSchema();
    await openStore(schema);
    await admin.query(`ALTER TABLE ${name}.inbox SET (autovacuum_enabled = off)`);
    await admin.query(`
      INSERT INTO ${name}.inbox (endpoint, event_id, type, state, due_at, ready_since, queue_at, parked_at, received_at, token, owner,
        body_hash, subtype, subject)
      SELECT '${ENDPOINT}', 'evt_' || n, 'signal.published', state, 0,
        CASE WHEN state = 'ready' THEN 0 END, CASE WHEN state = 'ready' THEN 0 END, CASE WHEN state = 'dead' THEN 0 END,
        n, 0, 0, '', 'type', CASE WHEN n = 1 THEN 'rare' ELSE 'common' END
      FROM generate_series(1, 100000) n,
        LATERAL (SELECT CASE n % 50000 WHEN 1 THEN 'dead' WHEN 2 THEN 'ready' ELSE 'done' END AS state) s`);
    const client = await poolOfTest(1).connect();
    await client.query("BEGIN");
    onTestFinished(() => client.release(true));

    async function rowsRead(): Promise<number> {
      const { rows } = await client.query<{ read: string }>(
        `SELECT pg_stat_get_xact_tuples_fetched('${name}.inbox'::regclass)
           + pg_stat_get_xact_tuples_returned('${name}.inbox'::regclass) AS read`,
      );
      return Number(rows[0]?.read);
    }
    async function readBy(query: SearchQuery): Promise<number> {
      const before = await rowsRead();
      await search(runOn(client), name, ENDPOINT, query);
      return (await rowsRead()) - before;
    }

    for (const query of [
      { state: "dead" },
      { state: "ready" },
      { state: "leased" },
      { state: "quarantined" },
    ] as const) {
      expect(await readBy(query), query.state).toBeLessThan(10);
    }
    expect(await readBy({})).toBeLessThan(100);
    expect(await readBy({ eventId: "evt_77" })).toBeLessThan(5000);
    // More than one call takes from the index, in whose order these are not the first.
    const { entries } = await search(runOn(client), name, ENDPOINT, { eventId: "evt", limit: 2 });
    expect(entries.map(({ eventId }) => eventId)).toEqual(["evt_100000", "evt_99999"]);
    for (const query of [
      { subject: "rare" },
      { subtype: "none" },
      { eventId: "evt", type: "none" },
      { receivedBefore: 0 },
    ]) {
      expect(await readBy(query), JSON.stringify(query)).toBeLessThan(15_000);
      expect(await readBy({ ...query, beforeSeq: 50_000 }), JSON.stringify(query)).toBeLessThan(
        15_000,
      );
    }
  },
);

/** Runs statements on one connection, in its transaction. */
function runOn(client: Client): Run {
  return async <Row>(text: string, values: unknown[] = []) =>
    (await client.query(text, values)).rows as Row[];
}
