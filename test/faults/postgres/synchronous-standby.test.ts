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

    async function setStandby(name: string): Promise<void> {
      await pool.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
      await pool.query("SELECT pg_reload_conf()");
      const isSet = `SELECT FROM pg_settings WHERE name = 'synchronous_standby_names' AND setting = '${name}'`;
      await eventually("the setting", async () => (await pool.query(isSet)).rowCount === 1);
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
