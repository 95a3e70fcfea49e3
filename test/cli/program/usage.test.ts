import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "#commander";
import { expect, test } from "vitest";
import type { Cli } from "../../../src/cli/console/cli.js";
import { EXIT } from "../../../src/cli/options/exit.js";
import { createProgram } from "../../../src/cli/program.js";
import { callCli } from "../call-cli.js";
import { MAIN, runCli, type CliRun } from "../run-cli.js";
import { tempFiles } from "../temp-files.js";

const URL_FLAG = ["--url", "http://127.0.0.1:1/x"];
const DB_FLAG = ["--db", "/no/such.db"];

/** Every command that does something, with the words that call it. */
function leavesOf(command: Command, words: readonly string[] = []): { command: Command; words: readonly string[] }[] {
  const inner = command.commands;
  return inner.length === 0 ? [{ command, words }] : inner.flatMap((each) => leavesOf(each, [...words, each.name()]));
}

const PROGRAM = await createProgram({} as Cli, [], { exitCode: EXIT.ok, commandName: "signalbox" });
const LEAVES = leavesOf(PROGRAM);
const WITH_VALUE = LEAVES.flatMap(({ command, words }) =>
  command.options.filter(({ required }) => required).map(({ long }) => [...words, long ?? ""]),
);

const WRONG: readonly (readonly [args: readonly string[], says: RegExp])[] = [
  [[], /name a command: init, dev, demo, sign/],
  [["sgn"], /unknown command 'sgn' \(Did you mean sign\?\)/],
  [["--nonsense"], /unknown option '--nonsense'/],
  [["demo", "--jsn"], /unknown option '--jsn' \(Did you mean --json\?\)/],
  [["sign"], /missing required argument 'file'/],
  [["sign", "a", "--timestamp", "1795255200000"], /Expected a whole number from 0/],
  [["sign", "a", "--value", "--curl"], /cannot be used with/],
  [["sign", "a", "--url", "http://x/"], /--url needs --curl/],
  [["verify", "a"], /'-H, --header <header>' not specified/],
  [["verify", "a", "-H", "x", "--tolerance", "0"], /Expected a whole number of at least 1/],
  [["send", ...URL_FLAG], /missing required argument 'type\|file'/],
  [["send", "test", "--url", "localhost:3000/x"], /Expected an address like http/],
  [["send", "test", ...URL_FLAG, "--duplicate", "5"], /too many arguments .*: --duplicate takes no value/],
  [["send", "test", ...URL_FLAG, "--count", "1e3"], /Expected a whole number from 1/],
  [["send", "test", ...URL_FLAG, "--set", "x"], /--set needs path=value/],
  [["send", "test", ...URL_FLAG, "--set", "a=1", "--as-is"], /cannot be used with/],
  [["replay"], /'--url <url>' not specified/],
  [["replay", ...URL_FLAG, "--concurrency", "1000"], /Expected a whole number from 1 to 256/],
  [
    ["check", "http://127.0.0.1:1/x", "--only", "nonsense"],
    /--only nonsense: nothing matches; try --only signature\n$/,
  ],
  [["check", "http://127.0.0.1:1/x", "--skip", "nonsense"], /--skip nonsense: nothing matches/],
  [["check", "http://127.0.0.1:1/x", "--ack-limit", "soon"], /Expected a number of at least 0/],
  [["doctor"], /give --url <url>, --db <inbox>, or both; type for example `npx signalbox doctor --url /],
  [["register"], /'--url <url>' not specified/],
  [["inbox"], /name a command: ls, show/],
  [["inbox", "ls", ...DB_FLAG, "--state", "gone"], /Allowed choices are ready, leased/],
  [["inbox", "ls", ...DB_FLAG, "--limit", "0"], /Expected a whole number/],
  [["inbox", "show", "a", ...DB_FLAG, "--raw", "--json"], /cannot be used with/],
  [["inbox", "retry", ...DB_FLAG], /give ids, --all-dead/],
  [["inbox", "retry", "a", "--all-dead", ...DB_FLAG], /not both/],
  [["inbox", "retry", "--state", "done", ...DB_FLAG], /Allowed choices are dead, quarantined/],
  [["inbox", "discard", "--all-dead", ...DB_FLAG], /add --yes/],
  [["help", "bogus"], /name a command: init, dev, demo/],
  [["check", "http://127.0.0.1:1/x", "--restart-timeout", "5"], /--restart-timeout needs --restart-command\n$/],
  [["doctor", ...DB_FLAG, "--test-event"], /--test-event needs --url\n$/],
  [["send", "test", ...URL_FLAG, "--duplicate"], /--duplicate needs --count/],
  [["inbox", "prune", ...DB_FLAG, "--key-days", "1.9"], /at least 2/],
  [["inbox", "prune", ...DB_FLAG, "--payload-days", "31"], /more than --key-days 30/],
  [["inbox", "stats"], /'--db <inbox>' not specified/],
];

test.each(WRONG)("wrong usage is one line that says what to type: %j", async (args, says) => {
  const run = await callCli(args);
  expect(run).toMatchObject({ exitCode: 2, stdout: "" });
  expect(run.stderr).toMatch(says);
  expect(run.stderr).toMatch(/^signalbox[a-z ]*: .+\n$/);
  expect(run.stderr).not.toMatch(/\n.|\.;/);
});

/** What is taken for a value after all may be the name of a file that is written: then it is there, and in `left`. */
async function callInFolder(args: readonly string[]): Promise<CliRun & { left: string[] }> {
  const folder = tempFiles();
  const before = process.cwd();
  process.chdir(folder);
  try {
    const run = await callCli(args);
    return { ...run, left: readdirSync(folder) };
  } finally {
    process.chdir(before);
  }
}

test.each(WITH_VALUE)("no option takes the next one for its value: %j %s", async (...words) => {
  const run = await callInFolder([...words, "--swallowed"]);
  expect(run).toMatchObject({ exitCode: 2, stdout: "", left: [] });
  expect(run.stderr).toMatch(
    /^signalbox [a-z ]+: option '(-H, )?(--[a-z-]+) <.*>' argument missing \(a value that .* as in \2=--value\); type .*\n$/,
  );
  expect(run.stderr).not.toContain("swallowed");
});

// An empty header is a delivery without a signature, and `verify` has a word for it.
const WANTS_SOMETHING = WITH_VALUE.filter((words) => words.at(-1) !== "--header");

test.each(WANTS_SOMETHING)("a blank value is a slip, as from an unset variable: %j %s", async (...words) => {
  for (const blank of ["", " "]) {
    const run = await callInFolder([...words, blank]);
    expect(run).toMatchObject({ exitCode: 2, stdout: "", left: [] });
    expect(run.stderr).toMatch(
      /^signalbox [a-z ]+: option '.* <.*>' argument ' ?' is invalid\. (It is empty: give it a value, or|Expected |Allowed choices).*\n$/,
    );
  }
});

test("a value that begins with two dashes is one after an equals sign", async () => {
  const body = join(tempFiles({ "event.json": "{}" }), "event.json");
  const signed = await callCli(["sign", body, "--secret=--json", "--timestamp", "1"]);
  expect(signed).toMatchObject({ exitCode: 0, stderr: "" });
  expect(signed.stdout).toMatch(/^X-Service-Signature: t=1,v1=/);
  // A negative number, and what follows an option that takes none.
  const others = await callCli(["send", body, "--skew", "-301", "--as-is", "--json", ...URL_FLAG]);
  expect(others.exitCode).toBe(3);
});

test("the process exits with 2, without a stack trace", async () => {
  const run = await runCli(["inbox", "discard", "--all-dead", "--db", "x"]);
  expect(run).toMatchObject({ exitCode: 2, stdout: "" });
  expect(run.stderr.trimEnd().split("\n")).toHaveLength(1);
});

test.each(LEAVES)("the help of $words has its options and examples, on stdout", async ({ words }) => {
  const run = await callCli([...words, "--help"]);
  expect(run).toMatchObject({ exitCode: 0, stderr: "" });
  expect(run.stdout).toContain(`Usage: signalbox ${words.join(" ")}`);
  expect(run.stdout).toMatch(/\nExamples:\n {2}.+:\n {4}\$ .*signalbox /);
  expect(run.stdout).toMatch(/-h, --help/);
  expect(run.stdout).not.toContain("\n\n\n");
});

/** Without the backslashes at the line ends of commands. */
const wordsOf = ({ stdout }: CliRun): string[] => stdout.split(/\s+/).filter((word) => word !== "\\");

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
  const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  expect(await runCli(["--version"])).toMatchObject({ exitCode: 0, stdout: `${version}\n`, stderr: "" });
});

test.each(["18.20.4", "20.18.3"])("Node %s is too old: exit 3 with one line", (version) => {
  const folder = tempFiles({
    "old.cjs": `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });`,
  });
  const run = spawnSync(process.execPath, ["--require", join(folder, "old.cjs"), MAIN, "demo"], { encoding: "utf8" });
  expect(run).toMatchObject({ status: 3, stdout: "" });
  expect(run.stderr).toBe(`signalbox: this is Node ${version}; signalbox needs 20.19 or later.\n`);
});
