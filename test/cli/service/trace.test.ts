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
  const both = ["--db", db, "--url", emulator.url];
  for (const [words, says] of [
    [["sig_1", ...both], "does not know the event"],
    [[eventId, ...both], "although a delivery was accepted"],
    [[eventId, ...both, "--endpoint", "other"], 'no endpoint "other": it has default'],
  ] as const)
    expect((await trace(words)).stderr).toContain(says);
});

test("an event that nobody knows is 1, nowhere to look is 2, a named side that is not there is 3", async () => {
  const db = await fillInbox([{ eventId: "sig_1" }]);
  const { emulator } = await openEmulator({ controlToken: "token_of_this_test" });
  const rows: readonly (readonly [words: string, base: string, exitCode: number, says: string])[] =
    [
      ["sig_2 --db DB", NOWHERE, 1, "no side that was asked knows"],
      ["sig_1", NOWHERE, 2, "--db"],
      ["sig_1 --db DB --url " + NOWHERE, NOWHERE, 3, "nothing answers"],
      ["sig_1 --db DB.not", NOWHERE, 3, "there is no such file"],
      ["sig_2", emulator.baseUrl, 1, "no side that was asked knows"],
      // The real service gets no control token.
      ["sig_1 --db DB", "https://api.example/v1", 0, "not an address of this machine"],
    ];
  for (const [words, base, exitCode, says] of rows) {
    const env = { SIGNALS_BASE_URL: base, SIGNALS_CONTROL_TOKEN: "token_of_this_test" };
    const run = await trace(words.replace("DB", db).split(" "), { env });
    expect(run, words).toMatchObject({ exitCode, stderr: expect.stringContaining(says) });
    expect(run.stdout === "", words).toBe(exitCode !== 0);
  }
  await emulator.close();
});
