import { assert, boolean, constantFrom, integer, property as forAll, record } from "fast-check";
import { expect, test } from "vitest";
import { openSqlite } from "../../../../src/emulator/database/open-sqlite.js";
import { MARKET_SCHEMA } from "../../../../src/emulator/market/market-schema.js";
import { generateMarket } from "../../../../src/emulator/market/generator/generate-market.js";
import { LATEST } from "./hand-made-market.js";
import { oneOf, rarely } from "./random-market.js";
import { rawCatalog, type RawCatalog } from "./raw-data.js";
import { expectSameDemand } from "./same-demand.js";
import { expectSameRanking } from "./same-ranking.js";

/** A thousand recomputations take half a minute on a machine that is busy. */
const TIMEOUT_MS = 240_000;

function generated(): RawCatalog {
  const database = openSqlite(":memory:");
  database.exec(MARKET_SCHEMA);
  generateMarket(database, { seed: 5, months: 14, lastMonth: LATEST });
  return rawCatalog(database);
}

function slugsOf({ raw }: RawCatalog): string[] {
  return raw.sectors.map((row) => String(row["slug"]));
}

test(
  "rankings of the emulator's own data equal a recomputation from its raw rows, for 1,000 random parameter sets",
  () => {
    const catalog = generated();
    const queries = record({
      category: rarely(...slugsOf(catalog)),
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
        rows += expectSameRanking(catalog, query, isLimited);
      }),
      { numRuns: 1000 },
    );
    expect(rows).toBeGreaterThan(5000);
  },
  TIMEOUT_MS,
);

test(
  "search demand of the emulator's own data equals a recomputation from its raw rows, for 1,000 random parameter sets",
  () => {
    const catalog = generated();
    const keywordIds = catalog.raw.keywords.map((row) => Number(row["keyword_id"]));
    const queries = record({
      q: rarely("a", "video", "语音", "生成", "best ai", "how to"),
      market: rarely(...slugsOf(catalog)),
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
        const answer = expectSameDemand(catalog, query, isLimited);
        rows += answer.items.length;
        details += Number(answer.keyword !== null);
      }),
      { numRuns: 1000 },
    );
    expect(rows).toBeGreaterThan(5000);
    expect(details).toBeGreaterThan(100);
  },
  TIMEOUT_MS,
);
