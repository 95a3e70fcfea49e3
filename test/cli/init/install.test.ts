import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { testWith } from "../../prerequisites.js";
import { hasScript, onTerminal } from "../program/on-terminal.js";
import { outcomeOf, runCli, startCli } from "../run-cli.js";
import { tempFiles } from "../temp-files.js";

/** Programs of these names, ahead of any others. `$LOG` is a file that `said` reads. */
function stubs(programs: Readonly<Record<string, string>>) {
  const bin = tempFiles({ log: "" });
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const log = join(bin, "log");
  const env = { PATH: `${bin}${delimiter}${process.env["PATH"]}`, LOG: log };
  return { env, said: () => readFileSync(log, "utf8") };
}

const NOTE = 'echo "$(basename "$0") $* in $(basename "$PWD")" >> "$LOG"; echo chatter';
const VERSION = ["--signalbox", "^1.0.0"];

test("it installs with the package manager, whose words are not on stdout, and touches no git", async () => {
  const { env, said } = stubs({ pnpm: NOTE, git: NOTE });
  const args = ["init", "x", "--package-manager", "pnpm", "--json", "--no-git", ...VERSION];
  const run = await runCli(args, { env, cwd: tempFiles() });
  expect([run.exitCode, said()]).toEqual([0, "pnpm install in x\n"]);
  const made = JSON.parse(run.stdout) as { nextSteps: string[] };
  expect(made).toMatchObject({ git: false, installed: true });
  expect(made.nextSteps).toEqual(["cd x", "pnpm run test", "pnpm run dev"]);
  expect(run.stderr).toContain("chatter");
});

testWith(hasScript)(
  "where it installs is a terminal, a line counts the seconds, and is gone at the end",
  async () => {
    const { env } = stubs({ npm: "sleep 1.5; echo chatter" });
    const { end, raw } = onTerminal(["init", "x", "--template", "express", ...VERSION], {
      env,
      cwd: tempFiles(),
    });
    expect(await end).toBe(0);
    expect(raw()).toContain("npm install: 1 s\r\u001b[Kchatter");
    expect(raw().split("install: ").at(-1)).toContain("\r\u001b[K");
  },
);

test("the better-sqlite3 that was compiled here is found by its installer, and that folder goes", async () => {
  const script =
    'cd "${npm_config_better_sqlite3_local_prebuilds-/none}"; pwd >> "$LOG"; ls >> "$LOG"';
  const { env, said } = stubs({ npm: script });
  const run = await runCli(["init", "x", ...VERSION], { env, cwd: tempFiles() });
  expect(run.exitCode).toBe(0);
  const require = createRequire(import.meta.url);
  const { version } = require("better-sqlite3/package.json") as { version: string };
  const { versions, platform, arch } = process;
  const name = `better-sqlite3-v${version}-node-v${versions.modules}-${platform}-${arch}.tar.gz`;
  const compiled = join(
    require.resolve("better-sqlite3"),
    "../../build/Release/better_sqlite3.node",
  );
  // Versions from 13 on bring their binaries.
  expect(said().includes(name)).toBe(existsSync(compiled));
  expect(existsSync(said().split("\n")[0] ?? "") && said().includes(name)).toBe(false);
});

test("an install that fails, and one without the package manager: the files are there, and it says what to do", async () => {
  const cwd = tempFiles();
  const { env } = stubs({ npm: "echo broken; exit 1" });
  const failed = await runCli(["init", "x", ...VERSION], { cwd, env });
  expect([failed.exitCode, failed.stdout]).toEqual([3, expect.stringContaining("$ npm install\n")]);
  expect(failed.stderr).toMatch(/installed: `npm install` failed; run `npm install` in /);
  expect(statSync(join(cwd, "x", "package.json")).isFile()).toBe(true);
  const args = ["init", "y", ...VERSION, "--package-manager", "bun"];
  const missing = await runCli(args, { cwd, env: { PATH: tempFiles() } });
  expect([missing.exitCode, missing.stderr]).toEqual([
    3,
    expect.stringContaining("not installed: bun was not found; run `bun install` in "),
  ]);
});

test("Ctrl-C while it installs is 130, and says what is there and what is not", async () => {
  const { env } = stubs({ npm: "echo started; exec sleep 60" });
  const child = startCli(["init", "x", ...VERSION], { cwd: tempFiles(), env });
  child.stderr?.on("data", (chunk: string) => chunk.includes("started") && child.kill("SIGINT"));
  const { exitCode, stderr } = await outcomeOf(child);
  expect(exitCode).toBe(130);
  expect(stderr).toMatch(/dependencies were not installed: interrupted; run `npm install` in /);
});
