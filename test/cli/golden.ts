import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect } from "vitest";
import { callCli, type CallOptions } from "./call-cli.js";
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
 * Compares what one or more commands printed with `golden/NAME.txt`. With `--update` the file is
 * written anew: read its difference before you commit it.
 *
 * @param printed a run, with its exit code, or a text that a test made of several
 * @param masks what else differs between two runs of these commands
 */
export async function expectGolden(
  name: string,
  printed: CliRun | string,
  masks: readonly [RegExp, string][] = [],
): Promise<void> {
  const whole = typeof printed === "string" ? printed : partsOf(printed);
  await expect(masked(whole, masks)).toMatchFileSnapshot(pathOf(name));
}

const pathOf = (name: string): string => `${import.meta.dirname}/golden/${name}.txt`;

function masked(text: string, masks: readonly [RegExp, string][]): string {
  return [...masks, ...MASKS].reduce((left, [what, word]) => left.replace(what, word), text);
}

function partsOf({ exitCode, stdout, stderr }: CliRun): string {
  const part = (title: string, text: string): string =>
    text === "" ? "" : `--- ${title}\n${text}`;
  return `${part("stdout", stdout)}${part("stderr", stderr)}--- exit ${exitCode}\n`;
}

/** One command line of a transcript, typed or in words. */
export interface Scene extends CallOptions {
  args: string | readonly string[];
  /** Stands above it: a sentence about the case. */
  title?: string;
}

/**
 * Runs command lines one after the other: what each printed stands below it.
 *
 * @param places the words that a word such as `DB` stands for
 */
export async function transcriptOf(
  scenes: readonly (Scene | string)[],
  places: Readonly<Record<string, readonly string[]>> = {},
): Promise<string> {
  let text = "";
  for (const scene of scenes) {
    const { title, args, ...options } = typeof scene === "string" ? { args: scene } : scene;
    const words = typeof args === "string" ? wordsIn(args) : args;
    const real = words.flatMap((word) => (Object.hasOwn(places, word) ? places[word] : word) ?? []);
    const { stdout, stderr, exitCode } = await callCli(real, options);
    if (title !== undefined) text += `\n# ${title}\n`;
    text += `$ signalbox ${words.join(" ")}\n${stdout}${stderr}exit ${exitCode}\n`;
  }
  return text;
}

/** The words of a line, as a shell reads it: what stands in single quotes is one word. */
export function wordsIn(line: string): string[] {
  const words = line.match(/(?:'[^']*'|[^ '])+/g) ?? [];
  return words.map((word) => word.replaceAll("'", ""));
}

/**
 * Types each line `$ signalbox …` of `golden/NAME.txt`, and compares what is printed with what stands
 * below it: a new case is a new line, and `--update` writes the rest. As in a shell, variables stand
 * in front of `signalbox`.
 *
 * @param places what stands for words such as `URL` and `DB`
 */
export async function playGolden(
  name: string,
  places: Readonly<Record<string, string>> = {},
  masks: readonly [RegExp, string][] = [],
): Promise<void> {
  const placed = (word: string): string => places[word] ?? word;
  const named = (text: string): string =>
    Object.entries(places).reduce((left, [word, place]) => left.replaceAll(place, word), text);
  let text = "";
  for (const line of readFileSync(pathOf(name), "utf8").split("\n")) {
    if (line.startsWith("# ")) text += `\n${line}\n`;
    const [, variables = "", typed] = /^\$ ((?:[A-Z_]+=\S* )*)signalbox(.*)$/.exec(line) ?? [];
    if (typed === undefined) continue;
    const pairs = [...variables.matchAll(/([A-Z_]+)=(\S*)/g)];
    const env = Object.fromEntries(pairs.map(([, key, value = ""]) => [key, placed(value)]));
    const run = await callCli(typed.split(" ").slice(1).map(placed), { env });
    text += `${line}\n${masked(named(run.stdout + run.stderr), masks)}exit ${run.exitCode}\n`;
  }
  await expect(text).toMatchFileSnapshot(pathOf(name));
}
