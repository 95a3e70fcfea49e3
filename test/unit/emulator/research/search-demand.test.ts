import { assert, boolean, constantFrom, property as forAll, record } from "fast-check";
import { expect, test } from "vitest";
import { COMPARISON_STATUSES, CONCENTRATIONS, searchDemandQuerySchema } from "../../../../src/api/search-demand.js";
import { readSearchDemand } from "../../../../src/emulator/research/read-search-demand.js";
import { madeMarket } from "../market/made-market.js";
import { LATEST } from "./hand-made-market.js";
import { defaultAssumptions } from "./default-assumptions.js";
import { oneOf, randomMarket, rarely } from "./random-market.js";
import { rawMarket, type RawMarket } from "./raw-data.js";
import { expectSameDemand } from "./same-demand.js";

const queries = record({
  locale: oneOf("en", "zh-CN"),
  q: rarely("voice", "语音", "clone voice", "video", "how to", ""),
  market: rarely("s1", "s2", "s3", "video-generation"),
  type: oneOf("all", "brand", "non_brand"),
  min_products: oneOf(1, 1, 2, 3, 5),
  min_traffic: rarely(40, 100),
  min_volume: rarely(1000, 2000),
  sort: oneOf("traffic", "volume", "products"),
  page: rarely(2, 3),
  limit: rarely(1, 5, 10, 50),
  keyword_id: oneOf(0, 0, 12, 18, 25, 38),
});

test("search demand agrees with a slow and plain recomputation [services/search-demand]", () => {
  // The generated market has views where the random markets have tables.
  const databases = [...[11, 12, 13, 14, 15].map((seed) => randomMarket(seed)), madeMarket(5, LATEST, 14)];
  const markets = databases.map((database) => rawMarket(database));
  const seen = new Set<string>();
  let rows = 0;
  let details = 0;
  assert(
    forAll(constantFrom(...markets.keys()), queries, boolean(), (index, query, isLimited) => {
      const answer = expectSameDemand(markets[index] as RawMarket, query, isLimited);
      rows += answer.items.length;
      details += Number(answer.keyword !== null);
      for (const { comparison_status, traffic_distribution } of answer.items) {
        seen.add(String(comparison_status)).add(String(traffic_distribution?.concentration));
      }
    }),
    { numRuns: 200 },
  );
  // Parameters that find nothing would agree with anything.
  expect(rows).toBeGreaterThan(100);
  expect(details).toBeGreaterThan(3);
  expect(seen).toEqual(new Set([...COMPARISON_STATUSES, ...CONCENTRATIONS]));
});

test("the terms that the summary counts are those that a list of all terms has", () => {
  const parameters = searchDemandQuerySchema.parse({ type: "all" });
  for (const seed of [1, 2, 3]) {
    const { summary, pagination } = readSearchDemand(
      randomMarket(seed),
      parameters,
      { isLimited: false },
      defaultAssumptions(),
    );
    expect(summary.observed_terms).toBe(pagination.total);
  }
});

test("what was asked for is said back, with every default in its place", () => {
  const database = randomMarket(1);
  const filters = (query: object): unknown =>
    readSearchDemand(database, searchDemandQuerySchema.parse(query), { isLimited: false }, defaultAssumptions())
      .filters;
  expect(filters({})).toEqual({
    demand_type: "non_brand",
    market_id: null,
    market: "",
    min_products: 1,
    min_traffic: 0,
    min_volume: 0,
    page: 1,
    page_size: 25,
    query: "",
    selected_keyword_id: null,
    sort: "traffic",
  });
  expect(filters({ market: "s2", q: "voice", type: "all", keyword_id: 0, page: 3, limit: 7 })).toMatchObject({
    demand_type: "all",
    market_id: 2,
    market: "s2",
    page: 3,
    page_size: 7,
    query: "voice",
    selected_keyword_id: null,
  });
});

test("a limited account sees 10 rows of page 1, one month of history and five sectors [search-demand-notes/developer-view] [tiers/developer]", () => {
  const sectors = Array.from({ length: 8 }, (_none, id) => ({
    sector_id: id + 10,
    slug: `more${id}`,
    name_en: "More",
    name_zh: "更多",
  }));
  const database = randomMarket(2);
  for (const sector of sectors)
    database.prepare("INSERT INTO sector VALUES (@sector_id, @slug, @name_en, @name_zh)").run(sector);
  const parameters = searchDemandQuerySchema.parse({ type: "all", page: 2, limit: 50, keyword_id: 7 });
  const assumptions = { ...defaultAssumptions(), unknownNames: "empty" as const };
  const limited = readSearchDemand(database, parameters, { isLimited: true }, assumptions);
  const full = readSearchDemand(database, { ...parameters, page: 1 }, { isLimited: false }, assumptions);
  expect(limited.items).toHaveLength(10);
  expect(limited.items).toEqual(full.items.slice(0, 10));
  expect(limited.pagination).toMatchObject({ page: 1, limit: 10, has_more: false });
  expect([limited.markets.length, full.markets.length]).toEqual([5, 11]);
  expect([limited.keyword?.history.length, full.keyword?.history.length]).toEqual([1, 3]);
});

test("a market or a keyword that there is not is not found", () => {
  const database = randomMarket(1);
  for (const query of [{ market: "nothing" }, { keyword_id: 999 }]) {
    expect(() =>
      readSearchDemand(database, searchDemandQuerySchema.parse(query), { isLimited: false }, defaultAssumptions()),
    ).toThrow(expect.objectContaining({ code: "RESOURCE_NOT_FOUND", status: 404 }));
  }
});
