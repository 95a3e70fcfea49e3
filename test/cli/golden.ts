import { tmpdir } from "node:os";
import { expect } from "vitest";
import type { CliRun } from "./run-cli.js";

/** What differs between two runs of one command, and the word that stands for it. */
const MASKS: readonly [RegExp, string][] = [
  [new RegExp(`${tmpdir()}/[\\w-]+`, "g"), "TEMP"],
  [/\b(127\.0\.0\.1|localhost|\[::1\]):\d+/g, "$1:PORT"],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?/g, "TIME"],
  [/\b\d+(\.\d+)? ?ms\b/g, "N ms"],
  [/\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/g, "UUID"],
  [/\bt=\d+,v1=[\da-f]{64}/g, "t=TIME,v1=SIGNATURE"],
  // Columns are as wide as their longest cell: of cells that are masked, that is chance.
  [/(?<=\S) {2,}/g, "  "],
];

/**
 * Compares what a command printed, and its exit code, with `golden/NAME.txt`. With `--update` the
 * file is written anew: read its difference before you commit it.
 *
 * @param masks what else differs between two runs of this command
 */
export async function expectGolden(
  name: string,
  { exitCode, stdout, stderr }: CliRun,
  masks: readonly [RegExp, string][] = [],
): Promise<void> {
  const part = (title: string, text: string): string =>
    text === "" ? "" : `--- ${title}\n${text}`;
  const whole = `${part("stdout", stdout)}${part("stderr", stderr)}--- exit ${exitCode}\n`;
  const text = [...masks, ...MASKS].reduce((left, [what, word]) => left.replace(what, word), whole);
  await expect(text).toMatchFileSnapshot(`${import.meta.dirname}/golden/${name}.txt`);
}
