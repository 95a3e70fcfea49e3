import { array, assert, constantFrom, oneof, property, string } from "fast-check";
import { expect, test } from "vitest";
import { ftsQuery } from "../../../../src/emulator/market/full-text.js";
import { madeMarket, rowsOf } from "./made-market.js";

const market = madeMarket(1);

function found(text: string): string[] {
  const match = ftsQuery(text);
  if (match === null) return [];
  return rowsOf<{ keyword: string }>(
    market,
    "SELECT keyword FROM keyword WHERE keyword_id IN (SELECT rowid FROM keyword_fts WHERE keyword_fts MATCH ?)",
    match,
  ).map(({ keyword }) => keyword);
}

const all = rowsOf<{ keyword: string }>(market, "SELECT keyword FROM keyword").map(({ keyword }) => keyword);

test("no text is a syntax error, in either table", () => {
  const products = market.prepare("SELECT count(*) FROM product_fts WHERE product_fts MATCH ?");
  const keywords = market.prepare("SELECT count(*) FROM keyword_fts WHERE keyword_fts MATCH ?");
  const operators = constantFrom(..."\" ' * ^ ( ) NEAR( AND OR NOT : - 🚀 视 é ai".split(" "), "\0", "\ud800");
  const texts = oneof(
    string({ unit: "binary", maxLength: 120 }),
    string({ unit: "grapheme", maxLength: 120 }),
    array(operators, { maxLength: 400 }).map((parts) => parts.join(" ")),
  );
  assert(
    property(texts, (text) => {
      const match = ftsQuery(text);
      if (match === null) return;
      products.get(match);
      keywords.get(match);
    }),
    { numRuns: 1000 },
  );
});

test("text without a letter or a digit asks for nothing", () => {
  for (const text of ["", " ", '"', "*", "\0", "🚀", "-- ()"]) expect(ftsQuery(text)).toBeNull();
});

test("one Chinese character finds what holds it, several what holds them in this order", () => {
  for (const text of ["视", "频", "视频", "视频生成", "成器"]) {
    expect(found(text).sort(), text).toEqual(all.filter((keyword) => keyword.includes(text)).sort());
  }
  expect(found("视频").length).toBeGreaterThan(20);
  expect(found("频视")).toEqual([]);
});

test("all words must be there, in any order and case; the last one may go on", () => {
  const words = (keyword: string): string[] => keyword.split(" ");
  expect(found("GENERATOR video").sort()).toEqual(
    all
      .filter(
        (keyword) => words(keyword).includes("generator") && words(keyword).some((word) => word.startsWith("video")),
      )
      .sort(),
  );
  expect(found("gener").length).toBeGreaterThan(found("generator").length - 1);
  expect(found("ener")).toEqual([]);
  expect(found("video OR music")).toEqual([]);
});

test("a word that goes on beside Chinese characters is found", () => {
  expect(found("ai视频")).toContain("ai视频生成");
});

test("the products are found by name, domain and tagline, also after they moved", () => {
  const moved = rowsOf<{ tool_id: number; domain: string }>(
    market,
    "SELECT tool_id, domain FROM product WHERE tool_id IN (SELECT tool_id FROM product_change WHERE kind = 'domain') LIMIT 5",
  );
  expect(moved.length).toBe(5);
  const some = rowsOf<{ tool_id: number; domain: string; name: string }>(market, "SELECT * FROM product LIMIT 20");
  const ids = (text: string): number[] =>
    rowsOf<{ rowid: number }>(market, "SELECT rowid FROM product_fts WHERE product_fts MATCH ?", ftsQuery(text)).map(
      ({ rowid }) => rowid,
    );
  for (const { tool_id, domain } of moved) expect(ids(domain)).toContain(tool_id);
  for (const { tool_id, name } of some) expect(ids(name)).toContain(tool_id);
  expect(ids("播客").length).toBeGreaterThan(5);
  expect(ids("podcasters").length).toBeGreaterThan(5);
});
