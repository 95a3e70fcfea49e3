import type { InvestigationTask } from "../../../src/api/investigation.js";
import type { PlainAnswer } from "./serve-answers.js";

export const TASK_ID = "task_00000000-0000-4000-8000-000000000001";

export function task(over: Partial<InvestigationTask> = {}): InvestigationTask {
  return {
    task_id: TASK_ID,
    type: "promotion_investigation",
    status: "queued",
    stage: "queued",
    status_url: `/v1/research/promotion-investigations/${TASK_ID}`,
    result_url: null,
    poll_after_seconds: 60,
    created_at: "2026-11-01T00:00:00Z",
    updated_at: "2026-11-01T00:00:00Z",
    completed_at: null,
    error: null,
    report: null,
    ...over,
  };
}

export const failedTask = (): InvestigationTask =>
  task({
    status: "failed",
    stage: "complete",
    poll_after_seconds: null,
    completed_at: "2026-11-01T01:00:00Z",
    error: { code: "SOURCES_UNREACHABLE", message: "No source answered." },
  });

export const cancelledTask = (): InvestigationTask =>
  task({ status: "cancelled", poll_after_seconds: null, completed_at: "2026-11-01T01:00:00Z" });

export const registration = {
  id: "wh_1",
  url: "https://receiver.example/signals",
  status: "pending",
  locale: "en",
  signal_types: ["price_increased"],
  failure_count: 0,
  created_at: "2026-11-01T00:00:00Z",
  updated_at: "2026-11-01T00:00:00Z",
  signing_secret: "whsec_shown_once",
};

export const profile = {
  tool_id: 51_207,
  canonical_slug: "larkvoice",
  localized_slug: "larkvoice",
  name: "Larkvoice",
  official_url: "https://larkvoice.example",
  pricing_model: "freemium",
  listed_at: "2025-01-01T00:00:00Z",
  verification_status: "verified",
  staleness_status: "fresh",
  has_free_plan: true,
  has_free_trial: false,
  has_api: true,
  has_mcp: false,
  requested_locale: "en",
  resolved_locale: "en",
  available_locales: ["en"],
  categories: [],
};

export const keywordRow = (id: number) => ({
  keyword: `keyword ${id}`,
  keyword_id: id,
  brand_type: "generic",
  cluster_id: null,
  cluster_name: null,
  market_id: null,
  market_name: null,
  market_slug: null,
  observed_markets: 1,
  observed_products: 2,
  observed_traffic: 3.5,
  search_volume: 4,
  product_change1m: null,
  traffic_change1m: null,
});

export function demandPage(page: number, hasMore: boolean, ids: readonly number[] = [page]) {
  return {
    dataset: {
      captured_at: null,
      observed_month: "2026-10",
      exhaustive: false,
      source: "provider",
      sample_type: "top_search_keywords",
    },
    filters: {
      demand_type: "non_brand",
      market_id: null,
      market: "",
      min_products: 1,
      min_traffic: 0,
      min_volume: 0,
      page,
      page_size: 25,
      query: "",
      selected_keyword_id: null,
      sort: "traffic",
    },
    items: ids.map(keywordRow),
    keyword: null,
    markets: [],
    pagination: { page, limit: 25, total: 100, total_pages: 4, has_more: hasMore, has_previous: page > 1 },
    requested_locale: "en",
    resolved_locale: "en",
    summary: {
      captured_at: null,
      latest_month: null,
      markets: 0,
      observed_products: 0,
      observed_terms: 0,
      sample_type: "top_search_keywords",
      source: "provider",
    },
  };
}

export const rankingItem = (rank: number) => ({
  rank,
  tool_id: rank,
  name: `Product ${rank}`,
  slug: `product-${rank}`,
  normalized_domain: `product-${rank}.example`,
  latest_month: "2026-10",
  previous_month: "2026-09",
  latest_visits: 10,
  previous_visits: 5,
  visits_change: 5,
  growth_rate: 1,
});

export function rankingsPage(page: number, hasMore: boolean, ranks: readonly number[] = [page]) {
  return {
    dataset: { methodology_version: "1" },
    eligible_population: 100,
    filters: {},
    items: ranks.map(rankingItem),
    pagination: { page, limit: 25, has_more: hasMore },
    requested_locale: "en",
    resolved_locale: "en",
  };
}

/** The service's own error. */
export function refusal(
  status: number,
  code: string,
  { headers, details }: { headers?: Record<string, string>; details?: unknown } = {},
): PlainAnswer {
  return {
    status,
    ...(headers === undefined ? {} : { headers }),
    json: { error: { code, message: `It says ${code}.`, details }, request_id: "req_17" },
  };
}

export const quotaHeaders = (resetAt: string): Record<string, string> => ({
  "X-Quota-Limit": "50",
  "X-Quota-Remaining": "0",
  "X-Quota-Policy": "50;month",
  "X-Quota-Reset": resetAt,
});
