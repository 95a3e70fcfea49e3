import { assert, boolean, property as forAll, record } from "fast-check";
import { expect, test } from "vitest";
import {
  COMPARISON_STATUSES,
  CONCENTRATIONS,
  searchDemandQuerySchema,
  searchDemandResponseSchema,
  type KeywordDetail,
  type KeywordRow,
} from "../../../../src/api/search-demand.js";
import { formatMonth } from "../../../../src/emulator/month.js";
import { readSearchDemand } from "../../../../src/emulator/research/read-search-demand.js";
import { handMadeCatalog } from "../hand-made-catalog.js";
import { defaultAssumptions } from "./default-assumptions.js";
import { plainMatch } from "./plain-match.js";
import { oneOf, randomCatalog, rarely } from "./random-catalog.js";
import { readRawData } from "./raw-data.js";
import { recomputeSearchDemand, type RecomputedKeyword } from "./recompute-search-demand.js";

const queries = record({
  locale: oneOf("en", "zh-CN"),
  q: rarely("voice", "语音", "clone voice", ""),
  market: rarely("s1", "s2", "s3"),
  type: oneOf("all", "brand", "non_brand"),
  min_products: oneOf(1, 1, 2, 3, 5),
  min_traffic: rarely(40, 100),
  min_volume: rarely(1000, 2000),
  sort: oneOf("traffic", "volume", "products"),
  page: rarely(2, 3),
  limit: rarely(1, 5, 10, 50),
  keyword_id: oneOf(0, 1, 2, 3, 4, 5),
});

test("search demand agrees with a slow and plain recomputation, for 1,000 random parameter sets", () => {
  const catalogs = [11, 12, 13, 14, 15].map((seed) => {
    const database = randomCatalog(seed);
    return { database, raw: readRawData(database) };
  });
  const assumptions = { ...defaultAssumptions(), unknownNames: "empty" as const };
  const seen = new Set<string>();
  let rows = 0;
  let details = 0;
  assert(
    forAll(oneOf(...catalogs), queries, boolean(), ({ database, raw }, query, isLimited) => {
      const parameters = searchDemandQuerySchema.parse(query);
      const answer = searchDemandResponseSchema.parse(
        readSearchDemand(database, parameters, { isLimited }, assumptions),
      );
      const plain = recomputeSearchDemand(raw, parameters, (row, text) => plainMatch(String(row["keyword"]), text));
      const limit = isLimited ? Math.min(10, parameters.limit) : parameters.limit;
      const page = isLimited ? 1 : parameters.page;
      const total = isLimited ? Math.min(limit, plain.keywordIds.length) : plain.keywordIds.length;
      expect(answer.items.map(({ keyword_id }) => keyword_id)).toEqual(
        plain.keywordIds.slice((page - 1) * limit, page * limit),
      );
      expect(answer.pagination).toEqual({
        page,
        limit,
        total,
        total_pages: Math.ceil(total / limit),
        has_more: page * limit < total,
        has_previous: page > 1,
      });
      rows += answer.items.length;
      for (const item of answer.items) {
        agree(item, plain.row(item.keyword_id));
        seen.add(String(item.comparison_status)).add(String(item.traffic_distribution?.concentration));
      }
      if (answer.keyword !== null) {
        details++;
        agreeInDetail(answer.keyword, plain.row(answer.keyword.keyword_id), isLimited);
      }
    }),
    { numRuns: 1000 },
  );
  // Parameters that find nothing would agree with anything.
  expect(rows).toBeGreaterThan(2000);
  expect(details).toBeGreaterThan(100);
  expect(seen).toEqual(new Set([...COMPARISON_STATUSES, ...CONCENTRATIONS]));
});

function agree(item: KeywordRow, plain: RecomputedKeyword): void {
  expect({
    observed_traffic: item.observed_traffic,
    observed_products: item.observed_products,
    observed_markets: item.observed_markets,
    search_volume: item.search_volume,
    product_change1m: item.product_change1m,
    traffic_change1m: item.traffic_change1m,
    comparison_status: item.comparison_status,
  }).toEqual({
    observed_traffic: plain.traffic,
    observed_products: plain.products.length,
    observed_markets: plain.markets.length,
    search_volume: plain.volume,
    product_change1m: plain.productChange,
    traffic_change1m: plain.trafficChange,
    comparison_status: plain.comparison,
  });
  const listed = plain.products.slice(0, 5);
  const others = plain.products.slice(5);
  expect(item.traffic_distribution).toMatchObject({
    products: listed.map(({ tool_id, traffic }) => ({
      tool_id,
      observed_traffic: traffic,
      share: plain.traffic === 0 ? null : traffic / plain.traffic,
    })),
    total_traffic: plain.traffic,
    product_count: plain.products.length,
    other_traffic: others.reduce((total, { traffic }) => total + traffic, 0),
    other_products: others.length,
    cr3: plain.cr3,
    concentration: plain.concentration,
  });
}

function agreeInDetail(detail: KeywordDetail, plain: RecomputedKeyword, isLimited: boolean): void {
  agree(detail, plain);
  const most = isLimited ? 10 : 50;
  expect(detail.history).toEqual(
    plain.history.slice(isLimited ? -1 : 0).map(({ month, products, traffic, volume }) => ({
      month: formatMonth(month),
      observed_products: products,
      observed_traffic: traffic,
      search_volume: volume,
    })),
  );
  expect(detail.markets.map(({ market_id, share }) => ({ market_id, share }))).toEqual(
    plain.markets.slice(0, most).map(({ market_id, traffic }) => ({
      market_id,
      share: plain.traffic === 0 ? 0 : traffic / plain.traffic,
    })),
  );
  expect(detail.products.map(({ tool_id, observed_traffic }) => ({ tool_id, traffic: observed_traffic }))).toEqual(
    plain.products.slice(0, most).map(({ tool_id, traffic }) => ({ tool_id, traffic })),
  );
  expect(
    detail.related_observed.map(({ keyword_id, shared_products }) => ({ keyword_id, shared: shared_products })),
  ).toEqual(plain.related.slice(0, most));
}

test("the answer has the nine keys of the document and no other", () => {
  const parameters = searchDemandQuerySchema.parse({});
  const answer = readSearchDemand(randomCatalog(1), parameters, { isLimited: false }, defaultAssumptions());
  expect(Object.keys(answer).sort()).toEqual([
    "dataset",
    "filters",
    "items",
    "keyword",
    "markets",
    "pagination",
    "requested_locale",
    "resolved_locale",
    "summary",
  ]);
});

test("what was asked for is said back, with every default in its place", () => {
  const database = randomCatalog(1);
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

test("a limited account sees 10 rows of page 1, one month of history and five sectors", () => {
  const sectors = Array.from({ length: 8 }, (_none, id) => ({
    sector_id: id + 10,
    slug: `more${id}`,
    name_en: "More",
    name_zh: "更多",
  }));
  const database = randomCatalog(2);
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
  const database = randomCatalog(1);
  for (const query of [{ market: "nothing" }, { keyword_id: 999 }]) {
    expect(() =>
      readSearchDemand(database, searchDemandQuerySchema.parse(query), { isLimited: false }, defaultAssumptions()),
    ).toThrow(expect.objectContaining({ code: "RESOURCE_NOT_FOUND", status: 404 }));
  }
});

test("before anything was observed the data is unavailable", () => {
  expect(() =>
    readSearchDemand(
      handMadeCatalog({}),
      searchDemandQuerySchema.parse({}),
      { isLimited: false },
      defaultAssumptions(),
    ),
  ).toThrow(expect.objectContaining({ code: "DATA_UNAVAILABLE" }));
});
