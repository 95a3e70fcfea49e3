import { expect } from "vitest";
import { expectGolden, transcriptOf, type Scene } from "../golden.js";

/** What differs between a file and PostgreSQL, and between a fast machine and a slow one. */
const MASKS: readonly [RegExp, string][] = [
  // The counts of an endpoint come in another order.
  [/"(oldest\w+|done)":\d+,|"(ready|leased|dead|quarantined)":0,/g, ""],
  [/ --db ('[^']*'|\S+)( --schema ('[^']*'|\S+))?/g, " --db PLACE"],
  [/since \d\d:\d\d/g, "since TIME"],
  [/\b\d+ s\b/g, "N s"],
  [/"(seq|at|since|nextTryAt|\w+At|\w+Seen|\w+AgeMs)":\d+/g, '"$1":N'],
  // Of doctor: that a file or a database is sound.
  [/^Inbox (file|database)$/gm, "Inbox"],
  [/^ {2}(ok|skipped) .*\n/gm, ""],
  [/^ {2}warning .*\[inbox_not_owned\]\n( {11}.*\n)*/gm, ""],
];

/**
 * Runs commands, in which `DB` is the inbox, one after the other, and compares what they print with
 * one golden file, which is the same for every kind of inbox.
 */
export async function expectStory(
  name: string,
  place: readonly string[],
  scenes: readonly (Scene | string)[],
): Promise<void> {
  const text = await transcriptOf(scenes, { DB: place });
  // The signature of every event that the tests store.
  expect(text).not.toMatch(/f00d|v1=/);
  await expectGolden(`inbox-${name}`, text, MASKS);
}
