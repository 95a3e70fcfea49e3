import type { Client } from "pg";
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
  type Lease,
} from "../../contract/cases/store-case.js";
import { makePool } from "../../contract/postgres-medium.js";
import { eventually } from "../eventually.js";
import { ENDPOINT, poolOfTest, takeForDead, testOnDatabase } from "./open-stores.js";

/** A transaction of the application, which ends with the test. */
async function begin(): Promise<Client> {
  const client = await poolOfTest(1).connect();
  await client.query("BEGIN");
  onTestFinished(() => client.release(true));
  return client;
}

/** @returns the code of the error, if it fails */
function complete(client: Client, { completeSql }: InboxStore, lease: Lease): Promise<string> {
  return client.query(completeSql?.(lease) ?? "").then(
    () => "completed",
    ({ code }: { code: string }) => code,
  );
}

testOnDatabase(
  "the event is done if the transaction commits, and still leased if it rolls back",
  async ({ open }) => {
    const store = await open();
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

testOnDatabase(
  "it fails once the lease has ended: completed, replayed, taken over or settled",
  async ({ open }) => {
    const store = await open();
    const lease = await accept(store, "evt_1", { state: "leased" });
    const client = await begin();
    async function tried(of: Lease, end: "COMMIT" | "ROLLBACK" = "ROLLBACK"): Promise<string> {
      const said = await complete(client, store, of);
      await client.query(`${end}; BEGIN`);
      return said;
    }
    expect(await complete(client, store, lease)).toBe("completed");
    expect(await tried(lease)).toBe("SBX02");
    expect(await tried(lease, "COMMIT")).toBe("completed");
    expect(await tried(lease)).toBe("SBX02");
    await store.replay([{ endpoint: ENDPOINT, eventId: "evt_1" }], () => null);
    expect(await tried(lease)).toBe("SBX02");
    const again = await claimOne(store);
    expect(await tried(lease)).toBe("SBX02");
    expect(await settle(store, again, { state: "ready" })).toBe(true);
    expect(await tried(again)).toBe("SBX02");
    expect(await tried(await claimOne(store))).toBe("completed");
  },
);

testOnDatabase(
  "nothing of the inbox waits for a transaction that has completed an event and is still open",
  async (database) => {
    const { store: killed, kill } = await database.openKillable();
    // Its statements fail when they wait for a lock.
    const store = await database.open(poolOfTest(4, "-c lock_timeout=300"));
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
    const accepts = [...ids, "evt_new"].map((id) => newEvent(id));
    const result = await commit(store, { settlements, accepts });
    expect(result.settlements).toEqual(["locked", true, "locked"]);
    const duplicate = { status: "duplicate", sameBody: true, otherThan: null };
    expect(result.accepts).toMatchObject([duplicate, duplicate, duplicate, { status: "accepted" }]);
    // All leases have expired, nobody holds them, and a process is dead.
    kill();
    const sweep = async (): Promise<string[]> => {
      await takeForDead(database, ids[2]);
      return idsOf((await claim(store)).events).sort();
    };
    expect(await sweep()).toEqual(["evt_new"]);
    const reclaimed = await store.reclaim({ endpoint: ENDPOINT, held: [], crashed: false });
    expect(reclaimed).toMatchObject({ freed: 1 });
    const keys = ids.map((eventId) => ({ endpoint: ENDPOINT, eventId }));
    expect(await store.replay(keys, () => null)).toEqual(ids.map(() => "wrong_state"));
    expect(await store.discard(keys)).toEqual(ids.map(() => "wrong_state"));
    const ages = { payloadsOlderThanMs: -1e6, keysOlderThanMs: 1e9 };
    await store.prune({ endpoint: ENDPOINT, ...ages, limit: 10 });

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

testOnDatabase(
  "another role needs the right to use the schema, and gets no other with it",
  async ({ name, schema, sql, open }) => {
    const store = await open();
    const lease = await accept(store, "evt_1", { state: "leased" });
    const client = await begin();
    const role = `"app of ${schema.replaceAll('"', "")}"`;
    await sql(`CREATE ROLE ${role}; GRANT USAGE ON SCHEMA ${name} TO ${role}`);
    onTestFinished(async () => {
      const cleaner = makePool(1);
      await cleaner.query(`DROP SCHEMA ${name} CASCADE; DROP ROLE ${role}`);
      await cleaner.end();
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
