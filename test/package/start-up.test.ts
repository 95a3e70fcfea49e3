import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { run } from "../templates/commands.js";
import { install } from "./installed.js";

const MAIN = "node_modules/signalbox/dist/cli/main.js";

/**
 * The packages of which a process loads anything, and the bundled ones. V8 names each module that
 * it ran.
 */
async function packagesOf(folder: string, args: readonly string[]): Promise<string[]> {
  const NODE_V8_COVERAGE = mkdtempSync(join(folder, "coverage-"));
  await run(folder, process.execPath, args, { NODE_V8_COVERAGE });
  const [report = ""] = readdirSync(NODE_V8_COVERAGE);
  const { result } = JSON.parse(readFileSync(join(NODE_V8_COVERAGE, report), "utf8")) as {
    result: { url: string }[];
  };
  const names = result.map(
    ({ url }) =>
      /\/dist\/(bundled\/[\w-]+)\.js$/.exec(url)?.[1] ??
      /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1],
  );
  return [...new Set(names)].filter((name) => name !== undefined).sort();
}

// Times differ from machine to machine; what is loaded does not. zod takes most of the time, then
// pino and better-sqlite3.
test.each([
  ["--version"],
  ["--help"],
  ["check --help"],
  ["sign node_modules/signalbox/package.json --secret whsec_test"],
  ["inbox ls --help"],
])("signalbox %s loads the parser of the command line and nothing else", async (line) => {
  const args = [MAIN, ...line.split(" ")];
  expect(await packagesOf(install({ express: "express" }, []), args)).toEqual([
    "bundled/commander",
    "signalbox",
  ]);
});

const running = (code: string): string[] => ["--input-type=module", "-e", code];
const importing = (...entries: string[]): string[] =>
  running(entries.map((entry) => `await import("${entry}");`).join(""));

test("an import loads neither a driver nor a framework nor anything of the command line", async () => {
  const folder = install({ express: "express" });
  const all = await packagesOf(
    folder,
    importing(
      "signalbox",
      "signalbox/express",
      "signalbox/fastify",
      "signalbox/fetch",
      "signalbox/stores/sqlite",
    ),
  );
  expect(all).toEqual(expect.arrayContaining(["pino", "signalbox", "zod"]));
  const unwanted = /^(better-sqlite3|bindings|express|fastify|bundled\/.*)$/;
  expect(all.filter((name) => unwanted.test(name))).toEqual([]);
  // How it looks when they are.
  expect(await packagesOf(folder, importing("express"))).toContain("express");
});

test("the emulator loads the SDK of the MCP when the first message comes, not when it starts", async () => {
  const folder = install({ express: "express" });
  const KEY = "the-key-of-a-test";
  const starting = (then: string) =>
    running(`const { createEmulator } = await import("signalbox/emulator");
      const emulator = createEmulator({ port: 0, accounts: [{ name: "x", tier: "pro", key: "${KEY}" }] });
      await emulator.start();
      ${then}
      await emulator.close();`);
  const started = await packagesOf(folder, starting(""));
  expect(started).toEqual(expect.arrayContaining(["better-sqlite3", "signalbox"]));
  expect(started).not.toContain("bundled/mcp-server");
  const message = `await fetch(emulator.mcpUrl, {
    method: "POST",
    headers: { authorization: "Bearer ${KEY}", "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });`;
  expect(await packagesOf(folder, starting(message))).toContain("bundled/mcp-server");
});
