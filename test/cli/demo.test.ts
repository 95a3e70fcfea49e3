import { cpSync, readdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { EVENT_NAMES, REQUESTS } from "./fixture-names.js";
import { MAIN, ndjson, outcomeOf, runCli, startCli } from "./run-cli.js";
import { tempFiles } from "./temp-files.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const STEPS = ["service", "follow", "register", "handshake", "month", "callback", "redeliver", "tamper", "product"];

test("the demo exits 0 within 30 s and prints one line for each of the 40 events and all deliveries", async () => {
  const startedAt = performance.now();
  const run = await runCli(["demo"]);
  expect(performance.now() - startedAt).toBeLessThan(30_000);
  expect(run).toMatchObject({ exitCode: 0 });
  expect(EVENT_NAMES).toHaveLength(40);
  for (const { name, expect: expected } of REQUESTS) {
    const lines = run.lines.filter((line) => line.startsWith(`${name}  `));
    expect(lines, name).toHaveLength(1);
    expect(lines[0]).toMatch(new RegExp(`  ${expected.status} \\S.*  ${expected.status} \\S.*  ok$`));
  }
  expect(run.stderr).toContain(`all ${REQUESTS.length} answers as expected`);
  expect(run.stdout).not.toContain("FAILED");
});

test("the demo shows what the inbox holds and that each event was handed off once", async () => {
  const { stdout } = await runCli(["demo"]);
  const counts = /^inbox +0 ready, 0 leased, (\d+) done, 0 dead, (\d+) quarantined$/m.exec(stdout);
  const accepted = REQUESTS.filter(({ expect: { body } }) => JSON.stringify(body) === '{"received":true}');
  const quarantined = REQUESTS.filter(({ expect: { body } }) => body?.["quarantined"] === true);
  expect(Number(counts?.[1]) + Number(counts?.[2])).toBe(accepted.length + quarantined.length);
  // Three of the accepted ones have a type that no release knows yet: kept, and handed to nobody.
  const handedOff = accepted.length - 3;
  expect(stdout).toContain(`callback   ${handedOff} hand-offs of ${handedOff} events, each exactly once  ok`);
});

test("the demo leaves nothing behind, and prints no secret", async () => {
  const folder = tempFiles();
  const run = await runCli(["demo", "--verbose"], { env: { TMPDIR: folder } });
  expect(run.exitCode).toBe(0);
  expect(run.stderr).toContain("receiver started");
  expect(readdirSync(folder)).toEqual([]);
  expect(run.stdout + run.stderr).not.toContain("whsec_");
});

test("--keep keeps the inbox and says where it is", async () => {
  const folder = tempFiles();
  const run = await runCli(["demo", "--keep"], { env: { TMPDIR: folder } });
  const path = /^file +(\S+)$/m.exec(run.stdout)?.[1] ?? "";
  expect(dirname(dirname(path))).toBe(folder);
  const stats = await runCli(["inbox", "stats", "--db", path, "--json"]);
  expect(ndjson(stats)[0]).toMatchObject({ endpoint: "default", ready: 0, leased: 0, dead: 0 });
});

test("--json gives NDJSON on stdout", async () => {
  const rows = ndjson(await runCli(["demo", "--json"]));
  const results = rows.filter((row) => "name" in row);
  expect(results).toHaveLength(REQUESTS.length);
  expect(results.every((row) => row["ok"] === true)).toBe(true);
  const others = rows.slice(results.length).map((row) => row["step"] ?? Object.keys(row)[0]);
  expect(others).toEqual(["inbox", "handedOff", ...STEPS]);
});

test("the demo tells the whole story: registered, verified, a month of signals, each handed off once", async () => {
  const rows = ndjson(await runCli(["demo", "--json"])).filter((row) => "step" in row);
  expect(rows.map((row) => row["step"])).toEqual(STEPS);
  expect(rows.every((row) => row["ok"] === true)).toBe(true);
  const said = new Map(rows.map((row) => [row["step"], String(row["text"])]));
  expect(said.get("register")).toBe("38 signal types, 2 registrations");
  expect(said.get("handshake")).toBe("2 challenges answered, 2 registrations active");
  const sent = /: (\d+) signals of (\d+) types were sent$/.exec(said.get("month") ?? "");
  expect(Number(sent?.[1])).toBeGreaterThan(3);
  expect(said.get("callback")).toBe(`${sent?.[1]} hand-offs of ${sent?.[1]} signals, each exactly once`);
  expect(said.get("redeliver")).toMatch(/^sig_\d+_\d+ once more: 200 \{"received":true,"duplicate":true\}$/);
  expect(said.get("tamper")).toContain("401 signature_mismatch");
});

test("Ctrl-C ends the demo with 130 and still cleans up", async () => {
  const folder = tempFiles();
  const child = startCli(["demo"], { env: { TMPDIR: folder } });
  const outcome = outcomeOf(child);
  await once(child.stdout as NodeJS.ReadableStream, "data");
  child.kill("SIGINT");
  const { exitCode, stderr } = await outcome;
  expect(exitCode).toBe(130);
  expect(stderr).not.toContain("    at ");
  expect(readdirSync(folder)).toEqual([]);
});

test("a reader that goes away (| head) does not crash the demo", async () => {
  const folder = tempFiles();
  const child = startCli(["demo"], { env: { TMPDIR: folder } });
  const outcome = outcomeOf(child);
  child.stdout?.once("data", () => child.stdout?.destroy());
  const { exitCode, stderr } = await outcome;
  expect(exitCode).toBe(0);
  expect(stderr).not.toContain("EPIPE");
  expect(readdirSync(folder)).toEqual([]);
});

test("without Express the demo says what to install", () => {
  const folder = tempFiles();
  cpSync(dirname(dirname(MAIN)), join(folder, "dist"), { recursive: true });
  for (const name of ["package.json", "fixtures"]) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  tempModules(folder, ["better-sqlite3", "commander", "pino", "zod"]);
  const run = spawnSync(process.execPath, [join(folder, "dist/cli/main.js"), "demo"], { encoding: "utf8" });
  expect(run.status).toBe(3);
  expect(run.stderr).toBe("signalbox demo: the demo needs Express: run `npm install express`\n");
});

function tempModules(folder: string, names: readonly string[]): void {
  cpSync(tempFiles({ "node_modules/.keep": "" }), folder, { recursive: true });
  for (const name of names) symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
}
