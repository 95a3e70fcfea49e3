import type { Client, Pool } from "pg";
import { expect, onTestFinished } from "vitest";
import type { InboxStore } from "../../../src/kit/index.js";
import {
  accept,
  claim,
  claimOne,
  commit,
  idsOf,
  newEvent,
  settle,
  settlement,
  stateOf,
} from "../../contract/cases/store-case.js";
import { killablePool, makePool } from "../../contract/postgres-medium.js";
import { eventually } from "../eventually.js";
import {
  ENDPOINT,
  newSchema,
  openStore,
  poolOfTest,
  takeForDead,
  testOnPostgres,
} from "./open-stores.js";

type Lease = Parameters<NonNullable<InboxStore["completeSql"]>>[0];

/** A transaction of the application, which ends with the test. */
async function begin(): Promise<Client> {
  const client = await poolOfTest(1).connect();
  await client.query("BEGIN");
  onTestFinished(() => client.release(true));
  return client;
}

function complete(client: Client, store: InboxStore, lease: Lease): Promise<string> {
  return client.query(store.completeSql?.(lease) ?? "").then(
    () => "completed",
    ({ code }: { code: string }) => code,
  );
}

/** Its statements fail when they wait for a lock. */
function impatientPool(): Pool {
  const pool = makePool(4, "-c lock_timeout=300");
  onTestFinished(() => pool.end());
  return pool;
}

testOnPostgres(
  "the event is done if the transaction commits, and still leased if it rolls back",
  async () => {
    const { schema } = newSchema();
    const store = await openStore(schema);
    const born = await accept(store, "evt_born", { state: "leased" });
    await accept(store, "evt_claimed");
    for (const lease of [born, await claimOne(store)]) {
      const id = lease.seq === born.seq ? "evt_born" : "evt_claimed";
      const client = await begin();
      expect(await complete(client, store, lease)).toBe("completed");
      await client.query("ROLLBACK; BEGIN");
      expect(await stateOf(store, id)).toBe("leased");
      expect(await complete(client, store, lease)).toBe("completed");
      await client.query("COMMIT");
      expect(await store.get(ENDPOINT, id)).toMatchObject({ state: "done", attempts: 1 });
      expect(await settle(store, lease, { mayBeCompleted: true })).toBe(true);
      for (const state of ["ready", "dead"] as const) {
        expect(await settle(store, lease, { state, mayBeCompleted: true })).toBe("completed");
      }
      expect(await stateOf(store, id)).toBe("done");
    }
  },
);

testOnPostgres(
  "it fails once the lease has ended: settled, completed, taken over or replayed",
  async () => {
    const { schema } = newSchema();
    const store = await openStore(schema);
    const lease = await accept(store, "evt_1", { state: "leased" });
    const client = await begin();
    expect(await complete(client, store, lease)).toBe("completed");
    expect(await complete(client, store, lease)).toBe("SBX02");
    await client.query("ROLLBACK; BEGIN");
    expect(await complete(client, store, lease)).toBe("completed");
    await client.query("COMMIT; BEGIN");
    expect(await complete(client, store, lease)).toBe("SBX02");
    await client.query("ROLLBACK; BEGIN");
    await store.replay([{ endpoint: ENDPOINT, eventId: "evt_1" }], () => null);
    expect(await complete(client, store, lease)).toBe("SBX02");
    await client.query("ROLLBACK; BEGIN");
    const again = await claimOne(store);
    expect(await complete(client, store, lease)).toBe("SBX02");
    await client.query("ROLLBACK; BEGIN");
    expect(await settle(store, again, { state: "ready" })).toBe(true);
    expect(await complete(client, store, again)).toBe("SBX02");
    await client.query("ROLLBACK");
    expect(await complete(client, store, await claimOne(store))).toBe("completed");
  },
);

