import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../../src/base/time/clock.js";
import { makePool, POSTGRES_URL, quotedName } from "../../../contract/postgres-medium.js";
import { testWith } from "../../../prerequisites.js";
import { callCli } from "../../call-cli.js";
import { hasPostgres, newSchema } from "../../fill-inbox.js";
import { expectGolden, transcriptOf } from "../../golden.js";

const testOnPostgres = testWith(hasPostgres);
const PASSWORD = "tell-nobody";

testOnPostgres("what doctor finds of an inbox in PostgreSQL", async () => {
  const none = newSchema();
  const { args, schema, createStore } = newSchema();
  const store = createStore();
  await store.open({ endpoint: "default", clock: systemClock });
  onTestFinished(() => store.close("default"));
  const admin = makePool(1);
  onTestFinished(() => admin.end());
  const name = quotedName(schema);
  const look = (title: string, words = args) =>
    transcriptOf([{ title, args: ["doctor", ...words], env: { SIGNALS_SECRET: "" } }]);

  let text = await look("a receiver has it open");
  const readOnly = `${POSTGRES_URL}?options=-c%20default_transaction_read_only%3Don`;
  text += await look("a role that may only read", ["--db", readOnly, ...args.slice(2)]);
  await admin.query(`INSERT INTO ${name}.inbox_owner (endpoint, beat_at, alive_since, swept_at, low_seq)
    VALUES ('orders', 0, 0, 0, 1)`);
  text += await look("a receiver died without leases");
  await admin.query(`INSERT INTO ${name}.inbox
      (due_at, received_at, token, owner, state, endpoint, event_id, type, body_hash)
    SELECT 0, 0, 0, id, 'leased', 'orders', 'evt', '', '' FROM ${name}.inbox_owner WHERE endpoint = 'orders'`);
  text += await look("a receiver died with a lease");
  await admin.query(`DELETE FROM ${name}.inbox_owner`);
  text += await look("no receiver has it open");
  text += await look("no inbox, and none is made", none.args);
  for (const port of ["1", "port"])
    text += await look("no answer", ["--db", `postgres://user:${PASSWORD}@127.0.0.1:${port}/x`]);
  expect(text.replaceAll(/^\$ signalbox.*$/gm, "")).not.toContain(PASSWORD);
  await expectGolden("doctor-postgres", text, [
    [/PostgreSQL [\d.]+/g, "PostgreSQL N"],
    [/'?Test "\$\$" [\w-]+'?/g, "SCHEMA"],
    [/--db postgres\S+/g, "--db PLACE"],
  ]);
});

test("what looks like a connection string, but is none, is not examined as a file, and not repeated", async () => {
  const at = `postgres:${PASSWORD}@127.0.0.1/x`;
  for (const db of [
    `postgres:/${at}`,
    `postgres:${at}`,
    `postgress:/${at}`,
    `host=127.0.0.1 password=${PASSWORD}`,
  ]) {
    expect(await callCli(["doctor", "--db", db])).toMatchObject({
      exitCode: 2,
      stdout: "",
      stderr: "signalbox doctor: --db is no file and does not begin with postgres://\n",
    });
  }
});
