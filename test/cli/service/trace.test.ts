import { join } from "node:path";
import { expect, test } from "vitest";
import { sqliteStore } from "../../../src/kit/stores/sqlite/sqlite-store.js";
import { openEmulator } from "../../emulator/start-emulator.js";
import { traceAnEvent } from "../../emulator/traced-event.js";
import { callCli } from "../call-cli.js";
import { fillInbox } from "../fill-inbox.js";
import { playGolden } from "../golden.js";
import { ndjson } from "../run-cli.js";
import { tempFiles } from "../temp-files.js";

const TOKEN = "token_of_this_test";

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
  const both = ["trace", eventId, "--url", emulator.url, "--db", db];
  const run = await callCli([...both, "--json"]);
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

  const shown = await callCli(both, { columns: 60, env: { NO_COLOR: "1" } });
  expect(shown.lines.filter((line) => line.length > 60)).toEqual([]);
  expect(shown.stdout).toMatch(
    /^\d{4}-\d\d-\d\d\n\d\d:\d\d:\d\d\.\d{3} {2}sender {2}.*attempt 1: 503 busy in \d+ ms/,
  );
  expect(shown.stdout).toContain("Error: no\\u202e\\u001b[31m word");

  await emulator.control.advance({ hours: 6 });
  const env = { SIGNALS_BASE_URL: emulator.baseUrl };
  const moved = await callCli(["trace", await publish(), "--db", db], { env });
  expect(moved.stdout).toContain("service's clock: ");
  expect(moved.stderr).toContain("The service's clock differs");
});

test("what is said of one side alone, of an event that one side lacks, and of a side that is not there", async () => {
  const { emulator, eventId } = await traceAnEvent();
  // A second delivery, which is named too.
  const [delivery] = (await emulator.control.listDeliveries({ event_id: eventId })).items;
  await emulator.control.redeliver({ delivery_id: delivery?.delivery_id ?? 0 });
  await emulator.control.settle();
  const closed = await openEmulator({ controlToken: TOKEN });
  const db = await fillInbox([{ eventId: "sig_1", state: "dead" }]);
  const addresses = { EMULATOR: emulator.url, CLOSED: closed.emulator.baseUrl };
  await playGolden(
    "trace",
    { DB: db, "DB.not": `${db}.not`, EVENT: eventId, TOKEN, ...addresses },
    [
      [/\bwh_[\da-f-]+/g, "REGISTRATION"],
      [/^\d{4}-\d\d-\d\d$/gm, "DAY"],
      [/^\d\d:\d\d:\d\d\.\d{3}/gm, "TIME"],
      [/clock: \S+ \S+/g, "clock: TIME"],
      [/^… .*$/gm, "… LATER"],
    ],
  );
  await closed.emulator.close();
});
