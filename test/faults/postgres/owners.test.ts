import { expect, onTestFinished } from "vitest";
import type { InboxStore } from "../../../src/kit/index.js";
import { postgresStore } from "../../../src/kit/stores/postgres/postgres-store.js";
import {
  accept,
  claim,
  claimRequest,
  commit,
  idsOf,
  newEvent,
  settle,
  settlement,
  stateOf,
  type Lease,
} from "../../contract/cases/store-case.js";
import { POSTGRES_URL } from "../../contract/postgres-medium.js";
import { eventually } from "../eventually.js";
import { CONTEXT, ENDPOINT, poolOfTest, testOnDatabase, type Database } from "./open-stores.js";

const ownersIn = ({ sql }: Database) =>
  sql<{ id: number; low: number }>("SELECT id, low_seq::int AS low FROM inbox_owner ORDER BY id");

async function idOfOnlyOwner(database: Database): Promise<number> {
  const owners = await ownersIn(database);
  expect(owners).toHaveLength(1);
  return owners[0]!.id;
}

/**
 * Claims as if the last look for dead owners were long ago, and the last heartbeat of one of them.
 */
async function sweep(store: InboxStore, { sql }: Database, deadId = 0): Promise<string[]> {
  const beatAt = `CASE WHEN id = ${deadId} THEN 0 ELSE beat_at END`;
  await sql(`UPDATE inbox_owner SET swept_at = 0, alive_since = 0, beat_at = ${beatAt}`);
  return idsOf((await claim(store)).events);
}

/** What a commit of this owner holds. */
const lockOf = (id: number): string =>
  `SELECT pg_advisory_xact_lock_shared('inbox'::regclass::oid::int, ${id})`;

testOnDatabase(
  "a commit of a process that lost its owner works at once, under a new one",
  async (database) => {
    const store = await database.open();
    const lease = await accept(store, "evt_1", { state: "leased" });
    await database.sql("DELETE FROM inbox_owner; UPDATE inbox SET token = token + 1");
    expect(await settle(store, lease)).toBe(false);
    await accept(store, "evt_2");
    await idOfOnlyOwner(database);
  },
);

testOnDatabase("slow queries of people do not keep commits waiting", async ({ schema, hold }) => {
  const store = postgresStore({ connectionString: POSTGRES_URL, schema });
  await store.open(CONTEXT);
  onTestFinished(() => store.close(ENDPOINT));
  const lease = await accept(store, "evt_1", { state: "leased" });
  const blocker = await hold("LOCK TABLE inbox_body");
  const slow = Array.from({ length: 10 }, () => store.get(ENDPOINT, "evt_1"));
  expect(await settle(store, lease)).toBe(true);
  await blocker.end();
  for (const event of await Promise.all(slow)) expect(event?.state).toBe("done");
});

testOnDatabase(
  "heartbeats wait for no other work of the store, and of the pool that it shares",
  async ({ schema, sql, hold }) => {
    const shared = poolOfTest(5);
    const opened = [
      postgresStore({ connectionString: POSTGRES_URL, schema }),
      postgresStore({ pool: shared, schema }),
    ].flatMap((store) => [0, 1].map((index) => ({ store, endpoint: `endpoint ${index}` })));
    for (const { store, endpoint } of opened) {
      await store.open({ ...CONTEXT, endpoint });
      onTestFinished(() => store.close(endpoint));
    }
    const leasedSince = (): unknown[] =>
      opened.map(({ store, endpoint }) => store.leasedSince?.(endpoint));
    const before = leasedSince();
    const [locked] = await sql<{ at: string }>("SELECT now_ms() AS at");
    const blocker = await hold("LOCK TABLE inbox_body");
    const others = await Promise.all([0, 1, 2].map(() => shared.connect()));
    const waiting = opened.map(({ store, endpoint }) =>
      commit(store, { endpoint, accepts: [newEvent("evt_1")] }),
    );
    const isLater = "SELECT min(beat_at) - $1 > 5500 AS later FROM inbox_owner";
    const beat = async () => (await sql<{ later: boolean }>(isLater, [locked?.at]))[0]?.later;
    await eventually("heartbeats of all", async () => (await beat()) === true, 15_000);
    expect(leasedSince()).toEqual(before);
    await blocker.end();
    for (const other of others) other.release();
    await Promise.all(waiting);
  },
);

testOnDatabase(
  "a process that commits nothing has a heartbeat, which brings the age of the oldest event",
  async ({ open, sql }) => {
    const store = await open();
    await accept(store, "evt_1");
    const beat = async () => JSON.stringify(await sql("SELECT beat_at FROM inbox_owner"));
    const first = await beat();
    await eventually("the next heartbeat", async () => (await beat()) !== first);
    await eventually("the age", () => (store.oldestReady?.(ENDPOINT)?.oldestReadyAgeMs ?? 0) > 500);
  },
);

testOnDatabase(
  "a heartbeat that waits for a commit of its own process does not make that process look new",
  async (database) => {
    await database.open();
    const id = await idOfOnlyOwner(database);
    const query = "UPDATE inbox_owner SET alive_since = 0, beat_at = now_ms()";
    // The commit has a heartbeat too, a later one than that which waits for it.
    const late = await database.hold(query);
    const beating = database.sql(`SELECT show_alive(${id})`);
    await late.blocks();
    await late.query(query);
    await late.end("COMMIT");
    await beating;
    const since = await database.sql("SELECT alive_since::int AS since FROM inbox_owner");
    expect(since).toEqual([{ since: 0 }]);
  },
);

