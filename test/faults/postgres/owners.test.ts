import type { Pool } from "pg";
import { expect, onTestFinished } from "vitest";
import { systemClock } from "../../../src/base/time/clock.js";
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
import { killablePool, POSTGRES_URL } from "../../contract/postgres-medium.js";
import { eventually } from "../eventually.js";
import { ENDPOINT, hold, newSchema, openStore, poolOfTest, testOnPostgres } from "./open-stores.js";

interface OwnerRow {
  id: number;
  low: number;
}

async function ownersIn(admin: Pool, name: string): Promise<OwnerRow[]> {
  return (
    await admin.query<OwnerRow>(
      `SELECT id, low_seq::int AS low FROM ${name}.inbox_owner ORDER BY id`,
    )
  ).rows;
}

/**
 * Claims as if the last look for dead owners were long ago, and the last heartbeat of one of them.
 */
async function sweep(store: InboxStore, admin: Pool, name: string, deadId = 0): Promise<string[]> {
  const beatAt = `CASE WHEN id = ${deadId} THEN 0 ELSE beat_at END`;
  await admin.query(
    `UPDATE ${name}.inbox_owner SET swept_at = 0, alive_since = 0, beat_at = ${beatAt}`,
  );
  return idsOf((await claim(store)).events);
}

/** What a commit of this owner holds. */
const lockOf = (name: string, id: number): string =>
  `SELECT pg_advisory_xact_lock_shared('${name}.inbox'::regclass::oid::int, ${id})`;

testOnPostgres(
  "a commit of a process that lost its owner works at once, under a new one",
  async () => {
    const { schema, name, admin } = newSchema();
    const store = await openStore(schema);
    const lease = await accept(store, "evt_1", { state: "leased" });
    await admin.query(
      `DELETE FROM ${name}.inbox_owner; UPDATE ${name}.inbox SET token = token + 1`,
    );
    expect(await settle(store, lease)).toBe(false);
    await accept(store, "evt_2");
    expect(await ownersIn(admin, name)).toHaveLength(1);
  },
);

testOnPostgres("slow queries of people do not keep commits waiting", async () => {
  const { schema, name } = newSchema();
  const store = postgresStore({ connectionString: POSTGRES_URL, schema });
  await store.open({ endpoint: ENDPOINT, clock: systemClock });
  onTestFinished(() => store.close(ENDPOINT));
  const lease = await accept(store, "evt_1", { state: "leased" });
  const blocker = await hold(`LOCK TABLE ${name}.inbox_body`);
  const slow = Array.from({ length: 10 }, () => store.get(ENDPOINT, "evt_1"));
  expect(await settle(store, lease)).toBe(true);
  await blocker.end();
  for (const event of await Promise.all(slow)) expect(event?.state).toBe("done");
});

testOnPostgres(
  "heartbeats wait for no other work of the store, and of the pool that it shares",
  async () => {
    const { schema, name, admin } = newSchema();
    const shared = poolOfTest(5);
    const stores = [
      postgresStore({ connectionString: POSTGRES_URL, schema }),
      postgresStore({ pool: shared, schema }),
    ];
    const opened = stores.flatMap((store) =>
      [0, 1].map((index) => ({ store, endpoint: `endpoint ${index}` })),
    );
    for (const { store, endpoint } of opened) {
      await store.open({ endpoint, clock: systemClock });
      onTestFinished(() => store.close(endpoint));
    }
    const leasedSince = (): unknown[] =>
      opened.map(({ store, endpoint }) => store.leasedSince?.(endpoint));
    const before = leasedSince();
    const { rows: locked } = await admin.query<{ at: string }>(`SELECT ${name}.now_ms() AS at`);
    const blocker = await hold(`LOCK TABLE ${name}.inbox_body`);
    const others = await Promise.all([0, 1, 2].map(() => shared.connect()));
    const waiting = opened.map(({ store, endpoint }) =>
      commit(store, { endpoint, accepts: [newEvent("evt_1")] }),
    );
    const sinceLockMs = async (): Promise<number> => {
      const query = `SELECT min(beat_at) - $1 AS ms FROM ${name}.inbox_owner`;
      return Number((await admin.query<{ ms: string }>(query, [locked[0]?.at])).rows[0]?.ms);
    };
    await eventually("heartbeats of all", async () => (await sinceLockMs()) > 5500, 15_000);
    expect(leasedSince()).toEqual(before);
    await blocker.end();
    for (const other of others) other.release();
    await Promise.all(waiting);
  },
);

