import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../../src/base/time/clock.js";
import type { Subject } from "../../../../src/cli/probe/doctor/examination.js";
import { examineDatabase } from "../../../../src/cli/probe/doctor/examine-database.js";
import { makePool, POSTGRES_URL, quotedName } from "../../../contract/postgres-medium.js";
import { testWith } from "../../../prerequisites.js";
import { callCli } from "../../call-cli.js";
import { hasPostgres, newSchema } from "../../fill-inbox.js";
import { rowsOf } from "../../run-cli.js";

const testOnPostgres = testWith(hasPostgres);

testOnPostgres("an inbox that a receiver has open is sound, and no file is examined", async () => {
  const place = newSchema();
  const store = place.createStore();
  await store.open({ endpoint: "default", clock: systemClock });
  onTestFinished(() => store.close("default"));
  const { stdout, stderr } = await callCli(["doctor", ...place.args], {
    env: { SIGNALS_SECRET: "" },
  });
  expect(stderr).toBe("");
  expect(stdout).toMatch(
    /^Inbox database\n {2}ok {7}PostgreSQL [\d.]+, schema .* \[inbox_database\]$/m,
  );
  expect(stdout).toMatch(/^ {2}ok {7}1 open with the endpoint default \[inbox_owner\]$/m);
  expect(stdout).not.toMatch(/Inbox file|inbox-file/);
});

testOnPostgres(
  "an inbox whose receiver died, one that no receiver has open, and a role that may only read",
  async () => {
    const place = newSchema();
    await place.createStore().open({ endpoint: "default", clock: systemClock });
    const admin = makePool(1);
    onTestFinished(() => admin.end());
    const name = quotedName(place.schema);
    const found = async (db = POSTGRES_URL): Promise<string[]> => {
      const findings = await examineDatabase({ db, schema: place.schema } as Subject);
      return findings
        .filter(({ level }) => level !== "ok")
        .map(({ id, found: text }) => `${id}: ${text}`);
    };
    expect(await found()).toEqual([]);
    expect(await found(`${POSTGRES_URL}?options=-c%20default_transaction_read_only%3Don`)).toEqual([
      expect.stringContaining("database_read_only"),
    ]);
    await admin.query(`INSERT INTO ${name}.inbox_owner (endpoint, beat_at, alive_since, swept_at, low_seq)
    VALUES ('orders', 0, 0, 0, 1)`);
    // Without leases it is harmless.
    expect(await found()).toEqual([]);
    await admin.query(`INSERT INTO ${name}.inbox
      (due_at, received_at, token, owner, state, endpoint, event_id, type, body_hash)
    SELECT 0, 0, 0, id, 'leased', 'orders', 'evt', '', '' FROM ${name}.inbox_owner WHERE endpoint = 'orders'`);
    expect(await found()).toEqual([expect.stringMatching(/^owner_dead: .*endpoint orders died/)]);
    await admin.query(`DELETE FROM ${name}.inbox_owner`);
    expect(await found()).toEqual([expect.stringContaining("inbox_not_owned")]);
  },
);

const PASSWORD = "tell-nobody";

test.each(["1", "port"])(
  "a database that does not answer is a problem, without the password: port %s",
  async (port) => {
    const run = await callCli([
      "doctor",
      "--db",
      `postgres://user:${PASSWORD}@127.0.0.1:${port}/x`,
      "--json",
    ]);
    const problems = rowsOf<{ level: string; id: string; fix: string }>(run).filter(
      ({ level }) => level === "problem",
    );
    expect(problems).toEqual([
      expect.objectContaining({ id: "inbox_not_readable", fix: expect.stringMatching(/./) }),
    ]);
    expect(run.stdout + run.stderr).not.toContain(PASSWORD);
  },
);

test("what looks like a connection string, but is none, is not examined as a file, and not repeated", async () => {
  const at = `postgres:${PASSWORD}@127.0.0.1/x`;
  for (const db of [
    `postgres:/${at}`,
    `postgres:${at}`,
    `postgress:/${at}`,
    `host=127.0.0.1 password=${PASSWORD}`,
  ]) {
    const run = await callCli(["doctor", "--db", db]);
    expect(run).toMatchObject({
      exitCode: 2,
      stdout: "",
      stderr: expect.stringContaining("--db is no file"),
    });
    expect(run.stderr).not.toContain(PASSWORD);
  }
});

testOnPostgres("a schema without an inbox is a problem, and is not made", async () => {
  const run = await callCli(["doctor", ...newSchema().args]);
  expect(run.lines.at(-1)).toBe("1 problem: inbox_not_ours");
});
