import { expect } from "vitest";
import {
  searchDemandQuerySchema,
  searchDemandResponseSchema,
  type KeywordDetail,
  type KeywordRow,
  type SearchDemandResponse,
} from "../../../../src/api/search-demand.js";
import { formatMonth } from "../../../../src/emulator/time/month.js";
import { readSearchDemand } from "../../../../src/emulator/research/read-search-demand.js";
import { defaultAssumptions } from "./default-assumptions.js";
import { plainMatch } from "./plain-match.js";
import type { RawMarket } from "./raw-data.js";
import { recomputeSearchDemand, type RecomputedKeyword } from "./recompute-search-demand.js";

/** Expects the SQL's answer to be that of the recomputation, and gives it. */
export function expectSameDemand(
  { database, raw }: RawMarket,
  query: unknown,
  isLimited: boolean,
): SearchDemandResponse {
  const parameters = searchDemandQuerySchema.parse(query);
  const assumptions = { ...defaultAssumptions(), unknownNames: "empty" as const };
  const answer = searchDemandResponseSchema.parse(readSearchDemand(database, parameters, { isLimited }, assumptions));
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
    // There is no page 1001.
    has_more: page < 1000 && page * limit < total,
    has_previous: page > 1,
  });
  for (const item of answer.items) agree(item, plain.row(item.keyword_id));
  if (answer.keyword !== null) agreeInDetail(answer.keyword, plain.row(answer.keyword.keyword_id), isLimited);
  return answer;
}

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
