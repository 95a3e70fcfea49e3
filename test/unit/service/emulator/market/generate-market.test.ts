import { expect, test } from "vitest";
import {
  BRAND_TYPES,
  COMPARISON_STATUSES,
  CONCENTRATIONS,
} from "../../../../../src/service/contract/search-demand.js";
import { growMonth } from "../../../../../src/service/emulator/market/create-market.js";
import { keywordRows } from "../../../../../src/service/emulator/research/keyword-rows.js";
import { countOf, digestsOf, LAST, madeMarket, rowsOf, tablesOf } from "./made-market.js";

const SEED = 1;
const market = madeMarket(SEED);
/** The first month with keywords, and one more. */
const FEW = 14;
const small = madeMarket(SEED, LAST, FEW);
const smallDigests = digestsOf(small);

test("the same seed gives the same rows, another seed others in every table that the seed is in", () => {
  expect(digestsOf(madeMarket(SEED, LAST, FEW))).toEqual(smallDigests);
  // 2^32 apart: both halves of a seed count.
  const others = digestsOf(madeMarket(SEED + 2 ** 32, LAST, FEW));
  const same = Object.entries(others).filter(([table, digest]) => smallDigests[table] === digest);
  expect(same.map(([table]) => table)).toEqual(["due_signal", "observed_month", "sector"]);
});

test("growing month by month, in one process or a new one each time, equals generating at once", () => {
  const grown = madeMarket(SEED, LAST - 3, FEW - 3);
  growMonth(grown, LAST - 2);
  const generator = growMonth(grown, LAST - 1);
  growMonth(grown, LAST, generator);
  expect(digestsOf(grown)).toEqual(smallDigests);
});

test("there are as many products, sectors, months, keywords and observations as the market is meant to have", () => {
  const atLeast = (least: number, sql: string): void =>
    expect(countOf(market, sql), sql).toBeGreaterThanOrEqual(least);
  atLeast(15, "SELECT count(*) FROM sector");
  atLeast(
    500,
    "SELECT count(*) FROM (SELECT 1 FROM product_month GROUP BY tool_id HAVING count(*) = 24)",
  );
  atLeast(
    5000,
    "SELECT count(*) FROM (SELECT 1 FROM keyword_month GROUP BY keyword_id HAVING count(*) = 12)",
  );
  atLeast(20, "SELECT min(n) FROM (SELECT count(*) AS n FROM product GROUP BY sector_id)");
  atLeast(10, "SELECT count(DISTINCT country) FROM product_country_month");
  atLeast(1000, "SELECT count(*) FROM plan");
  atLeast(1000, "SELECT count(*) FROM feature");
  for (const table of tablesOf(market).filter((name) => name !== "due_signal"))
    atLeast(1, `SELECT count(*) FROM ${table}`);
});

test("no row refers to something that is not there", () => {
  const references = [
    ["product", "sector_id", "sector"],
    ["product_sector", "sector_id", "sector"],
    ["keyword", "sector_id", "sector"],
    ["keyword", "cluster_id", "keyword_cluster"],
    ["keyword_month", "keyword_id", "keyword"],
    ["keyword_product_month", "keyword_id", "keyword"],
    ...["product_sector", "plan", "feature", "ai_source", "product_change", "product_month", "product_presence_month",
      "product_country", "keyword_product_month"].map((table) => [table, "tool_id", "product"]),
  ] as const; // prettier-ignore
  for (const [table, column, target] of references) {
    const dangling = `SELECT count(*) FROM ${table} WHERE ${column} IS NOT NULL AND ${column} NOT IN (SELECT ${column} FROM ${target})`;
    expect(countOf(market, dangling), `${table}.${column}`).toBe(0);
  }
});

