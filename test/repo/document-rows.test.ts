import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { DOCUMENT_ROWS, ROW_IDS, rowsNamedIn } from "./document-rows.js";

const TESTS = fileURLToPath(new URL("..", import.meta.url));
const FILES = readdirSync(TESTS, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".test.ts"));
const NAMED = FILES.map((path) => ({ path, ids: rowsNamedIn(readFileSync(`${TESTS}${path}`, "utf8")) }));
const ALL_NAMED = new Set(NAMED.flatMap(({ ids }) => ids));

const repeated = (ids: readonly string[]): string[] => ids.filter((id, index) => ids.indexOf(id) !== index);
const unknown = (ids: readonly string[]): string[] => ids.filter((id) => !ROW_IDS.includes(id));

test("no row is listed twice", () => {
  expect(repeated(ROW_IDS)).toEqual([]);
  for (const rows of Object.values(DOCUMENT_ROWS)) expect(rows.length).toBeGreaterThan(0);
});

test("every row that a test names is in the list", () => {
  const wrong = NAMED.map(({ path, ids }) => ({ path, ids: unknown(ids) })).filter(({ ids }) => ids.length > 0);
  expect(wrong).toEqual([]);
});

test("every row has a test that names it", () => {
  expect(ROW_IDS.filter((id) => !ALL_NAMED.has(id))).toEqual([]);
});
