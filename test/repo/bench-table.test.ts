import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { withBenchTables } from "../bench/report/readme.js";
import { renderTerminal } from "../bench/report/render-terminal.js";
import { tablesOf } from "../bench/report/tables-of.js";
import type { BenchResult } from "../bench/result.js";
import { SERVERS } from "../bench/servers/catalogue.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const README = readFileSync(`${ROOT}README.md`, "utf8");
const RESULT = JSON.parse(readFileSync(`${ROOT}test/bench/result.json`, "utf8")) as BenchResult;

test("the README's figures are those of the kept result, in the bench's own tables", async () => {
  expect(await withBenchTables(README, RESULT)).toBe(README);
});

test("the kept result has every usual part, and every server", () => {
  const { throughput, latency, slowDisk, verification } = RESULT;
  const names = SERVERS.map(({ name }) => name);
  expect(throughput?.rows.map(({ server }) => server)).toEqual(names);
  expect(latency?.rows.map(({ server }) => server)).toEqual(names);
  expect(slowDisk?.rows.map(({ server }) => server)).toEqual(expect.arrayContaining(["express-insert"]));
  expect(verification?.rows.map(({ name }) => name)).toEqual(expect.arrayContaining(["signalbox verifySignature"]));
});

test("the figures of a README are replaced, and all around them stays", async () => {
  const old = "Before.\n\n<!-- bench -->\n\n| old |\n\n<!-- /bench -->\n\nAfter.\n";
  const written = await withBenchTables(old, RESULT);
  expect(written.startsWith("Before.\n\n<!-- bench -->\n\n**Requests per second")).toBe(true);
  expect(written.endsWith("\n\n<!-- /bench -->\n\nAfter.\n")).toBe(true);
  expect(written).not.toContain("old");
  expect(await withBenchTables(written, RESULT)).toBe(written);
});

test("a README without a place for the figures is refused", async () => {
  await expect(withBenchTables("# No place\n", RESULT)).rejects.toThrow("<!-- bench -->");
});

test("a terminal's columns stand under each other, colours or not", () => {
  const tables = tablesOf(RESULT);
  const plain = renderTerminal(tables, false);
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  expect(renderTerminal(tables, true).replaceAll(/\u001b\[\d+m/g, "")).toBe(plain);
  expect(plain).not.toContain("\u001b");
  for (const table of tables) {
    // Bars are as long as their figures.
    const rows = table.rows.map(({ cells, isOurs }) => ({ cells, isOurs }));
    const [title, ...lines] = renderTerminal([{ ...table, rows }], false).split("\n");
    const ends = lines.slice(0, rows.length + 1).map(({ length }) => length);
    expect(new Set(ends).size, title).toBe(1);
  }
});

test("a generator that was at its limit is marked", () => {
  const { throughput } = RESULT;
  if (throughput === undefined) throw new Error("no throughput");
  const rows = throughput.rows.map((row, index) => ({ ...row, generatorBusy: index === 1 ? 0.95 : 0.5 }));
  const [table] = tablesOf({ throughput: { ...throughput, rows } });
  expect(table?.rows.map(({ cells }) => cells[1]?.endsWith("†"))).toEqual(rows.map((_, index) => index === 1));
  expect(table?.notes.join(" ")).toContain("† The load generator was at its limit");
});
