import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CommandUnknownOpts } from "#commander";
import { expect, onTestFinished, test } from "vitest";
import type { Cli } from "../../../src/cli/console/cli.js";
import { EXIT } from "../../../src/cli/console/exit.js";
import { createProgram } from "../../../src/cli/program.js";
import { callCli } from "../call-cli.js";
import { MAIN, runCli, type CliRun } from "../run-cli.js";
import { tempFiles } from "../temp-files.js";

const URL_FLAG = ["--url", "http://127.0.0.1:1/x"];
const DB_FLAG = ["--db", "/no/such.db"];

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

/**
 * A line for each kind of mistake, and for each rule of a command that another test does not have.
 */
const WRONG: readonly (readonly [args: readonly string[], says: RegExp])[] = [
  [[], /name a command: init, dev, demo, sign/],
  [["help", "bogus"], /name a command: init, dev, demo/],
  [["sgn"], /unknown command 'sgn' \(Did you mean sign\?\)/],
  [["demo", "--jsn"], /unknown option '--jsn' \(Did you mean --json\?\)/],
  [["sign"], /missing required argument 'file'/],
  [["send", "test", ...URL_FLAG, "--duplicate", "5"], /too many arguments/],
  [["verify", "a"], /'-H, --header <header>' not specified/],
  [["sign", "a", "--value", "--curl"], /cannot be used with/],
  [["sign", "a", "--timestamp", "1795255200000"], /Expected a whole number from 0/],
  [["inbox", "prune", ...DB_FLAG, "--key-days", "1.9"], /at least 2/],
  [["inbox", "ls", ...DB_FLAG, "--state", "gone"], /Allowed choices are ready, leased/],
  [["send", "test", "--url", "localhost:3000/x"], /Expected an address like http/],
  [["sign", "a", "--url", "http://x/"], /--url needs --curl/],
  [["send", "test", ...URL_FLAG, "--set", "x"], /--set needs path=value/],
  [["send", "test", ...URL_FLAG, "--duplicate"], /--duplicate needs --count/],
  [["replay"], /'--url <url>' not specified/],
  [
    ["check", URL_FLAG[1] as string, "--only", "nonsense"],
    /--only nonsense: nothing matches; try --only signature\n$/,
  ],
  [
    ["doctor"],
    /give --url <url>, --db <inbox>, or both; type for example `npx signalbox doctor --url /,
  ],
  [["doctor", ...DB_FLAG, "--test-event"], /--test-event needs --url\n$/],
  [["inbox", "retry", ...DB_FLAG], /give ids, --all-dead/],
  [["inbox", "retry", "a", "--all-dead", ...DB_FLAG], /not both/],
  [["inbox", "discard", "--all-dead", ...DB_FLAG], /add --yes/],
  [["inbox", "discard", "--state", "quarantined", ...DB_FLAG], /add --yes/],
  [["inbox", "prune", ...DB_FLAG, "--payload-days", "31"], /more than --key-days 30/],
];

test.each(WRONG)("wrong usage is one line that says what to type: %j", async (args, says) => {
  const run = await callCli(args);
  expect(run).toMatchObject({ exitCode: 2, stdout: "" });
  expect(run.stderr).toMatch(says);
  expect(run.stderr).toMatch(/^signalbox[a-z ]*: .+\n$/);
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

test("the process exits with 2, without a stack trace", async () => {
  const run = await runCli(["inbox", "discard", "--all-dead", "--db", "x"]);
  expect(run).toMatchObject({ exitCode: 2, stdout: "" });
  expect(run.stderr.trimEnd().split("\n")).toHaveLength(1);
});

test.each(LEAVES)(
  "the help of $words has its options and examples, on stdout",
  async ({ words }) => {
    const run = await callCli([...words, "--help"]);
    expect(run).toMatchObject({ exitCode: 0, stderr: "" });
    expect(run.stdout).toContain(`Usage: signalbox ${words.join(" ")}`);
    expect(run.stdout).toMatch(/\nExamples:\n {2}.+:\n {4}\$ .*signalbox /);
    expect(run.stdout).toMatch(/-h, --help/);
    expect(run.stdout).not.toContain("\n\n\n");
  },
);

/** Without the backslashes at the line ends of commands. */
const wordsOf = ({ stdout }: CliRun): string[] =>
  stdout.split(/\s+/).filter((word) => word !== "\\");

test.each([{ words: [] }, { words: ["inbox"] }, ...LEAVES])(
  "60 columns are enough for the help of $words",
  async ({ words }) => {
    const narrow = await callCli([...words, "--help"], { columns: 60 });
    expect(narrow.lines.filter((line) => line.length > 60)).toEqual([]);
    expect(wordsOf(narrow)).toEqual(wordsOf(await callCli([...words, "--help"])));
  },
);

test("whatever the help says to type works where the package is installed in a project", async () => {
  const names = PROGRAM.commands.map((command) => command.name());
  const typed = new RegExp(`(?<!npx )(?<![\\w/-])signalbox (?:${names.join("|")})\\b`);
  for (const words of [[], ["inbox"], ...LEAVES.map((leaf) => leaf.words)]) {
    const { stdout } = await callCli([...words, "--help"]);
    const lines = stdout.split("\n").filter((line) => !line.startsWith("Usage: "));
    expect(lines.filter((line) => typed.test(line))).toEqual([]);
  }
});

test("the help names every command, and `help` works too", async () => {
  const run = await callCli(["--help"]);
  expect(run).toMatchObject({ exitCode: 0, stderr: "" });
  for (const { words } of LEAVES) expect(run.stdout).toMatch(new RegExp(`^ {2}${words[0]} `, "m"));
  expect((await callCli(["help", "sign"])).stdout).toContain("Usage: signalbox sign");
  expect((await callCli(["inbox", "help", "ls"])).stdout).toContain("Usage: signalbox inbox ls");
});

test("--version prints the version of the package", async () => {
  const { version } = JSON.parse(
    readFileSync(new URL("../../../package.json", import.meta.url), "utf8"),
  ) as {
    version: string;
  };
  expect(await runCli(["--version"])).toMatchObject({
    exitCode: 0,
    stdout: `${version}\n`,
    stderr: "",
  });
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
