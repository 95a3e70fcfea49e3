import { spawnSync } from "node:child_process";
import { expect } from "vitest";
import { MAIN, SECRET } from "./run-cli.js";
import { tempFile } from "./temp-files.js";
import { testWith } from "../prerequisites.js";

const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** Runs the command line with a terminal for stdin, stdout and stderr; `script` of util-linux lends one. */
function onTerminal(
  args: readonly string[],
  env: Record<string, string> = {},
): { status: number | null; seen: string } {
  const line = [process.execPath, MAIN, ...args].map(quote).join(" ");
  const run = spawnSync("script", ["-qec", line, "/dev/null"], {
    encoding: "utf8",
    input: "",
    timeout: 15_000,
    env: { PATH: process.env["PATH"], TERM: "xterm", SIGNALS_SECRET: SECRET, ...env },
  });
  return { status: run.status, seen: run.stdout };
}

const hasScript = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") ?? false;

testWith(hasScript)("colour is for a terminal, and NO_COLOR turns it off", () => {
  const args = ["verify", tempFile("{}"), "-H", "x"];
  expect(onTerminal(args)).toMatchObject({ status: 1, seen: expect.stringContaining("\u001b[31mnot valid\u001b[39m") });
  expect(onTerminal(args, { NO_COLOR: "1" }).seen).not.toContain("\u001b[");
  expect(onTerminal(args, { TERM: "dumb" }).seen).not.toContain("\u001b[");
});

testWith(hasScript)("`-` does not wait for somebody to type", () => {
  for (const args of [
    ["sign", "-"],
    ["verify", "-", "-H", "x"],
    ["send", "-", "--url", "http://127.0.0.1:1/"],
  ]) {
    const { status, seen } = onTerminal(args, { NO_COLOR: "1" });
    expect(status).toBe(2);
    expect(seen).toContain("`-` reads stdin, which is a terminal: pipe the body in, or name a file");
  }
});