testOnPostgres(
  "nothing of the inbox waits for a transaction that has completed an event and is still open",
  async () => {
    const { schema, name, admin } = newSchema();
    const { pool, kill } = killablePool();
    onTestFinished(() => pool.end());
    const killed = await openStore(schema, pool as Pool);
    const store = await openStore(schema, impatientPool());
    const client = await begin();
    const ids = ["evt_born", "evt_claimed", "evt_killed"] as const;
    await accept(store, ids[1]);
    const claimed = await claimOne(store, { leaseMs: 0 });
    const born = await accept(store, ids[0], { state: "leased", leaseMs: 0 });
    const lost = await accept(killed, ids[2], { state: "leased" });
    for (const lease of [born, claimed, lost])
      expect(await complete(client, store, lease)).toBe("completed");

    // The callback failed, was too slow, or resolved before its transaction ended.
    const other = await accept(store, "evt_other", { state: "leased" });
    const settlements = [
      settlement(born, { state: "ready", mayBeCompleted: true }),
      settlement(other),
      settlement(claimed, { mayBeCompleted: true }),
    ];
    const accepts = [...ids.map((id) => newEvent(id)), newEvent("evt_new")];
    const result = await commit(store, { settlements, accepts });
    expect(result.settlements).toEqual(["locked", true, "locked"]);
    const duplicate = { status: "duplicate", sameBody: true, otherThan: null };
    expect(result.accepts).toMatchObject([duplicate, duplicate, duplicate, { status: "accepted" }]);
    // All leases have expired, nobody holds them, and a process is dead.
    kill();
    const sweep = async (): Promise<string[]> => {
      await takeForDead(admin, name, ids[2]);
      return idsOf((await claim(store)).events).sort();
    };
    expect(await sweep()).toEqual(["evt_new"]);
    expect(await store.reclaim({ endpoint: ENDPOINT, held: [], crashed: false })).toMatchObject({
      freed: 1,
    });
    const keys = ids.map((eventId) => ({ endpoint: ENDPOINT, eventId }));
    expect(await store.replay(keys, () => null)).toEqual(ids.map(() => "wrong_state"));
    expect(await store.discard(keys)).toEqual(ids.map(() => "wrong_state"));
    await store.prune({
      endpoint: ENDPOINT,
      payloadsOlderThanMs: -1e6,
      keysOlderThanMs: 1e9,
      limit: 10,
    });

    // Afterwards each goes its way.
    await client.query("ROLLBACK");
    expect((await commit(store, { settlements })).settlements).toEqual([true, true, true]);
    // A sweep leaves out a row that is locked, as that of the dead process by its last heartbeat.
    const found = new Set<string>();
    await eventually("each is claimed", async () => {
      for (const id of await sweep()) found.add(id);
      return found.size === 3;
    });
  },
);

testOnPostgres(
  "another role needs the right to use the schema, and gets no other with it",
  async () => {
    const { schema, name, admin } = newSchema();
    const store = await openStore(schema);
    const lease = await accept(store, "evt_1", { state: "leased" });
    const client = await begin();
    const role = `"app of ${schema.replaceAll('"', '""')}"`.slice(0, 60).replace(/"?$/, '"');
    await admin.query(`CREATE ROLE ${role}; GRANT USAGE ON SCHEMA ${name} TO ${role}`);
    onTestFinished(async () => {
      const cleaner = poolOfTest(1);
      await cleaner.query(`DROP SCHEMA ${name} CASCADE; DROP ROLE ${role}`);
    });
    await client.query(`SET LOCAL ROLE ${role}`);
    expect(await complete(client, store, lease)).toBe("completed");
    await client.query("SAVEPOINT before");
    for (const statement of [`SELECT seq FROM ${name}.inbox`, `SELECT ${name}.free_own(1, '{}')`]) {
      await expect(client.query(statement)).rejects.toMatchObject({ code: "42501" });
      await client.query("ROLLBACK TO before");
    }
    await client.query("COMMIT");
    expect(await stateOf(store, "evt_1")).toBe("done");
  },
);
