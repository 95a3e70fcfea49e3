import { expect, test } from "vitest";
import { exampleOf, fits } from "./contract.js";
import { expectField } from "./expect-field.js";
import {
  anObject,
  boolean,
  count,
  integer,
  listOf,
  number,
  oneOf,
  optional,
  orNull,
  shape,
  text,
  type FieldKind,
} from "./field-kinds.js";

const DEMAND = exampleOf("searchDemand");
const DETAIL = DEMAND["keyword"] as Record<string, unknown>;
const [ROW = {}] = DEMAND["items"] as Record<string, unknown>[];
const RANKINGS = exampleOf("rankings");
const [ITEM = {}] = RANKINGS["items"] as Record<string, unknown>[];

const fromOne: FieldKind = { takes: [1, 50], refuses: [0, -1, 1.5, null, "1"] };
const never: FieldKind = { takes: [false], refuses: [true, null, 0] };
const sampleType = oneOf("top_search_keywords");
const changeOrNull = orNull(number);

const distribution = shape({
  products: listOf(
    shape({
      tool_id: integer,
      name: text,
      slug: text,
      domain: optional(text),
      market_name: orNull(text),
      observed_traffic: number,
      share: orNull(number),
    }),
  ),
  total_traffic: number,
  product_count: integer,
  other_traffic: number,
  other_products: integer,
  cr3: orNull(number),
  concentration: oneOf("unknown", "single", "concentrated", "balanced", "distributed"),
});

test("the answer has nine keys, and none may be left out [search-demand-parts/nine-keys]", () => {
  const names = Object.keys(DEMAND).sort();
  const parts = "dataset filters items keyword markets pagination requested_locale resolved_locale summary";
  expect(names.join(" ")).toBe(parts);
  for (const name of names) {
    const { [name]: _left, ...without } = DEMAND;
    expect(fits("SearchDemandResponse", without), name).toBe(false);
  }
  expectField("SearchDemandResponse", "requested_locale", DEMAND, text);
  expectField("SearchDemandResponse", "resolved_locale", DEMAND, text);
});

test.each<[row: string, kind: FieldKind]>([
  [
    "[search-demand-parts/dataset]",
    shape({
      captured_at: orNull(text),
      observed_month: orNull(text),
      exhaustive: never,
      source: text,
      sample_type: sampleType,
    }),
  ],
  [
    "[search-demand-parts/summary]",
    shape({
      captured_at: orNull(text),
      latest_month: orNull(text),
      markets: count,
      observed_products: count,
      observed_terms: count,
      sample_type: sampleType,
      source: text,
    }),
  ],
  [
    "[search-demand-parts/filters]",
    shape({
      demand_type: oneOf("all", "non_brand", "brand"),
      market_id: orNull(number),
      market: text,
      min_products: count,
      min_traffic: number,
      min_volume: number,
      page: fromOne,
      page_size: fromOne,
      query: text,
      selected_keyword_id: orNull(number),
      sort: oneOf("traffic", "volume", "products"),
    }),
  ],
  ["[search-demand-parts/markets]", listOf(shape({ id: integer, name: text, slug: text }))],
  [
    "[search-demand-parts/pagination]",
    shape({
      page: integer,
      limit: integer,
      total: integer,
      total_pages: integer,
      has_more: boolean,
      has_previous: boolean,
    }),
  ],
  ["[search-demand-parts/keyword]", { takes: [null, DETAIL], refuses: [{}, ROW, "text", []] }],
])("a part of the answer is what the document says %s", (row, kind) => {
  expectField("SearchDemandResponse", row, DEMAND, kind);
});

test("traffic is spread over products as the document says [search-demand-parts/traffic_distribution]", () => {
  for (const value of distribution.takes) expect(fits("TrafficDistribution", value)).toBe(true);
  for (const value of distribution.refuses) expect(fits("TrafficDistribution", value)).toBe(false);
});

test.each<[row: string, kind: FieldKind]>([
  ["[keyword-row/keyword]", text],
  ["[keyword-row/keyword_id]", integer],
  ["[keyword-row/brand_type]", oneOf("generic", "brand_navigational", "brand_commercial", "mixed", "unknown")],
  ["[keyword-row/cluster_id]", orNull(text)],
  ["[keyword-row/cluster_name]", orNull(text)],
  ["[keyword-row/market_id]", orNull(number)],
  ["[keyword-row/market_name]", orNull(text)],
  ["[keyword-row/market_slug]", orNull(text)],
  ["[keyword-row/observed_markets]", count],
  ["[keyword-row/observed_products]", count],
  ["[keyword-row/observed_traffic]", number],
  ["[keyword-row/search_volume]", number],
  ["[keyword-row/product_change1m]", changeOrNull],
  ["[keyword-row/traffic_change1m]", changeOrNull],
  [
    "[keyword-row/comparison_status]",
    optional(
      oneOf(
        "comparable",
        "sample_changed",
        "new_observation",
        "missing_history",
        "insufficient_baseline",
        "unverified",
      ),
    ),
  ],
  ["[keyword-row/traffic_distribution]", optional(distribution)],
])("a field of a keyword is what the document says, in a row and in the detail %s", (row, kind) => {
  expectField("KeywordRow", row, ROW, kind);
  expectField("KeywordDetail", row, DETAIL, kind);
});

