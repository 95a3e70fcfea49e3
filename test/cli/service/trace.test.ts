import { join } from "node:path";
import { expect, test } from "vitest";
import { sqliteStore } from "../../../src/kit/stores/sqlite/sqlite-store.js";
import { openEmulator } from "../../emulator/start-emulator.js";
import { traceAnEvent } from "../../emulator/traced-event.js";
import { callCli, type CallOptions } from "../call-cli.js";
import { fillInbox } from "../fill-inbox.js";
import { ndjson, type CliRun } from "../run-cli.js";
import { tempFiles } from "../temp-files.js";

const NOWHERE = "http://127.0.0.1:1";
const trace = (words: readonly string[], options?: CallOptions): Promise<CliRun> =>
  callCli(["trace", ...words], options);

interface Step {
  lane: string;
  at: number;
  kind: string;
  tone: string;
}

test("both sides of an event, from a real emulator and a receiver's file that is in use", async () => {
  const db = join(tempFiles(), "signals.db");
  const error = `no\u202e\u001b[31m ${"word ".repeat(80)}`;
  const { emulator, eventId, publish } = await traceAnEvent({ store: sqliteStore(db), error });
  const run = await trace([eventId, "--url", emulator.url, "--db", db, "--json"]);
  expect(run).toMatchObject({ exitCode: 0, stderr: "" });
  const steps = ndjson<Step>(run);
  expect(steps.map(({ lane, kind, tone }) => `${lane} ${kind} ${tone}`)).toEqual([
    "sender attempt bad",
    "sender attempt bad",
    "sender attempt good",
    "inbox received good",
    "inbox failed bad",
    "inbox done good",
  ]);
  expect(steps.map(({ at }) => at)).toEqual(steps.map(({ at }) => at).toSorted((a, b) => a - b));

  const shown = await trace([eventId, "--url", emulator.url, "--db", db], {
    columns: 60,
    env: { NO_COLOR: "1" },
  });
  expect(shown.lines.filter((line) => line.length > 60)).toEqual([]);
  expect(shown.stdout).toMatch(
    /^\d{4}-\d\d-\d\d\n\d\d:\d\d:\d\d\.\d{3} {2}sender {2}.*attempt 1: 503 busy in \d+ ms/,
  );
  expect(shown.stdout).toContain("Error: no\\u202e\\u001b[31m word");

  await emulator.control.advance({ hours: 6 });
  const moved = await trace([await publish(), "--db", db], {
    env: { SIGNALS_BASE_URL: emulator.baseUrl },
  });
  expect(moved.stdout).toContain("service's clock: ");
  expect(moved.stderr).toContain("The service's clock differs");
});

test("one side alone is shown, and the words say how to give the other", async () => {
  const { emulator, eventId } = await traceAnEvent();
  const sender = await trace([eventId, "--url", emulator.url]);
  expect(sender).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("give --db FILE") });
  expect(sender.stdout).not.toContain("inbox");
  const db = await fillInbox([{ eventId: "sig_1", state: "dead" }]);
  const env = { SIGNALS_BASE_URL: NOWHERE };
  const inbox = await trace(["default/sig_1", "--db", db], { env });
  expect(inbox).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("give --url") });
  expect(inbox.stdout).toContain("dead after 20 hand-offs");
  expect((await trace(["sig_1", "--db", db, "--url", emulator.url])).stderr).toContain(
    "does not know the event",
  );
  expect((await trace([eventId, "--db", db, "--url", emulator.url])).stderr).toContain(
    "although a delivery was accepted",
  );
  expect(
    (await trace([eventId, "--db", db, "--endpoint", "other", "--url", emulator.url])).stderr,
  ).toContain('no endpoint "other": it has default');
});

test("an event that nobody knows is 1, nowhere to look is 2, a named side that is not there is 3", async () => {
  const db = await fillInbox([{ eventId: "sig_1" }]);
  const env = { SIGNALS_BASE_URL: NOWHERE };
  expect(await trace(["sig_2", "--db", db], { env })).toMatchObject({ exitCode: 1, stdout: "" });
  expect(await trace(["sig_1"], { env })).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("--db"),
  });
  expect(await trace(["sig_1", "--db", db, "--url", NOWHERE])).toMatchObject({ exitCode: 3 });
  expect(await trace(["sig_1", "--db", `${db}.not`], { env })).toMatchObject({ exitCode: 3 });
  const { emulator } = await openEmulator({ controlToken: "token_of_this_test" });
  const given = { SIGNALS_BASE_URL: emulator.baseUrl, SIGNALS_CONTROL_TOKEN: "token_of_this_test" };
  const asked = await trace(["sig_2"], { env: given });
  await emulator.close();
  expect(asked).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("no side that was asked knows"),
  });
  // The real service gets no control token.
  const real = { SIGNALS_BASE_URL: "https://api.example/v1", SIGNALS_CONTROL_TOKEN: "t" };
  expect(await trace(["sig_1", "--db", db], { env: real })).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining("not an address of this machine"),
  });
});
