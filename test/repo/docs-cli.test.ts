import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import express, { type ErrorRequestHandler, type RequestHandler } from "express";
import { expect, test } from "vitest";
import { EXIT } from "../../src/cli/options/exit.js";
import { captureRawBody, createReceiver } from "../../src/index.js";
import { expressHandler } from "../../src/receiver/adapters/express-handler.js";
import { memoryStore } from "../../src/stores/memory.js";
import { codeIn, readMarkdown } from "./markdown.js";

const README = readMarkdown(readFileSync(new URL("../../README.md", import.meta.url), "utf8"));
const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

interface Row {
  name: string;
  ok: boolean;
}
interface Printed {
  stdout: string;
}

const tables = README.tablesUnder("The command line");
const namesOfCommands = (tables[0] ?? []).map(([name]) => codeIn(name));
const sorted = (names: readonly string[]): string[] => [...names].sort();

/** `npm test` builds first; a missing build is a failure, not a reason to skip. */
const helps = new Map<string, string>();

/** Each help is asked for once: it costs a process. */
function helpOf(...args: string[]): string {
  const key = args.join(" ");
  const help = helps.get(key) ?? execFileSync(process.execPath, [MAIN, ...args, "--help"], { encoding: "utf8" });
  helps.set(key, help);
  return help;
}

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

const SKIPPING: readonly (readonly [words: string, parser: RequestHandler])[] = [
  ["json-null", express.json({ verify: captureRawBody, limit: "256kb" })],
  ["signals --skip too-many", express.raw({ type: () => true, limit: "256kb" })],
];

test.each(SKIPPING)("the replay that the README fits to another parser passes behind it: %s", async (words, parser) => {
  const { code = "" } = README.blocks.find((block) => block.code.includes(words)) ?? {};
  const skipped = [...code.matchAll(/--skip '?([^\s']+)'?/g)].map((match) => match[1] ?? "");
  expect(skipped).not.toEqual([]);
  const receiver = createReceiver({ secrets: "s", store: memoryStore(), onSignal: () => undefined, logger: false });
  await receiver.start();
  const failed: ErrorRequestHandler = (error: { status: number }, _request, response, _next) => {
    response.status(error.status).end();
  };
  const server = express().use(parser, expressHandler(receiver), failed).listen(0);
  try {
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const replay = async (...args: string[]): Promise<Row[]> => {
      const line = [MAIN, "replay", "--url", url, "--secret", "s", "--json", "--concurrency", "8", ...args];
      const { stdout } = await promisify(execFile)(process.execPath, line).catch((error: unknown) => error as Printed);
      return stdout
        .trimEnd()
        .split("\n")
        .map((row) => JSON.parse(row) as Row);
    };
    const others = await replay(...skipped.flatMap((pattern) => ["--skip", pattern]));
    expect(others.length).toBeGreaterThan(100);
    expect(others.filter(({ ok }) => !ok)).toEqual([]);
    // Each of the patterns is needed, and none of them hides what would pass.
    for (const pattern of skipped) {
      expect((await replay("--only", pattern)).filter(({ ok }) => ok)).toEqual([]);
    }
  } finally {
    server.close();
    await receiver.close({ graceMs: 0 });
  }
});

test("the README lists the exit codes that there are", () => {
  expect((tables[1] ?? []).map(([code]) => Number(code))).toEqual(Object.values(EXIT));
});
