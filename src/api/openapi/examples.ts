import type { z } from "zod";
import type { InvestigationTask, StartInvestigationBody } from "../investigation.js";
import { LIMITS } from "../limits.js";
import { API_PREFIX, type OperationName } from "../operations.js";
import type { ProductProfile } from "../product-profile.js";
import type { RankingsResponse } from "../rankings.js";
import type { KeywordRow, SearchDemandResponse } from "../search-demand.js";
import type { signalPublishedSchema, webhookTestSchema, webhookVerificationSchema } from "../sent-events.js";
import type { NewRegistration, RegisterWebhookBody } from "../webhook-registration.js";

const EXAMPLE_TIME = "2026-03-02T09:15:00.000Z";

/** The id of the example task. */
export const TASK_ID = "task_3f0c2a6e-5b1d-4e8a-9c47-d2b6f1a0e935";

const startInvestigationBody: StartInvestigationBody = {
  slug: "aurora-notes",
  locale: "en",
  idempotency_key: "9b2f6c1e-4d7a-4f3b-8e5c-1a6d0b7f2c94",
  confirm_usage: true,
};

const queuedTask: InvestigationTask = {
  task_id: TASK_ID,
  type: "promotion_investigation",
  status: "queued",
  stage: "queued",
  status_url: `${API_PREFIX}/research/promotion-investigations/${TASK_ID}`,
  result_url: null,
  poll_after_seconds: LIMITS.pollAfterSeconds,
  created_at: EXAMPLE_TIME,
  updated_at: EXAMPLE_TIME,
  completed_at: null,
  error: null,
  report: null,
};

const succeededTask: InvestigationTask = {
  ...queuedTask,
  status: "succeeded",
  stage: "complete",
  result_url: queuedTask.status_url,
  poll_after_seconds: null,
  updated_at: "2026-03-02T09:21:30.000Z",
  completed_at: "2026-03-02T09:21:30.000Z",
  report: {
    version: "1",
    generated_at: "2026-03-02T09:21:30.000Z",
    narrative: {
      title: "How Aurora Notes was promoted",
      summary: { text: "Two launches and a run of search ads.", citations: [1] },
      sections: [],
      limitations: "Only public sources were read.",
    },
    summary: {
      actionEvidenceCount: 1,
      channelCount: 1,
      contextLeadCount: 0,
      sourceCount: 1,
      unresolvedActionCount: 0,
    },
    analysis: {
      overview: "Promotion began with a launch in January.",
      method: "Public sources were read and dated.",
      observations: [],
      phases: [],
      channels: ["launch sites"],
      openQuestions: [],
    },
    timeline: [{ date: "2026-01-14", title: "Launch" }],
    strategies: [],
    sources: [{ id: 1, url: "https://aurora-notes.example/blog/launch" }],
    context_leads: [],
    conclusion: "The launch is well covered; its effect on traffic is not established.",
    limitations: ["Paid channels are not visible."],
    caveat: "What came before does not show what caused it.",
    reliability: {
      actorAttribution: "medium",
      coverageLevel: "medium",
      growthCausality: "not_established",
      growthImpact: "not_established",
    },
    omitted_action_count: 0,
    omitted_context_count: 0,
  },
};

const registerWebhookBody: RegisterWebhookBody = {
  url: "https://hooks.customer.example/signals",
  locale: "en",
  signal_types: ["traffic_breakout", "price_increased"],
};

const registration: NewRegistration = {
  id: "whk_7d41c0a95e",
  url: registerWebhookBody.url,
  status: "pending",
  locale: "en",
  signal_types: ["traffic_breakout", "price_increased"],
  failure_count: 0,
  created_at: EXAMPLE_TIME,
  updated_at: EXAMPLE_TIME,
  signing_secret: "<SIGNING_SECRET>",
};

const profile: ProductProfile = {
  tool_id: 1042,
  canonical_slug: "aurora-notes",
  localized_slug: "aurora-notes",
  name: "Aurora Notes",
  tagline: "Meeting notes that write themselves",
  short_description: null,
  official_url: "https://aurora-notes.example",
  pricing_model: "freemium",
  listed_at: "2025-06-11T00:00:00.000Z",
  verification_status: "verified",
  staleness_status: "fresh",
  has_free_plan: true,
  has_free_trial: false,
  has_api: true,
  has_mcp: false,
  requested_locale: "en",
  resolved_locale: "en",
  available_locales: ["en", "zh-CN"],
  categories: [{ slug: "productivity", name: "Productivity" }],
  primary_category_slug: "productivity",
  primary_category_name: "Productivity",
};

const observedProduct = {
  tool_id: 1042,
  name: "Aurora Notes",
  slug: "aurora-notes",
  domain: "aurora-notes.example",
  market_name: "Productivity",
  observed_traffic: 12_400,
};

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
    products: [{ ...observedProduct, share: 1 }],
    total_traffic: 12_400,
    product_count: 1,
    other_traffic: 0,
    other_products: 0,
    cr3: 1,
    concentration: "single",
  },
};

const searchDemand: SearchDemandResponse = {
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
    products: [observedProduct],
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

const rankings: RankingsResponse = {
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

/** An example of each operation's request and good answer. */
export const OPERATION_EXAMPLES: Record<OperationName, { request?: object; response: object }> = {
  startInvestigation: { request: startInvestigationBody, response: queuedTask },
  readInvestigation: { response: succeededTask },
  registerWebhook: { request: registerWebhookBody, response: registration },
  productProfile: { response: profile },
  searchDemand: { response: searchDemand },
  rankings: { response: rankings },
};

/** An example of each event that is sent. */
export const EVENT_EXAMPLES: {
  signal: z.input<typeof signalPublishedSchema>;
  verification: z.input<typeof webhookVerificationSchema>;
  test: z.input<typeof webhookTestSchema>;
} = {
  signal: {
    id: "sig_5120_1042",
    version: "1",
    type: "signal.published",
    created_at: EXAMPLE_TIME,
    data: {
      signal_id: 5120,
      signal_type: "traffic_breakout",
      product: { id: 1042, slug: "aurora-notes" },
      title: "Traffic of Aurora Notes broke out",
      summary: "Visits rose by 31.4 percent within a month.",
      change: {
        direction: "up",
        magnitude: 0.314,
        before: { value: 100_000, unit: "visits" },
        after: { value: 131_400, unit: "visits" },
      },
      observed_at: "2026-03-01T00:00:00.000Z",
      period: { start: "2026-02-01", end: "2026-02-28" },
      published_at: EXAMPLE_TIME,
      evidence_summary: "Monthly visits of January and February.",
      url: "https://service.example/products/aurora-notes",
    },
  },
  verification: {
    id: "evt_2c9a71",
    version: "1",
    type: "webhook.verification",
    created_at: EXAMPLE_TIME,
    data: { challenge: "c5f0e1b2a9d84376" },
  },
  test: {
    id: "evt_2c9a72",
    version: "1",
    type: "webhook.test",
    created_at: EXAMPLE_TIME,
    data: { message: "This is a test." },
  },
};