test("fourteen fields of a keyword are always there [keyword-row-notes/fourteen-required]", () => {
  const canGo = Object.keys(ROW).filter((name) => {
    const { [name]: _left, ...without } = ROW;
    return fits("KeywordRow", without);
  });
  expect(canGo).toEqual(["comparison_status", "traffic_distribution"]);
  expect(Object.keys(ROW)).toHaveLength(14 + canGo.length);
});

test("a keyword may have more fields [keyword-row-notes/more-fields]", () => {
  expect(fits("KeywordRow", { ...ROW, a_field_of_tomorrow: [1] })).toBe(true);
  expect(fits("KeywordDetail", { ...DETAIL, a_field_of_tomorrow: [1] })).toBe(true);
});

test.each<[row: string, kind: FieldKind]>([
  [
    "[keyword-detail/history]",
    listOf(shape({ month: text, observed_products: integer, observed_traffic: number, search_volume: number })),
  ],
  [
    "[keyword-detail/markets]",
    listOf(
      shape({
        market_id: integer,
        market_name: text,
        observed_products: integer,
        observed_traffic: number,
        share: number,
      }),
    ),
  ],
  [
    "[keyword-detail/products]",
    listOf(
      shape({
        tool_id: integer,
        name: text,
        slug: text,
        domain: optional(text),
        market_name: orNull(text),
        observed_traffic: number,
      }),
    ),
  ],
  [
    "[keyword-detail/related_observed]",
    listOf(
      shape({
        keyword: text,
        keyword_id: integer,
        observed_products: integer,
        observed_traffic: number,
        shared_products: integer,
      }),
    ),
  ],
])("a part of a keyword's detail is what the document says %s", (row, kind) => {
  expectField("KeywordDetail", row, DETAIL, kind);
});

test("the answer of the rankings has seven keys that are always there [rankings-parts/required-keys]", () => {
  const kinds: Record<string, FieldKind> = {
    dataset: anObject,
    eligible_population: integer,
    filters: anObject,
    items: listOf({ takes: [ITEM], refuses: [{}, null] }),
    requested_locale: text,
    resolved_locale: text,
  };
  for (const [name, kind] of Object.entries(kinds)) expectField("RankingsResponse", name, RANKINGS, kind);
  const { pagination: _left, ...without } = RANKINGS;
  expect(fits("RankingsResponse", without)).toBe(false);
});

test("a category is an object, null or not there [rankings-parts/category]", () => {
  expectField("RankingsResponse", "category", RANKINGS, optional(orNull(anObject)));
});

test("pages of the rankings need three fields and may have five more [rankings-parts/pagination]", () => {
  const pagination = shape({
    page: integer,
    limit: integer,
    has_more: boolean,
    has_previous: optional(boolean),
    next_page: optional(orNull(integer)),
    previous_page: optional(orNull(integer)),
    total: optional(integer),
    total_pages: optional(integer),
  });
  expectField("RankingsResponse", "pagination", RANKINGS, pagination);
});

test.each<[row: string, kind: FieldKind]>([
  ["[ranking-item/rank]", integer],
  ["[ranking-item/tool_id]", integer],
  ["[ranking-item/name]", text],
  ["[ranking-item/slug]", text],
  ["[ranking-item/normalized_domain]", text],
  ["[ranking-item/primary_category_name]", optional(orNull(text))],
  ["[ranking-item/primary_category_slug]", optional(orNull(text))],
  ["[ranking-item/latest_month]", text],
  ["[ranking-item/previous_month]", text],
  ["[ranking-item/latest_visits]", number],
  ["[ranking-item/previous_visits]", number],
  ["[ranking-item/visits_change]", number],
  ["[ranking-item/growth_rate]", number],
  ["[ranking-item/domain_rating]", optional(orNull(number))],
  ["[ranking-item/favicon_url]", optional(orNull(text))],
])("a field of a ranked product is what the document says %s", (row, kind) => {
  expectField("RankingItem", row, ITEM, kind);
});

test("a ranked product may have more fields [ranking-item-notes/more-fields]", () => {
  expect(fits("RankingItem", { ...ITEM, ai_visits: null })).toBe(true);
});
