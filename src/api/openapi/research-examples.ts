import type { RankingsResponse } from "../rankings.js";
import type { KeywordRow, SearchDemandResponse } from "../search-demand.js";

const keywordRow: KeywordRow = {
  keyword: "ai meeting notes",
  keyword_id: 88301,
  brand_type: "generic",
  cluster_id: null,
  cluster_name: null,
  market_id: 4,
  market_name: "Productivity",
  market_slug: "productivity",
  observed_markets: 1,
  observed_products: 1,
  observed_traffic: 12_400,
  search_volume: 40_500,
  product_change1m: 0,
  traffic_change1m: 0.08,
  comparison_status: "comparable",
  traffic_distribution: {
    products: [
      {
        tool_id: 1042,
        name: "Aurora Notes",
        slug: "aurora-notes",
        domain: "aurora-notes.example",
        market_name: "Productivity",
        observed_traffic: 12_400,
        share: 1,
      },
    ],
    total_traffic: 12_400,
    product_count: 1,
    other_traffic: 0,
    other_products: 0,
    cr3: 1,
    concentration: "single",
  },
};

/** An answer of operation 5, with the detail of a keyword. */
export const searchDemand: SearchDemandResponse = {
  dataset: {
    captured_at: "2026-03-01T00:00:00.000Z",
    observed_month: "2026-02",
    exhaustive: false,
    source: "traffic_data_provider",
    sample_type: "top_search_keywords",
  },
  filters: {
    demand_type: "non_brand",
    market_id: null,
    market: "",
    min_products: 1,
    min_traffic: 0,
    min_volume: 0,
    page: 1,
    page_size: 25,
    query: "meeting",
    selected_keyword_id: 88301,
    sort: "traffic",
  },
  items: [keywordRow],
  keyword: {
    ...keywordRow,
    history: [{ month: "2026-02", observed_products: 1, observed_traffic: 12_400, search_volume: 40_500 }],
    markets: [{ market_id: 4, market_name: "Productivity", observed_products: 1, observed_traffic: 12_400, share: 1 }],
    products: [
      {
        tool_id: 1042,
        name: "Aurora Notes",
        slug: "aurora-notes",
        domain: "aurora-notes.example",
        market_name: "Productivity",
        observed_traffic: 12_400,
      },
    ],
    related_observed: [
      {
        keyword: "meeting summary ai",
        keyword_id: 88302,
        observed_products: 1,
        observed_traffic: 3_100,
        shared_products: 1,
      },
    ],
  },
  markets: [{ id: 4, name: "Productivity", slug: "productivity" }],
  pagination: { page: 1, limit: 25, total: 1, total_pages: 1, has_more: false, has_previous: false },
  requested_locale: "en",
  resolved_locale: "en",
  summary: {
    captured_at: "2026-03-01T00:00:00.000Z",
    latest_month: "2026-02",
    markets: 1,
    observed_products: 1,
    observed_terms: 1,
    sample_type: "top_search_keywords",
    source: "traffic_data_provider",
  },
};

/** An answer of operation 6. */
export const rankings: RankingsResponse = {
  dataset: { methodology_version: "1" },
  eligible_population: 1,
  filters: { sort: "growth", order: "desc", min_traffic: 1000 },
  items: [
    {
      rank: 1,
      tool_id: 1042,
      name: "Aurora Notes",
      slug: "aurora-notes",
      normalized_domain: "aurora-notes.example",
      primary_category_name: "Productivity",
      primary_category_slug: "productivity",
      latest_month: "2026-02",
      previous_month: "2026-01",
      latest_visits: 131_400,
      previous_visits: 100_000,
      visits_change: 31_400,
      growth_rate: 0.314,
      domain_rating: 54,
      favicon_url: null,
    },
  ],
  pagination: { page: 1, limit: 25, has_more: false, has_previous: false, total: 1, total_pages: 1 },
  requested_locale: "en",
  resolved_locale: "en",
  category: null,
};
