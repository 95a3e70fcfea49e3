import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/time/clock.js";
import { testWith } from "../../prerequisites.js";
import { callCli } from "../call-cli.js";
import { hasPostgres, newSchema } from "../fill-inbox.js";
import { rowsOf } from "../run-cli.js";

const testOnPostgres = testWith(hasPostgres);

testOnPostgres("an inbox that a receiver has open is sound, and no file is examined", async () => {
  const place = newSchema();
  const store = place.createStore();
  await store.open({ endpoint: "default", clock: systemClock });
  onTestFinished(() => store.close("default"));
  const { stdout, stderr } = await callCli(["doctor", ...place.args], { env: { SIGNALS_SECRET: "" } });
  expect(stderr).toBe("");
  expect(stdout).toMatch(/^Inbox database\n {2}ok {7}PostgreSQL [\d.]+, schema .* \[inbox_database\]$/m);
  expect(stdout).toMatch(/^ {2}ok .*\[inbox_durability\]\n {2}ok .*\[failover\]$/m);
  expect(stdout).toMatch(/^ {2}ok {7}1 open with the endpoint default \[inbox_owner\]$/m);
  expect(stdout).not.toMatch(/Inbox file|inbox-file/);
});

const PASSWORD = "tell-nobody";

test.each([
  [[`postgres://user:${PASSWORD}@127.0.0.1:1/x`], "inbox_not_readable"],
  [[`postgres://user:${PASSWORD}@127.0.0.1:port/x`], "inbox_not_readable"],
])("a database that does not answer is a problem, without the password: %j", async (db, id) => {
  const run = await callCli(["doctor", "--db", ...db, "--json"]);
  const problems = rowsOf<{ level: string; id: string; fix: string }>(run).filter(({ level }) => level === "problem");
  expect(problems).toEqual([expect.objectContaining({ id, fix: expect.stringMatching(/./) })]);
  expect(run.stdout + run.stderr).not.toContain(PASSWORD);
});

test("what looks like a connection string, but is none, is not examined as a file, and not repeated", async () => {
  const at = `postgres:${PASSWORD}@127.0.0.1/x`;
  for (const db of [`postgres:/${at}`, `postgres:${at}`, `postgress:/${at}`, `host=127.0.0.1 password=${PASSWORD}`]) {
    const run = await callCli(["doctor", "--db", db]);
    expect(run).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining("--db is no file") });
    expect(run.stderr).not.toContain(PASSWORD);
  }
});

testOnPostgres("a schema without an inbox is a problem, and is not made", async () => {
  const run = await callCli(["doctor", ...newSchema().args]);
  expect(run.lines.at(-1)).toBe("1 problem: inbox_not_ours");
});
