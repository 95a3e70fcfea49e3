import { Pool } from "pg";
import { expect, onTestFinished } from "vitest";
import { systemClock } from "../../../src/base/time/clock.js";
import type { Batch } from "../../../src/kit/inbox/batch.js";
import type { InboxStore } from "../../../src/kit/index.js";
import { postgresStore } from "../../../src/kit/stores/postgres/postgres-store.js";
import { makeOwnPostgres, POSTGRES_BINARIES } from "../../own-postgres.js";
import { testWith } from "../../prerequisites.js";
import { eventually } from "../eventually.js";
import { ENDPOINT } from "./open-stores.js";

const BODY = Buffer.from("{}");
const BATCH: Batch = {
  endpoint: ENDPOINT,
  settlements: [],
  accepts: [
    {
      eventId: "sig_1",
      type: "signal.published",
      state: "ready",
      leaseMs: null,
      received: { at: 0, headers: {} },
      bodyHash: Buffer.alloc(32),
      body: BODY,
      reason: null,
      subtype: null,
      subject: null,
      sender: null,
      contentKey: null,
      possiblyRepeated: false,
    },
  ],
  claim: null,
};

testWith(POSTGRES_BINARIES !== undefined)(
  "an event that a synchronous standby does not have is not acknowledged, not as a duplicate either",
  async () => {
    const server = await makeOwnPostgres();
    onTestFinished(() => server.remove());
    // A role may be set so that it gets no warnings, and that its commits wait for no standby.
    const options = "-c client_min_messages=error -c synchronous_commit=local";
    const pool = new Pool({
      host: "127.0.0.1",
      port: server.port,
      user: "postgres",
      max: 8,
      options,
    });
    pool.on("error", () => {});
    onTestFinished(() => pool.end());
    const store: InboxStore = postgresStore({ pool });
    await store.open({ endpoint: ENDPOINT, clock: systemClock });
    onTestFinished(() => store.close(ENDPOINT));

    async function setStandby(name: string): Promise<void> {
      await pool.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
      await pool.query("SELECT pg_reload_conf()");
      await eventually("the setting", async () => {
        const { rows } = await pool.query<{ name: string }>(
          "SELECT current_setting('synchronous_standby_names') AS name",
        );
        return rows[0]?.name === name;
      });
    }

    /** Commits, and ends the wait for the standby with this function. */
    async function commitAndEnd(
      how: "pg_terminate_backend" | "pg_cancel_backend",
    ): Promise<unknown> {
      let ended = false;
      const committed = store.commit(BATCH).finally(() => (ended = true));
      committed.catch(() => {});
      await eventually("a wait for the standby", async () => {
        const { rowCount } = await pool.query(
          `SELECT ${how}(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%commit_batch%'`,
        );
        return ended || rowCount === 1;
      });
      return committed;
    }

    // No standby has this name.
    await setStandby("absent");
    await expect(commitAndEnd("pg_terminate_backend")).rejects.toMatchObject({
      code: "store_failed",
    });
    // Now the event is in the table, but a failover would lose it.
    await expect(commitAndEnd("pg_terminate_backend")).rejects.toMatchObject({
      code: "store_failed",
    });
    // PostgreSQL says of a cancelled wait that the statement worked, with a warning.
    await expect(commitAndEnd("pg_cancel_backend")).rejects.toMatchObject({ code: "store_failed" });
    await setStandby("");
    await expect(store.commit(BATCH)).resolves.toMatchObject({
      accepts: [{ status: "duplicate" }],
    });
  },
);
