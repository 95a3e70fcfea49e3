import { assert, boolean, constantFrom, integer, property as forAll, record } from "fast-check";
import { expect, test } from "vitest";
import { madeMarket } from "../market/made-market.js";
import { LATEST } from "./hand-made-market.js";
import { oneOf, rarely } from "./random-market.js";
import { rawMarket, type RawMarket } from "./raw-data.js";
import { expectSameDemand } from "./same-demand.js";
import { expectSameRanking } from "./same-ranking.js";

const RUNS = 60;

const market = rawMarket(madeMarket(5, LATEST, 14));

function slugsOf({ raw }: RawMarket): string[] {
  return raw.sectors.map((row) => String(row["slug"]));
}

test("rankings of the emulator's own data equal a recomputation from its raw rows", () => {
  const queries = record({
    category: rarely(...slugsOf(market)),
    country: rarely("US", "CN", "DE", "in", "ZZ"),
    q: rarely("a", "video", "语音", "助手", "studio", "example"),
    sort: oneOf("growth", "gain", "traffic", "dr_growth", "organic", "ai", "paid"),
    order: oneOf("asc", "desc"),
    min_traffic: rarely(0, 10_000, 1_000_000),
    min_growth: rarely(0.05, 0.3, 2),
    min_dr: rarely(20, 50.5),
    min_dr_gain: rarely(0.1, 1),
    max_domain_age_months: rarely(6, 24, 120),
    page: rarely(2, 7, 200),
    limit: rarely(1, 10, 50),
  });
  let rows = 0;
  assert(
    forAll(queries, boolean(), (query, isLimited) => {
      rows += expectSameRanking(market, query, isLimited);
    }),
    { numRuns: RUNS },
  );
  // The random queries found something to compare.
  expect(rows).toBeGreaterThan(50);
});

test("search demand of the emulator's own data equals a recomputation from its raw rows", () => {
  const keywordIds = market.raw.keywords.map((row) => Number(row["keyword_id"]));
  const queries = record({
    q: rarely("a", "video", "语音", "生成", "best ai", "how to"),
    market: rarely(...slugsOf(market)),
    type: oneOf("all", "brand", "non_brand"),
    min_products: constantFrom(1, 1, 1, 2, 3, 5),
    min_traffic: rarely(100, 10_000),
    min_volume: rarely(1000, 100_000),
    sort: oneOf("traffic", "volume", "products"),
    page: rarely(2, 20, 1000),
    limit: rarely(1, 10, 50),
    keyword_id: integer({ min: 0, max: keywordIds.length - 1 }).map((index) =>
      index % 4 === 0 ? keywordIds[index] : undefined,
    ),
  });
  let rows = 0;
  let details = 0;
  assert(
    forAll(queries, boolean(), (query, isLimited) => {
      const answer = expectSameDemand(market, query, isLimited);
      rows += answer.items.length;
      details += Number(answer.keyword !== null);
    }),
    { numRuns: RUNS },
  );
  // The random queries found something to compare.
  expect(rows).toBeGreaterThan(50);
  expect(details).toBeGreaterThan(0);
});