testOnPostgres(
  "a process that commits nothing has a heartbeat, which brings the age of the oldest event",
  async () => {
    const { schema, name, admin } = newSchema();
    const store = await openStore(schema);
    await accept(store, "evt_1");
    const beatAt = async (): Promise<unknown> =>
      (await admin.query<{ at: string }>(`SELECT beat_at AS at FROM ${name}.inbox_owner`)).rows[0]
        ?.at;
    const first = await beatAt();
    await eventually("the next heartbeat", async () => (await beatAt()) !== first);
    await eventually("the age", () => (store.oldestReady?.(ENDPOINT)?.oldestReadyAgeMs ?? 0) > 500);
  },
);

testOnPostgres(
  "a heartbeat that waits for a commit of its own process does not make that process look new",
  async () => {
    const { schema, name, admin } = newSchema();
    await openStore(schema);
    const [owner] = (await ownersIn(admin, name)) as [OwnerRow];
    const query = `UPDATE ${name}.inbox_owner SET alive_since = 0, beat_at = ${name}.now_ms()`;
    // The commit has a heartbeat too, a later one than that which waits for it.
    const late = await hold(query);
    const beating = poolOfTest(1).query(
      `SET search_path TO ${name}; SELECT show_alive(${owner.id})`,
    );
    await late.blocks();
    await late.query(query);
    await late.end("COMMIT");
    await beating;
    const { rows } = await admin.query<{ since: number }>(
      `SELECT alive_since::int AS since FROM ${name}.inbox_owner`,
    );
    expect(rows).toEqual([{ since: 0 }]);
  },
);

testOnPostgres("an owner is removed only when none of its commits is in flight", async () => {
  const { schema, name, admin } = newSchema();
  const { pool, kill } = killablePool();
  onTestFinished(() => pool.end());
  const dead = await openStore(schema, pool as Pool);
  const living = await openStore(schema);
  await accept(dead, "evt_1", { state: "leased" });
  kill();
  const [{ id }, { id: livingId }] = (await ownersIn(admin, name)) as [OwnerRow, OwnerRow];
  // PostgreSQL still executes a commit of the dead process.
  const late = await hold(lockOf(name, id));
  // A heartbeat can have been on its way when the process died.
  await eventually("the take-over", async () =>
    (await sweep(living, admin, name, id)).includes("evt_1"),
  );
  await sweep(living, admin, name, id);
  expect(await ownersIn(admin, name)).toMatchObject([{ id }, { id: livingId }]);
  await late.end("COMMIT");
  await sweep(living, admin, name, id);
  expect(await ownersIn(admin, name)).toMatchObject([{ id: livingId }]);
});

testOnPostgres(
  "a process that ends while one of its commits is in flight stays an owner, so that others free its leases",
  async () => {
    const { schema, name, admin } = newSchema();
    const ending = await openStore(schema);
    const [{ id }] = (await ownersIn(admin, name)) as [OwnerRow];
    const late = await hold(lockOf(name, id));
    await ending.close(ENDPOINT);
    expect(await ownersIn(admin, name)).toMatchObject([{ id }]);
    await late.end("COMMIT");
    const living = await openStore(schema);
    await sweep(living, admin, name, id);
    expect((await ownersIn(admin, name)).map((owner) => owner.id)).not.toContain(id);
  },
);

testOnPostgres(
  "the lowest lease is known even while the commit of an older lease is in flight",
  async () => {
    const { schema, name, admin } = newSchema();
    const store = await openStore(schema);
    // The commit waits for this id after it has inserted its first event.
    const columns = "due_at, received_at, token, owner, state, endpoint, event_id, type, body_hash";
    const blocker = await hold(
      `INSERT INTO ${name}.inbox (${columns}) VALUES (0, 0, 0, 0, 'done', '${ENDPOINT}', 'evt_b', '', '')`,
    );
    const waiting = commit(store, {
      accepts: [newEvent("evt_a", { state: "leased" }), newEvent("evt_b")],
    });
    await blocker.blocks();
    const later = await accept(store, "evt_c", { state: "leased" });
    await sweep(store, admin, name);
    await blocker.end();
    const { accepts } = await waiting;
    const [owner] = (await ownersIn(admin, name)) as [OwnerRow];
    expect(accepts[0]?.seq).toBeLessThan(later.seq);
    expect(owner.low).toBeLessThanOrEqual(accepts[0]?.seq ?? NaN);
    // With no commit in flight it moves on, to the oldest lease.
    await settle(store, accepts[0] as Lease);
    await sweep(store, admin, name);
    expect((await ownersIn(admin, name))[0]?.low).toBe(later.seq);
  },
);

