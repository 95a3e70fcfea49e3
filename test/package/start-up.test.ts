import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { install } from "./installed.js";

// Several processes a test, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const MAIN = "node_modules/signalbox/dist/cli/main.js";

/** The packages of which a process loads anything. V8 names each module that it ran. */
async function packagesOf(folder: string, args: readonly string[]): Promise<string[]> {
  const NODE_V8_COVERAGE = mkdtempSync(join(folder, "coverage-"));
  await promisify(execFile)(process.execPath, [...args], { cwd: folder, env: { ...process.env, NODE_V8_COVERAGE } });
  const [report = ""] = readdirSync(NODE_V8_COVERAGE);
  const { result } = JSON.parse(readFileSync(join(NODE_V8_COVERAGE, report), "utf8")) as { result: { url: string }[] };
  const names = result.map(({ url }) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1]);
  return [...new Set(names)].filter((name) => name !== undefined).sort();
}

// Times differ from machine to machine; what is loaded does not. zod takes most of the time, then pino and better-sqlite3.
test.each([
  ["--version"],
  ["--help"],
  ["check --help"],
  ["sign node_modules/signalbox/package.json --secret whsec_test"],
  ["inbox ls --help"],
])("signalbox %s loads the parser of the command line and nothing else", async (line) => {
  const args = [MAIN, ...line.split(" ")];
  expect(await packagesOf(install({ express: "express" }, []), args)).toEqual(["commander", "signalbox"]);
});

test("an import loads neither a driver nor a framework nor anything of the command line", async () => {
  const folder = install({ express: "express" });
  const importing = (...entries: string[]) => [
    "--input-type=module",
    "-e",
    entries.map((entry) => `await import("${entry}");`).join(""),
  ];
  const all = await packagesOf(
    folder,
    importing("signalbox", "signalbox/express", "signalbox/node", "signalbox/stores/sqlite"),
  );
  expect(all).toEqual(expect.arrayContaining(["pino", "signalbox", "zod"]));
  const unwanted = /^(better-sqlite3|bindings|express|commander|@clack\/.*)$/;
  expect(all.filter((name) => unwanted.test(name))).toEqual([]);
  // How it looks when they are.
  expect(await packagesOf(folder, importing("express", "commander"))).toEqual(
    expect.arrayContaining(["commander", "express"]),
  );
});
