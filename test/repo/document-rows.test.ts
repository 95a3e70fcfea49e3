import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { DOCUMENT_ROWS, LATER, OPEN, ROW_IDS, rowsNamedIn, rowsWithoutTest } from "./document-rows.js";

const TESTS = fileURLToPath(new URL("..", import.meta.url));
const FILES = readdirSync(TESTS, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".test.ts"));
const NAMED = FILES.map((path) => ({ path, ids: rowsNamedIn(readFileSync(`${TESTS}${path}`, "utf8")) }));
const ALL_NAMED = new Set(NAMED.flatMap(({ ids }) => ids));

const repeated = (ids: readonly string[]): string[] => ids.filter((id, index) => ids.indexOf(id) !== index);
const unknown = (ids: readonly string[]): string[] => ids.filter((id) => !ROW_IDS.includes(id));

test("no row is listed twice", () => {
  expect(repeated(ROW_IDS)).toEqual([]);
  expect(repeated(OPEN)).toEqual([]);
  for (const rows of Object.values(DOCUMENT_ROWS)) expect(rows.length).toBeGreaterThan(0);
});

test("every row that a test names, that is open or that is built later is in the list", () => {
  const wrong = NAMED.map(({ path, ids }) => ({ path, ids: unknown(ids) })).filter(({ ids }) => ids.length > 0);
  expect(wrong).toEqual([]);
  expect(unknown(OPEN)).toEqual([]);
  expect(unknown(Object.keys(LATER))).toEqual([]);
});

test("every row has a test that names it, but for those that are open", () => {
  expect(rowsWithoutTest(ALL_NAMED).filter((id) => !OPEN.includes(id))).toEqual([]);
});