testOnPostgres(
  "after an outage, a process that recovers a failed commit judges no other process at once",
  async () => {
    const { schema, name, admin } = newSchema();
    const { pool, kill } = killablePool();
    onTestFinished(() => pool.end());
    const [first, other] = [await openStore(schema), await openStore(schema, pool as Pool)];
    await accept(other, "evt_1", { state: "leased" });
    // The database was away for a minute, and the other process has had no heartbeat since.
    kill();
    await admin.query(
      `UPDATE ${name}.inbox_owner SET beat_at = beat_at - 60000, alive_since = alive_since - 120000, swept_at = 0`,
    );
    await first.reclaim({ endpoint: ENDPOINT, held: [], crashed: false });
    expect(await claim(first)).toMatchObject({ events: [] });
    // What a claim frees, it may itself be too early to lease.
    expect(await stateOf(first, "evt_1")).toBe("leased");
  },
);

testOnPostgres(
  "a commit that waited for a lock judges other processes by the time after it",
  async () => {
    const { schema, name, admin } = newSchema();
    const [waiting, other] = [await openStore(schema), await openStore(schema)];
    const lease = await accept(waiting, "evt_1", { state: "leased" });
    await accept(other, "evt_2", { state: "leased" });
    const blocker = await hold(`SELECT FROM ${name}.inbox WHERE event_id = 'evt_1' FOR UPDATE`);
    await admin.query(`UPDATE ${name}.inbox_owner SET swept_at = 0`);
    const committed = commit(waiting, { settlements: [settlement(lease)], claim: claimRequest() });
    await blocker.blocks();
    // Six seconds pass, and both processes have their heartbeats.
    const later = Date.now() + 6000;
    await admin.query(
      `CREATE OR REPLACE FUNCTION ${name}.now_ms() RETURNS bigint LANGUAGE sql AS 'SELECT ${later}::bigint'`,
    );
    await eventually("the heartbeats", async () => {
      const { rows } = await admin.query(
        `SELECT FROM ${name}.inbox_owner WHERE beat_at = ${later}`,
      );
      return rows.length === 2;
    });
    await admin.query(`UPDATE ${name}.inbox_owner SET alive_since = 0`);
    await blocker.end();
    expect(await committed).toMatchObject({ settlements: [true], claim: { events: [] } });
    expect(await stateOf(waiting, "evt_2")).toBe("leased");
  },
);

testOnPostgres("when the database's clock is set back, nobody is taken for dead", async () => {
  const { schema, name, admin } = newSchema();
  const first = await openStore(schema);
  const other = await openStore(schema);
  const lease = await accept(other, "evt_1", { state: "leased" });
  // The last heartbeats were a minute later, by the clock as it was. The first process commits
  // before the next heartbeats.
  await admin.query(
    `UPDATE ${name}.inbox_owner SET beat_at = beat_at + 60000, alive_since = alive_since - 60000, swept_at = 0`,
  );
  expect(await claim(first)).toMatchObject({ events: [] });
  expect(await settle(other, lease)).toBe(true);
});

testOnPostgres(
  "a process that ends with an event in hand stays an owner until another has taken that over",
  async () => {
    const { schema, name, admin } = newSchema();
    const living = await openStore(schema);
    const ending = postgresStore({ pool: poolOfTest(), schema });
    await ending.open({ endpoint: ENDPOINT, clock: systemClock });
    await accept(ending, "evt_1", { state: "leased" });
    await ending.close(ENDPOINT);
    const [, left] = await ownersIn(admin, name);
    expect(left).toBeDefined();
    await eventually("the take-over", async () =>
      (await sweep(living, admin, name, left?.id)).includes("evt_1"),
    );
  },
);
