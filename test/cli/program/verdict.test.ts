import { expect, test } from "vitest";
import { callCli } from "../call-cli.js";
import { fillInbox } from "../fill-inbox.js";
import { rowsOf } from "../run-cli.js";
import { serveReceiver, serveRecorder } from "../serve-requests.js";

const DEAD = [{ eventId: "evt_1", state: "dead" as const }];

/**
 * `URL` is a right receiver, `YES` is a server that accepts everything, `DB` is an inbox with a
 * dead event.
 */
const VERDICTS: readonly (readonly [words: string, exitCode: number, verdict: RegExp])[] = [
  ["send test --url URL --count 2", 0, /^2 sent .* 2 × 200/],
  ["send test --url URL --count 2 --tamper", 1, /^2 sent .* 2 × 401/],
  ["replay --url URL --only wrong-secret", 0, /^all 3 answers as expected/],
  ["replay --url YES --only wrong-secret", 1, /^3 of 3 answers not as expected/],
  ["check URL --only signature.forged", 0, /^required: 1 passed, 0 failed/],
  ["check YES --only signature.forged", 1, /^required: 0 passed, 1 failed/],
  ["doctor --url URL", 0, /^no problems found/],
  ["doctor --url YES", 1, /^1 problem: challenge_missing/],
  ["inbox retry evt_1 evt_2 --db DB", 1, /^1 retried, 1 not retried/],
  ["inbox discard evt_1 evt_2 --db DB", 1, /^1 discarded, 1 not discarded/],
];

test.each(VERDICTS)(
  "the verdict is at the end of stdout, as text and as NDJSON: %s",
  async (words, exitCode, verdict) => {
    const places = { URL: (await serveReceiver()).url, YES: (await serveRecorder()).url };
    const call = async (...more: string[]) => {
      const db = await fillInbox(DEAD);
      const args = words
        .split(" ")
        .map((word) => new Map(Object.entries({ ...places, DB: db })).get(word) ?? word);
      const run = await callCli([...args, ...more]);
      expect(run.exitCode, run.stderr).toBe(exitCode);
      return run;
    };
    expect((await call()).lines.at(-1)).toMatch(verdict);
    // Asserts that the last object is the summary.
    expect(rowsOf(await call("--json"))).not.toEqual([]);
  },
);
