import { randomUUID } from "node:crypto";
import { Pool } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/base/time/clock.js";
import { postgresStore } from "../../../src/kit/stores/postgres/postgres-store.js";
import { accept, claim } from "../../contract/cases/store-case.js";
import { POSTGRES_URL, quotedName } from "../../contract/postgres-medium.js";
import { testWith } from "../../prerequisites.js";
import { callCli } from "../call-cli.js";
import { fill, hasPostgres, newSchema } from "../fill-inbox.js";
import { ndjson, type CliRun } from "../run-cli.js";

const testOnPostgres = testWith(hasPostgres);

function onServer(): Pool {
  const pool = new Pool({ connectionString: POSTGRES_URL, max: 1 });
  onTestFinished(() => pool.end());
  return pool;
}

const inbox = (args: readonly string[], name: string, ...others: string[]): Promise<CliRun> =>
  callCli(["inbox", name, ...args, ...others]);

testOnPostgres(
  "an inbox that is not there is exit 3 with one line, and nothing is made",
  async () => {
    const { args, schema } = newSchema();
    const admin = onServer();
    for (const name of ["ls", "stats", "export", "prune"]) {
      const run = await inbox(args, name);
      expect(run).toMatchObject({ exitCode: 3, stdout: "" });
      expect(run.stderr).toMatch(
        /^signalbox inbox \w+: There is no inbox in the schema .*\. Pass the database .*\.\n$/,
      );
    }
    const receiverStore = postgresStore({
      connectionString: POSTGRES_URL,
      schema,
      create: false,
    });
    const opening = receiverStore.open({ endpoint: "default", clock: systemClock });
    await expect(opening).rejects.toMatchObject({ code: "store_unsupported" });
    const { rows } = await admin.query("SELECT FROM pg_namespace WHERE nspname = $1", [schema]);
    expect(rows).toEqual([]);
  },
);

testOnPostgres(
  "a role that may only read lists, shows, exports and counts, as on a standby",
  async () => {
    const place = newSchema();
    await fill(place, [{ eventId: "evt_done" }, { eventId: "evt_dead", state: "dead" }]);
    const admin = onServer();
    const roleName = `signalbox_${randomUUID()}`;
    const role = quotedName(roleName);
    const name = quotedName(place.schema);
    await admin.query(`CREATE ROLE ${role}; GRANT USAGE ON SCHEMA ${name} TO ${role};
    GRANT SELECT ON ALL TABLES IN SCHEMA ${name} TO ${role}; GRANT SELECT ON ALL SEQUENCES IN SCHEMA ${name} TO ${role}`);
    const options = encodeURIComponent(`-c role=${roleName} -c default_transaction_read_only=on`);
    const args = ["--db", `${POSTGRES_URL}?options=${options}`, ...place.args.slice(2)];
    try {
      const lines = async (command: string) => (await inbox(args, command)).lines.length;
      expect(await lines("ls")).toBe(3);
      expect(await lines("export")).toBe(2);
      expect(await inbox(args, "show", "evt_dead", "--payload")).toMatchObject({ exitCode: 0 });
      expect(ndjson(await inbox(args, "stats", "--json"))[0]).toMatchObject({ dead: 1, total: 2 });
      expect(await inbox(args, "retry", "evt_dead")).toMatchObject({
        exitCode: 3,
        stderr: expect.stringMatching(/^signalbox inbox retry: .*(42501|25006).*\n$/),
      });
    } finally {
      await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
  },
);

testOnPostgres("a command is no owner: it frees no lease, and leaves no trace", async () => {
  const place = newSchema();
  const store = place.createStore();
  await store.open({ endpoint: "default", clock: systemClock });
  onTestFinished(() => store.close("default"));
  await accept(store, "evt_leased", { state: "leased", leaseMs: 0 });
  const admin = onServer();
  const name = quotedName(place.schema);
  const owners = async () => (await admin.query(`SELECT id FROM ${name}.inbox_owner`)).rows;
  const before = await owners();
  // Leases of an owner that does not live are those that a receiver would free.
  await admin.query(`UPDATE ${name}.inbox SET owner = 99`);
  for (const command of ["ls", "stats", "export", "prune"]) await inbox(place.args, command);
  expect(ndjson(await inbox(place.args, "ls", "--json"))[0]).toMatchObject({
    state: "leased",
    crashes: 0,
  });
  expect(await owners()).toEqual(before);
  const tool = postgresStore({
    connectionString: POSTGRES_URL,
    schema: place.schema,
    operator: true,
  });
  await tool.open({ endpoint: "default", clock: systemClock });
  await expect(claim(tool)).rejects.toMatchObject({ code: "store_unsupported" });
  await tool.close("default");
});

testOnPostgres("prune reaches the end of a table with large gaps", async () => {
  const place = newSchema();
  const skipTo = (seq: number) =>
    onServer().query(`ALTER TABLE ${quotedName(place.schema)}.inbox ALTER seq RESTART WITH ${seq}`);
  await fill(place, [{ eventId: "evt_new" }]);
  await skipTo(350_000);
  await fill(place, [{ eventId: "evt_old", ageDays: 40 }]);
  await skipTo(700_000);
  await fill(place, [{ eventId: "evt_newer" }]);
  expect((await inbox(place.args, "prune")).stdout).toBe("deleted 1 payloads and 1 ids\n");
});

const PASSWORD = "tell-nobody";
const AT = `user:${PASSWORD}@127.0.0.1`;

test.each([
  ["nothing listens", [`postgres://${AT}:1/x`], /ECONNREFUSED/],
  ["no URL", [`postgres://${AT}:port/x`], /ERR_INVALID_URL.*is no URL/],
  ["another database", [`mysql://${AT}/x`], /--db is no file/],
  ["another notation", [`host=127.0.0.1 password = ${PASSWORD}`], /--db is no file/],
  ["no scheme", [`${AT}/x`], /--db is no file/],
  ["half a scheme", [`postgres:${AT}/x`], /--db is no file/],
  ["a wrong schema", [`postgres://${AT}:1/x`, "--schema", "pg_x"], /schema/],
])("no error shows the password: %s", async (_name, db, says) => {
  for (const command of [
    ["inbox", "ls"],
    ["inbox", "import", "--create"],
  ]) {
    const run = await callCli([...command, "--db", ...db]);
    expect(run.exitCode).toBeGreaterThan(1);
    expect(run.stderr).toMatch(says);
    expect(run.stdout + run.stderr).not.toContain(PASSWORD);
  }
});

test("--schema is refused for a file", async () => {
  const run = await callCli(["inbox", "ls", "--db", "signals.db", "--schema", "other"]);
  expect(run).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("--schema needs a database"),
  });
});
