import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CommandUnknownOpts } from "#commander";
import { expect, onTestFinished, test } from "vitest";
import type { Cli } from "../../../src/cli/console/cli.js";
import { EXIT } from "../../../src/cli/console/exit.js";
import { createProgram } from "../../../src/cli/program.js";
import { callCli } from "../call-cli.js";
import { playGolden } from "../golden.js";
import { MAIN, runCli, type CliRun } from "../run-cli.js";
import { tempFiles } from "../temp-files.js";

interface Leaf {
  command: CommandUnknownOpts;
  words: readonly string[];
}

/** Every command that does something, with the words that call it. */
function leavesOf(command: CommandUnknownOpts, words: readonly string[] = []): Leaf[] {
  const inner = command.commands;
  return inner.length === 0
    ? [{ command, words }]
    : inner.flatMap((each) => leavesOf(each, [...words, each.name()]));
}

const PROGRAM = await createProgram({} as Cli, [], { exitCode: EXIT.ok, commandName: "signalbox" });
const LEAVES = leavesOf(PROGRAM);
const WITH_VALUE = LEAVES.flatMap(({ command, words }) =>
  command.options.filter(({ required }) => required).map(({ long }) => [...words, long ?? ""]),
);

test("wrong usage is one line that says what to type", async () => {
  // Each kind of mistake, and each rule of a command that another test does not have.
  await playGolden("wrong-usage", { URL: "http://127.0.0.1:1/x", DB: "/no/such.db" });
});

// An empty header is a delivery without a signature, and `verify` has a word for it.
const WANTS_SOMETHING = WITH_VALUE.filter(
  (words) => words[0] !== "verify" || words.at(-1) !== "--header",
);

test.each(WANTS_SOMETHING)(
  "neither a blank value, as of an unset variable, nor the next option is taken: %j %s",
  async (...words) => {
    const folder = tempFiles();
    const before = process.cwd();
    process.chdir(folder);
    onTestFinished(() => process.chdir(before));
    for (const value of ["", " ", "--swallowed"]) {
      const run = await callCli([...words, value]);
      expect(run).toMatchObject({ exitCode: 2, stdout: "" });
      expect(run.stderr).toMatch(
        / argument '.*' is invalid\. (It is |Expected |Allowed choices).*\n$/,
      );
    }
    // A value may be the name of a file that is written.
    expect(readdirSync(folder)).toEqual([]);
  },
);

/** Without the backslashes at the line ends of commands. */
const wordsOf = ({ stdout }: CliRun): string[] =>
  stdout.split(/\s+/).filter((word) => word !== "\\");

const NAMES = PROGRAM.commands.map((command) => command.name());
const NOT_BY_NPX = new RegExp(`(?<!npx )(?<![\\w/-])signalbox (?:${NAMES.join("|")})\\b`);

test.each([{ words: [] }, { words: ["inbox"] }, ...LEAVES])(
  "the help of $words has examples that work in a project, and 60 columns are enough for it",
  async ({ words }) => {
    const run = await callCli([...words, "--help"]);
    expect(run).toMatchObject({ exitCode: 0, stderr: "" });
    expect(run.stdout).toContain(`Usage: signalbox ${words.join(" ")}`);
    expect(run.stdout).toMatch(/-h, --help/);
    expect(run.stdout).not.toContain("\n\n\n");
    if (LEAVES.some((leaf) => leaf.words === words))
      expect(run.stdout).toMatch(/\nExamples:\n {2}.+:\n {4}\$ .*signalbox /);
    const lines = run.lines.filter((line) => !line.startsWith("Usage: "));
    expect(lines.filter((line) => NOT_BY_NPX.test(line))).toEqual([]);
    const narrow = await callCli([...words, "--help"], { columns: 60 });
    expect(narrow.lines.filter((line) => line.length > 60)).toEqual([]);
    expect(wordsOf(narrow)).toEqual(wordsOf(run));
  },
);

test("the help names every command, and `help` works too", async () => {
  const run = await callCli(["--help"]);
  for (const name of NAMES) expect(run.stdout).toMatch(new RegExp(`^ {2}${name} `, "m"));
  expect(await callCli([])).toEqual(run);
  expect((await callCli(["help", "sign"])).stdout).toContain("Usage: signalbox sign");
  expect((await callCli(["inbox", "help", "ls"])).stdout).toContain("Usage: signalbox inbox ls");
});

test.each([
  ["npx signalbox inbox re", "retry"],
  ["signalbox inbox ls --json --st", "--state"],
  ["signalbox inbox ls --state d", "done dead"],
])("bash completes %j by %j", async (line, completed) => {
  const { stdout: script } = await callCli(["completion", "bash"]);
  const call = `COMP_WORDS=(${line}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _signalbox $COMP_WORDS \${COMP_WORDS[-1]}`;
  const input = `${script}\n${call}; echo "\${COMPREPLY[@]}"`;
  expect(spawnSync("bash", { input, encoding: "utf8" }).stdout).toBe(`${completed}\n`);
});

test.each(["zsh", "fish"])("%s can read its script, if it is installed", async (shell) => {
  const { stdout: input } = await callCli(["completion", shell]);
  expect(spawnSync(shell, ["-n"], { input }).status ?? 0).toBe(0);
});

test("a process exits with 2 for wrong usage, and prints the package's version", async () => {
  const wrong = await runCli(["inbox", "discard", "--db", "x"]);
  expect(wrong).toMatchObject({ exitCode: 2, stdout: "" });
  expect(wrong.stderr.trimEnd().split("\n")).toHaveLength(1);
  const file = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
  const { version } = JSON.parse(file) as { version: string };
  const run = await runCli(["--version"]);
  expect(run).toMatchObject({ exitCode: 0, stdout: `${version}\n`, stderr: "" });
});

test.each(["18.20.4", "20.18.3"])("Node %s is too old: exit 3 with one line", (version) => {
  const folder = tempFiles({
    "old.cjs": `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });`,
  });
  const run = spawnSync(process.execPath, ["--require", join(folder, "old.cjs"), MAIN, "demo"], {
    encoding: "utf8",
  });
  expect(run).toMatchObject({ status: 3, stdout: "" });
  expect(run.stderr).toBe(`signalbox: this is Node ${version}; signalbox needs 20.19 or later.\n`);
});