testOnDatabase(
  "an owner is removed only when none of its commits is in flight",
  async (database) => {
    const { store: dead, kill } = await database.openKillable();
    const id = await idOfOnlyOwner(database);
    const living = await database.open();
    await accept(dead, "evt_1", { state: "leased" });
    kill();
    const [, { id: livingId }] = (await ownersIn(database)) as [unknown, { id: number }];
    // PostgreSQL still executes a commit of the dead process.
    const late = await database.hold(lockOf(id));
    // A heartbeat can have been on its way when the process died.
    await eventually("the take-over", async () =>
      (await sweep(living, database, id)).includes("evt_1"),
    );
    await sweep(living, database, id);
    expect(await ownersIn(database)).toMatchObject([{ id }, { id: livingId }]);
    await late.end("COMMIT");
    await sweep(living, database, id);
    expect(await ownersIn(database)).toMatchObject([{ id: livingId }]);
  },
);

testOnDatabase(
  "a process that ends while one of its commits is in flight stays an owner, so that others free its leases",
  async (database) => {
    const ending = await database.open();
    const id = await idOfOnlyOwner(database);
    const late = await database.hold(lockOf(id));
    await ending.close(ENDPOINT);
    expect(await idOfOnlyOwner(database)).toBe(id);
    await late.end("COMMIT");
    await sweep(await database.open(), database, id);
    expect(await idOfOnlyOwner(database)).not.toBe(id);
  },
);

testOnDatabase(
  "the lowest lease is known even while the commit of an older lease is in flight",
  async (database) => {
    const store = await database.open();
    const lowest = async () => (await ownersIn(database))[0]?.low;
    // The commit waits for this id after it has inserted its first event.
    const columns = "due_at, received_at, token, owner, state, endpoint, event_id, type, body_hash";
    const blocker = await database.hold(
      `INSERT INTO inbox (${columns}) VALUES (0, 0, 0, 0, 'done', '${ENDPOINT}', 'evt_b', '', '')`,
    );
    const waiting = commit(store, {
      accepts: [newEvent("evt_a", { state: "leased" }), newEvent("evt_b")],
    });
    await blocker.blocks();
    const later = await accept(store, "evt_c", { state: "leased" });
    await sweep(store, database);
    await blocker.end();
    const older = (await waiting).accepts[0] as Lease;
    expect(older.seq).toBeLessThan(later.seq);
    expect(await lowest()).toBeLessThanOrEqual(older.seq);
    // With no commit in flight it moves on, to the oldest lease.
    await settle(store, older);
    await sweep(store, database);
    expect(await lowest()).toBe(later.seq);
  },
);

testOnDatabase(
  "after an outage, a process that recovers a failed commit judges no other process at once",
  async ({ open, openKillable, sql }) => {
    const first = await open();
    const { store: other, kill } = await openKillable();
    await accept(other, "evt_1", { state: "leased" });
    // The database was away for a minute, and the other process has had no heartbeat since.
    kill();
    await sql(
      "UPDATE inbox_owner SET beat_at = beat_at - 60000, alive_since = alive_since - 120000, swept_at = 0",
    );
    await first.reclaim({ endpoint: ENDPOINT, held: [], crashed: false });
    expect(await claim(first)).toMatchObject({ events: [] });
    // What a claim frees, it may itself be too early to lease.
    expect(await stateOf(first, "evt_1")).toBe("leased");
  },
);

testOnDatabase(
  "a commit that waited for a lock judges other processes by the time after it",
  async ({ open, hold, sql }) => {
    const [waiting, other] = [await open(), await open()];
    const lease = await accept(waiting, "evt_1", { state: "leased" });
    await accept(other, "evt_2", { state: "leased" });
    const blocker = await hold("SELECT FROM inbox WHERE event_id = 'evt_1' FOR UPDATE");
    await sql("UPDATE inbox_owner SET swept_at = 0");
    const committed = commit(waiting, { settlements: [settlement(lease)], claim: claimRequest() });
    await blocker.blocks();
    // Six seconds pass, and both processes have their heartbeats.
    const later = Date.now() + 6000;
    await sql(
      `CREATE OR REPLACE FUNCTION now_ms() RETURNS bigint LANGUAGE sql AS 'SELECT ${later}::bigint'`,
    );
    await eventually("the heartbeats", async () => {
      return (await sql(`SELECT FROM inbox_owner WHERE beat_at = ${later}`)).length === 2;
    });
    await sql("UPDATE inbox_owner SET alive_since = 0");
    await blocker.end();
    expect(await committed).toMatchObject({ settlements: [true], claim: { events: [] } });
    expect(await stateOf(waiting, "evt_2")).toBe("leased");
  },
);

testOnDatabase(
  "when the database's clock is set back, nobody is taken for dead",
  async ({ open, sql }) => {
    const [first, other] = [await open(), await open()];
    const lease = await accept(other, "evt_1", { state: "leased" });
    // The last heartbeats were a minute later, by the clock as it was. The first process commits
    // before the next heartbeats.
    await sql(
      "UPDATE inbox_owner SET beat_at = beat_at + 60000, alive_since = alive_since - 60000, swept_at = 0",
    );
    expect(await claim(first)).toMatchObject({ events: [] });
    expect(await settle(other, lease)).toBe(true);
  },
);

testOnDatabase(
  "a process that ends with an event in hand stays an owner until another has taken that over",
  async (database) => {
    const ending = await database.open();
    const id = await idOfOnlyOwner(database);
    await accept(ending, "evt_1", { state: "leased" });
    await ending.close(ENDPOINT);
    expect(await idOfOnlyOwner(database)).toBe(id);
    const living = await database.open();
    await eventually("the take-over", async () =>
      (await sweep(living, database, id)).includes("evt_1"),
    );
  },
);
