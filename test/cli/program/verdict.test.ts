import { expect, test } from "vitest";
import { callCli } from "../call-cli.js";
import { fillInbox } from "../fill-inbox.js";
import { expectGolden } from "../golden.js";
import { rowsOf } from "../run-cli.js";
import { serveReceiver, serveRecorder } from "../serve-requests.js";

/**
 * `URL` is a right receiver, `YES` is a server that accepts everything, `DB` is an inbox with a
 * dead event.
 */
const COMMANDS = [
  "send test --url URL --count 2",
  "send test --url URL --count 2 --tamper",
  "replay --url URL --only wrong-secret",
  "replay --url YES --only wrong-secret",
  "check URL --only signature.forged",
  "check YES --only signature.forged",
  "doctor --url URL",
  "doctor --url YES",
  "inbox retry evt_1 evt_2 --db DB",
  "inbox discard evt_1 evt_2 --db DB",
];

test("the verdict is at the end of stdout, as text and as NDJSON", async () => {
  const servers = { URL: (await serveReceiver()).url, YES: (await serveRecorder()).url };
  let text = "";
  for (const command of COMMANDS) {
    const call = async (...more: string[]) => {
      const DB = await fillInbox([{ eventId: "evt_1", state: "dead" }]);
      const places = new Map(Object.entries({ ...servers, DB }));
      const words = command.split(" ").map((word) => places.get(word) ?? word);
      return callCli([...words, ...more]);
    };
    const { exitCode, lines } = await call();
    text += `$ signalbox ${command}\n${lines.at(-1)}\nexit ${exitCode}\n`;
    // Asserts that the last object is the summary.
    expect(rowsOf(await call("--json"))).not.toEqual([]);
  }
  await expectGolden("verdicts", text, [[/\d+(\.\d+)?( s|\/s)\b/g, "N$2"]]);
});