test("a keyword's sums are those of its receiving products, and no product receives more than its organic visits", () => {
  const wrong = `SELECT count(*) FROM keyword_month k WHERE observed_products <> (
      SELECT count(*) FROM keyword_product_month p WHERE p.month = k.month AND p.keyword_id = k.keyword_id)
    OR observed_traffic <> (
      SELECT coalesce(sum(traffic), 0) FROM keyword_product_month p WHERE p.month = k.month AND p.keyword_id = k.keyword_id)`;
  expect(countOf(small, wrong)).toBe(0);
  const tooMuch = `SELECT count(*) FROM (
    SELECT sum(k.traffic) AS received, p.organic FROM keyword_product_month k JOIN product_month p USING (month, tool_id)
    GROUP BY month, tool_id HAVING received > p.organic)`;
  expect(countOf(small, tooMuch)).toBe(0);
  expect(
    countOf(small, "SELECT count(*) FROM keyword_month WHERE search_volume < observed_traffic"),
  ).toBe(0);
});

test("the keywords of a month have every comparison, every concentration and every brand type that the service has", () => {
  const rowOf = keywordRows({
    database: market,
    month: LAST,
    locale: "en",
    view: { isLimited: false },
  });
  const observed = rowsOf<{ id: number }>(
    market,
    `SELECT keyword_id AS id FROM keyword_month WHERE month = ${LAST}`,
  );
  const rows = observed.map(({ id }) => rowOf(id));
  expect(new Set(rows.map((row) => row?.comparison_status))).toEqual(new Set(COMPARISON_STATUSES));
  expect(new Set(rows.map((row) => row?.traffic_distribution?.concentration))).toEqual(
    new Set(CONCENTRATIONS),
  );
  expect(new Set(rows.map((row) => row?.brand_type))).toEqual(new Set(BRAND_TYPES));
});

test("the countries of a product have no more visits than the product", () => {
  const tooMuch = `SELECT count(*) FROM (
    SELECT sum(c.organic) AS of_countries, m.organic FROM product_country_month c JOIN product_month m USING (month, tool_id)
    GROUP BY month, tool_id HAVING of_countries > m.organic OR of_countries = 0 AND m.organic > 1000)`;
  expect(countOf(market, tooMuch)).toBe(0);
});

test("names and domains are unique, and everything has both languages", () => {
  for (const column of ["name", "domain", "slug"]) {
    expect(
      countOf(market, `SELECT count(*) - count(DISTINCT ${column}) FROM product`),
      column,
    ).toBe(0);
  }
  expect(
    countOf(
      market,
      "SELECT count(*) FROM product WHERE slug GLOB '*[^a-z0-9-]*' OR domain NOT LIKE '%.example'",
    ),
  ).toBe(0);
  expect(countOf(market, "SELECT count(*) - count(DISTINCT keyword) FROM keyword")).toBe(0);
  const isChinese = (text: string | null): boolean => /\p{Script=Han}/u.test(text ?? "");
  for (const row of rowsOf<{ name: string; tagline_en: string; tagline_zh: string }>(
    market,
    "SELECT * FROM product",
  )) {
    expect(isChinese(row.tagline_zh)).toBe(true);
    expect(isChinese(row.tagline_en)).toBe(false);
  }
  const keywords = rowsOf<{ keyword: string }>(market, "SELECT keyword FROM keyword").filter(
    ({ keyword }) => isChinese(keyword),
  );
  expect(keywords.length).toBeGreaterThan(1000);
});

test("each product has a tagline of its own in both languages, and its description names features that it has", () => {
  for (const column of ["tagline_en", "tagline_zh"]) {
    expect(
      countOf(market, `SELECT count(*) - count(DISTINCT ${column}) FROM product`),
      column,
    ).toBe(0);
  }
  const named = `SELECT count(*) FROM feature f
    WHERE f.tool_id = p.tool_id AND f.kind = 'feature' AND instr(p.long_description_en, f.name_en) > 0`;
  const wrong = `SELECT count(*) FROM product p WHERE long_description_en IS NOT NULL AND (${named}) < 2`;
  expect(countOf(market, wrong)).toBe(0);
});
