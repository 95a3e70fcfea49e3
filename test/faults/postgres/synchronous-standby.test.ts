import { Pool } from "pg";
import { expect, onTestFinished } from "vitest";
import { postgresStore } from "../../../src/kit/stores/postgres/postgres-store.js";
import { commit, newEvent } from "../../contract/cases/store-case.js";
import { makeOwnPostgres, POSTGRES_BINARIES } from "../../own-postgres.js";
import { testWith } from "../../prerequisites.js";
import { eventually } from "../eventually.js";
import { CONTEXT, ENDPOINT } from "./open-stores.js";

const accepts = [newEvent("evt_1")];

testWith(POSTGRES_BINARIES !== undefined)(
  "an event that a synchronous standby does not have is not acknowledged, not as a duplicate either",
  async () => {
    const server = await makeOwnPostgres();
    onTestFinished(() => server.remove());
    // A role may be set so that it gets no warnings, and that its commits wait for no standby.
    const options = "-c client_min_messages=error -c synchronous_commit=local";
    const user = { host: "127.0.0.1", port: server.port, user: "postgres" };
    const pool = new Pool({ ...user, max: 8, options });
    pool.on("error", () => {});
    onTestFinished(() => pool.end());
    const store = postgresStore({ pool });
    await store.open(CONTEXT);
    onTestFinished(() => store.close(ENDPOINT));

    /** A session sees the setting before commits wait: the checkpointer tells them later. */
    async function doCommitsWait(): Promise<boolean> {
      const client = await pool.connect();
      await client.query("SET synchronous_commit = on");
      let ended = false;
      const write = client
        .query("SELECT pg_logical_emit_message(true, 'probe', '')")
        .finally(() => (ended = true));
      let hasWaited = false;
      await eventually("the probe's commit, or its wait", async () => {
        const { rowCount } = await pool.query(
          "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%(true, ''probe''%'",
        );
        hasWaited = rowCount === 1;
        return ended || hasWaited;
      });
      await write;
      client.release(true);
      return hasWaited;
    }

    async function setStandby(name: string): Promise<void> {
      await pool.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
      await pool.query("SELECT pg_reload_conf()");
      await eventually("commits that wait as it is set", async () => {
        return (await doCommitsWait()) === (name !== "");
      });
    }

    /** Commits, and ends the wait for the standby with this function. */
    async function expectUnacknowledged(how: "terminate" | "cancel"): Promise<void> {
      let ended = false;
      const committed = commit(store, { accepts }).finally(() => (ended = true));
      const refused = expect(committed).rejects.toMatchObject({ code: "store_failed" });
      await eventually("a wait for the standby", async () => {
        const { rowCount } = await pool.query(
          `SELECT pg_${how}_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%commit_batch%'`,
        );
        return ended || rowCount === 1;
      });
      await refused;
    }

    // No standby has this name.
    await setStandby("absent");
    await expectUnacknowledged("terminate");
    // Now the event is in the table, but a failover would lose it.
    await expectUnacknowledged("terminate");
    // PostgreSQL says of a cancelled wait that the statement worked, with a warning.
    await expectUnacknowledged("cancel");
    await setStandby("");
    expect((await commit(store, { accepts })).accepts).toMatchObject([{ status: "duplicate" }]);
  },
);
