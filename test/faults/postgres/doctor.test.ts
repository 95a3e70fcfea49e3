import { Pool } from "pg";
import { expect, onTestFinished } from "vitest";
import { systemClock } from "../../../src/base/time/clock.js";
import type { Subject } from "../../../src/cli/probe/doctor/examination.js";
import { examineDatabase } from "../../../src/cli/probe/doctor/examine-database.js";
import { postgresStore } from "../../../src/kit/stores/postgres/postgres-store.js";
import { makeOwnPostgres, POSTGRES_BINARIES } from "../../own-postgres.js";
import { testWith } from "../../prerequisites.js";
import { eventually } from "../eventually.js";

const testOnServer = testWith(POSTGRES_BINARIES !== undefined);

testOnServer(
  "the doctor names the settings of PostgreSQL that lose events",
  { timeout: 60_000 },
  async () => {
    const server = await makeOwnPostgres([]);
    onTestFinished(() => server.remove());
    const url = `postgres://postgres@127.0.0.1:${server.port}/postgres`;
    const admin = new Pool({ connectionString: url, max: 1 });
    onTestFinished(() => admin.end());
    const store = postgresStore({ connectionString: url });
    await store.open({ endpoint: "default", clock: systemClock });
    onTestFinished(() => store.close("default"));

    const found = async (db = url): Promise<string[][]> => {
      const findings = await examineDatabase({ db } as Subject);
      return findings
        .filter(({ level }) => level !== "ok")
        .map(({ level, id, found: text }) => [level, id, text]);
    };
    expect(await found()).toEqual([]);
    for (const [setting, level] of [
      ["fsync", "problem"],
      ["full_page_writes", "warning"],
    ] as const) {
      await admin.query(`ALTER SYSTEM SET ${setting} = off`);
      await admin.query("SELECT pg_reload_conf()");
      // A setting takes effect a little after the reload.
      await eventually(`the doctor names ${setting}`, async () => (await found()).length > 0);
      expect(await found()).toEqual([
        [level, "database_not_durable", expect.stringContaining(setting)],
      ]);
      await admin.query(`ALTER SYSTEM RESET ${setting}`);
    }
  },
);
