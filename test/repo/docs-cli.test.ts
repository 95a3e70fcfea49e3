import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { EXIT } from "../../src/cli/exit.js";
import { codeIn, readMarkdown } from "./markdown.js";

const README = readMarkdown(readFileSync(new URL("../../README.md", import.meta.url), "utf8"));
const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

const tables = README.tablesUnder("The command line");
const namesOfCommands = (tables[0] ?? []).map(([name]) => codeIn(name));
const sorted = (names: readonly string[]): string[] => [...names].sort();

/** `npm test` builds first; a missing build is a failure, not a reason to skip. */
const helpOf = (...args: string[]): string =>
  execFileSync(process.execPath, [MAIN, ...args, "--help"], { encoding: "utf8" });

function commandsOf(...args: string[]): string[] {
  const [, list = ""] = /^Commands:\n((?: .*\n)*)/m.exec(helpOf(...args)) ?? [];
  const names = [...list.matchAll(/^ {2}([a-z]+)/gm)].map((match) => match[1] ?? "");
  return names.filter((name) => name !== "help");
}

test("the README lists the commands that there are", () => {
  const commands = commandsOf().flatMap((name) => {
    const inner = commandsOf(name);
    return inner.length === 0 ? [name] : inner.map((each) => `${name} ${each}`);
  });
  expect(commands.length).toBeGreaterThan(5);
  expect(sorted(namesOfCommands)).toEqual(sorted(commands));
});

test("each flag that the README types is a flag of that command", () => {
  const lines = README.blocks
    .filter(({ language }) => language === "sh")
    .flatMap(({ code }) => code.split("\n"))
    .filter((line) => line.includes("npx signalbox "));
  const typed = lines.flatMap((line) => {
    const words = line.slice(line.indexOf("npx signalbox ") + "npx signalbox ".length).split(" ");
    const command = words[0] === "inbox" ? words.slice(0, 2) : words.slice(0, 1);
    return words.filter((word) => word.startsWith("--")).map((flag) => ({ command, flag }));
  });
  expect(typed.length).toBeGreaterThan(3);
  expect(typed.filter(({ command, flag }) => !helpOf(...command).includes(`${flag} `))).toEqual([]);

  const named = [...README.section("The command line").matchAll(/`(--[a-z-]+)/g)].map((match) => match[1] ?? "");
  const help = namesOfCommands.map((name) => helpOf(...name.split(" "))).join("\n");
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((flag) => !new RegExp(`${flag}\\b`).test(help))).toEqual([]);
});

test("the README lists the exit codes that there are", () => {
  expect((tables[1] ?? []).map(([code]) => Number(code))).toEqual(Object.values(EXIT));
});
