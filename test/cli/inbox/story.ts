import { expect } from "vitest";
import { callCli } from "../call-cli.js";
import { expectGolden } from "../golden.js";

/** What differs between a file and PostgreSQL, and between a fast machine and a slow one. */
const MASKS: readonly [RegExp, string][] = [
  [/ --db .*$/gm, " --db PLACE"],
  [/\b\d+ s\b/g, "N s"],
  [/"(seq|at|\w+At|\w+Seen|\w+AgeMs)":\d+/g, '"$1":N'],
];

/**
 * Runs `inbox` commands one after the other, and compares what they print with one golden file,
 * which is the same for every kind of inbox.
 */
export async function expectStory(
  name: string,
  place: readonly string[],
  commands: readonly string[],
): Promise<void> {
  let text = "";
  for (const command of commands) {
    const [first = "", ...words] = command
      .split(/ (?=(?:[^']*'[^']*')*[^']*$)/)
      .map((word) => word.replaceAll("'", ""));
    const run = await callCli(["inbox", first, ...place, ...words]);
    const outcome = run.exitCode === 0 ? "" : `(exit ${run.exitCode})\n`;
    text += `$ inbox ${command}\n${run.stdout}${run.stderr}${outcome}\n`;
  }
  // The signature of every event that the tests store.
  expect(text).not.toMatch(/f00d|v1=/);
  await expectGolden(`inbox-${name}`, text, MASKS);
}
