import { once } from "node:events";
import type { AddressInfo } from "node:net";
import express, { type ErrorRequestHandler, type RequestHandler } from "express";
import { expect, test } from "vitest";
import { EXIT } from "../../src/cli/options/exit.js";
import { captureRawBody, createReceiver } from "../../src/index.js";
import { expressHandler } from "../../src/receiver/adapters/express-handler.js";
import { memoryStore } from "../../src/stores/memory.js";
import { callCli } from "../cli/call-cli.js";
import { rowsOf } from "../cli/run-cli.js";
import { codeIn, DOCUMENTS, readDocument } from "./markdown.js";

const PAGE = readDocument("docs/cli.md");

interface Row {
  name: string;
  ok: boolean;
}

const tables = PAGE.tablesUnder("The command line");
const namesOfCommands = (tables[0] ?? []).map(([name]) => codeIn(name));
const sorted = (names: readonly string[]): string[] => [...names].sort();

const helpOf = async (...args: string[]): Promise<string> => (await callCli([...args, "--help"])).stdout;

async function commandsOf(...args: string[]): Promise<string[]> {
  const [, list = ""] = /^Commands:\n((?: .*\n)*)/m.exec(await helpOf(...args)) ?? [];
  const names = [...list.matchAll(/^ {2}([a-z]+)/gm)].map((match) => match[1] ?? "");
  return names.filter((name) => name !== "help");
}

test("the page lists the commands that there are", async () => {
  const commands: string[] = [];
  for (const name of await commandsOf()) {
    const inner = await commandsOf(name);
    // `emulator` is a command and has commands.
    if (inner.length === 0 || name === "emulator") commands.push(name);
    commands.push(...inner.map((each) => `${name} ${each}`));
  }
  expect(commands.length).toBeGreaterThan(5);
  expect(sorted(namesOfCommands)).toEqual(sorted(commands));
});

test("each flag that a document types is a flag of that command", async () => {
  const lines = DOCUMENTS.flatMap((path) => readDocument(path).blocks)
    .filter(({ language }) => language === "sh")
    .flatMap(({ code }) => code.split("\n"))
    .filter((line) => line.includes("npx signalbox "));
  const typed = lines.flatMap((line) => {
    const words = line.slice(line.indexOf("npx signalbox ") + "npx signalbox ".length).split(" ");
    const command = /^(inbox|emulator) [a-z]/.test(words.join(" ")) ? words.slice(0, 2) : words.slice(0, 1);
    return words.filter((word) => word.startsWith("--")).map((flag) => ({ command, flag }));
  });
  expect(typed.length).toBeGreaterThan(3);
  for (const { command, flag } of typed) expect(await helpOf(...command), command.join(" ")).toContain(`${flag} `);

  const named = [...PAGE.section("The command line").matchAll(/`(--[a-z-]+)/g)].map((match) => match[1] ?? "");
  const help = (await Promise.all(namesOfCommands.map((name) => helpOf(...name.split(" "))))).join("\n");
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((flag) => !new RegExp(`${flag}\\b`).test(help))).toEqual([]);
});

const SKIPPING: readonly (readonly [words: string, parser: RequestHandler])[] = [
  ["json-null", express.json({ verify: captureRawBody, limit: "256kb" })],
  ["signals --skip too-many", express.raw({ type: () => true, limit: "256kb" })],
];

test.each(SKIPPING)("the replay that the page fits to another parser passes behind it: %s", async (words, parser) => {
  const { code } = readDocument("docs/check.md").block(words);
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
    const replay = async (...args: string[]): Promise<Row[]> =>
      rowsOf<Row>(await callCli(["replay", "--url", url, "--secret", "s", "--json", "--concurrency", "8", ...args]));
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

test("the page lists the exit codes that there are", () => {
  expect((tables[1] ?? []).map(([code]) => Number(code))).toEqual(Object.values(EXIT));
});
