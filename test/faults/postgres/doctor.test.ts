import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "pg";
import { expect, onTestFinished } from "vitest";
import { examineDatabase } from "../../../src/cli/commands/doctor/examine-database.js";
import type { Subject } from "../../../src/cli/commands/doctor/examination.js";
import { postgresStore } from "../../../src/stores/postgres/postgres-store.js";
import { systemClock } from "../../../src/time/clock.js";
import { makeOwnPostgres, POSTGRES_BINARIES, type OwnPostgres } from "../../own-postgres.js";
import { testWith } from "../../prerequisites.js";
import { eventually } from "../eventually.js";

const testOnServer = testWith(POSTGRES_BINARIES !== undefined);

/** Receives the server's log of changes, as a standby does. */
function startStandby({ port }: OwnPostgres): { stop(): Promise<void> } {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-wal-"));
  const args = ["-h", "127.0.0.1", "-p", String(port), "-U", "postgres", "-D", folder, "--synchronous", "--no-loop"];
  const child = spawn(join(POSTGRES_BINARIES as string, "pg_receivewal"), args, { stdio: "ignore" });
  return {
    async stop() {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

testOnServer(
  "the doctor finds what is wrong with a PostgreSQL, and nothing with a sound one",
  { timeout: 120_000 },
  async () => {
    const server = await makeOwnPostgres([
      "max_prepared_transactions=2",
      "max_connections=20",
      "autovacuum_naptime=1d",
    ]);
    onTestFinished(() => server.remove());
    const url = `postgres://postgres@127.0.0.1:${server.port}/postgres`;
    const admin = new Pool({ connectionString: url, max: 1, application_name: "report" });
    onTestFinished(() => admin.end());
    const store = postgresStore({ connectionString: url });
    await store.open({ endpoint: "default", clock: systemClock });
    onTestFinished(() => store.close("default"));

    const found = async (db = url, longSeconds?: number): Promise<[string, string][]> => {
      const findings = await examineDatabase({ db } as Subject, longSeconds);
      return findings.filter(({ level }) => level !== "ok").map(({ id, found: text }) => [id, text]);
    };
    /** Waits, because statistics and settings take effect a little later. */
    const finds = (...expected: readonly [string, string][]): Promise<void> =>
      eventually(`the doctor finds ${expected.map(([id]) => id).join(", ") || "nothing"}`, async () => {
        const all = await found();
        return (
          all.length === expected.length &&
          all.every(([id, text], index) => id === expected[index]?.[0] && text.includes(expected[index][1]))
        );
      });
    const set = async (setting: string): Promise<void> => {
      await admin.query(`ALTER SYSTEM ${setting}`);
      await admin.query("SELECT pg_reload_conf()");
    };
    await finds();

    // Replication.
    const standby = startStandby(server);
    await finds(["failover_loses", "(1 connected)"]);
    await set("SET synchronous_standby_names = '*'");
    await finds();
    const failover = async (db: string) =>
      (await examineDatabase({ db } as Subject)).find(({ id }) => id === "failover")?.found;
    expect(await failover(url)).toContain("a failover loses none");
    expect(await failover(`${url}?options=-c%20synchronous_commit%3Dremote_write`)).toContain(
      "its own machine crashes",
    );
    await standby.stop();
    await finds(["standby_missing", "503"]);
    await set("RESET synchronous_standby_names");
    await finds();

    // Settings.
    for (const [setting, ...expected] of [
      ["fsync", "database_not_durable", "fsync"],
      ["full_page_writes", "database_not_durable", "full_page_writes"],
      ["autovacuum", "autovacuum_off", "inbox"],
      ["synchronous_commit"],
    ] as const) {
      await set(`SET ${setting} = off`);
      await finds(...(expected.length === 2 ? [expected as [string, string]] : []));
      await set(`RESET ${setting}`);
    }
    expect(await found(`${url}?options=-c%20default_transaction_read_only%3Don`)).toEqual([
      ["database_read_only", "default_transaction_read_only is on for this role"],
    ]);

    // What keeps the old versions of rows.
    await admin.query("BEGIN; CREATE TABLE left_open (); PREPARE TRANSACTION 'forgotten'");
    expect(await found(url, 0)).toEqual([
      ["vacuum_held_back", expect.stringMatching(/^a prepared transaction, forgotten, /)],
    ]);
    expect(await found()).toEqual([]);
    await admin.query("ROLLBACK PREPARED 'forgotten'");
    await admin.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT txid_current()");
    expect(await found(url, 0)).toEqual([
      ["vacuum_held_back", expect.stringMatching(/^a transaction, of pid \d+ \(postgres, report\), /)],
    ]);
    await admin.query("ROLLBACK");
    expect(await found(url, 0)).toEqual([]);
    await admin.query(`CREATE ROLE "see none"; GRANT USAGE ON SCHEMA signalbox TO "see none";
      GRANT SELECT ON ALL TABLES IN SCHEMA signalbox TO "see none"`);
    const seen = await examineDatabase({ db: `${url}?options=-c%20role%3Dsee%5C%20none` } as Subject);
    const unseen = seen.find(({ level }) => level !== "ok");
    expect(unseen).toMatchObject({
      level: "skipped",
      id: "vacuum_held_back",
      fix: 'Run: GRANT pg_read_all_stats TO "see none"',
    });

    // Dead rows.
    await admin.query(`INSERT INTO signalbox.inbox (due_at, received_at, token, owner, state, endpoint, event_id, type, body_hash)
    SELECT 0, 0, 0, 0, 'done', 'default', n::text, '', '' FROM generate_series(1, 12000) n`);
    await admin.query("DELETE FROM signalbox.inbox");
    await finds(["inbox_bloated", "inbox has 12000 dead rows and 0 live ones; it was never vacuumed"]);
    await admin.query("VACUUM signalbox.inbox");
    await finds();

    // Connections and owners.
    const clients: { release(): void }[] = [];
    const many = new Pool({ connectionString: url, max: 15 });
    for (let count = 0; count < 15; count++) clients.push(await many.connect());
    await finds(["connections_low", "of 17 connections"]);
    for (const client of clients) client.release();
    await many.end();
    await finds();
    await admin.query(
      "INSERT INTO signalbox.inbox_owner (endpoint, beat_at, alive_since, swept_at, low_seq) VALUES ('orders', 0, 0, 0, 1)",
    );
    // Without leases it is harmless.
    await finds();
    await admin.query(`INSERT INTO signalbox.inbox (due_at, received_at, token, owner, state, endpoint, event_id, type, body_hash)
    SELECT 0, 0, 0, id, 'leased', 'orders', 'evt', '', '' FROM signalbox.inbox_owner WHERE endpoint = 'orders'`);
    await finds(["owner_dead", "endpoint orders died"]);
    await admin.query("DELETE FROM signalbox.inbox_owner WHERE endpoint = 'orders'");
    await store.close("default");
    await finds(["inbox_not_owned", "no receiver"]);
  },
);
