import { expect, test } from "vitest";
import type { ComponentName } from "../../../src/api/openapi/component-schemas.js";
import type { OperationName } from "../../../src/api/operations.js";
import { rankingsQuerySchema } from "../../../src/api/rankings.js";
import { searchDemandQuerySchema } from "../../../src/api/search-demand.js";
import { createDocumentValidator, operationsOf } from "./document-validator.js";
import { DOCUMENT, fieldsOf, fits, notationOf, SCHEMAS } from "./contract.js";

// Each field is its name, what it holds (see `notationOf`), and the row of the service's document.

const RESOURCES: Partial<Record<ComponentName, readonly string[]>> = {
  StartInvestigationBody: [
    "slug: text 1..200 /^[a-z0-9][a-z0-9-]*$/ [start-investigation-body/slug] [limits/slug]",
    "locale: optional en | zh-CN = en [start-investigation-body/locale] [all-resources/locales]",
    "idempotency_key: uuid [start-investigation-body/idempotency_key]",
    "confirm_usage: true [start-investigation-body/confirm_usage]",
  ],
  InvestigationTask: [
    "task_id: text /^task_[0-9a-f-]{36}$/ [task-resource/task_id] [task-notes/twelve-fields-always]",
    "type: promotion_investigation [task-resource/type]",
    "status: queued | running | succeeded | failed | cancelled [task-resource/status]",
    "stage: queued | investigating | generating_report | complete [task-resource/stage]",
    "status_url: text [task-resource/status_url]",
    "result_url: text | null [task-resource/result_url]",
    "poll_after_seconds: integer | null [task-resource/poll_after_seconds]",
    "created_at: date-time [task-resource/created_at]",
    "updated_at: date-time [task-resource/updated_at]",
    "completed_at: date-time | null [task-resource/completed_at]",
    "error: { code: text, message: text } | null [task-resource/error]",
    "report: InvestigationReport | null [task-resource/report]",
  ],
  InvestigationReport: [
    "version: text [report/version] [versioning/report-version]",
    "generated_at: date-time | null [report/generated_at]",
    `narrative: { title: optional text, summary: optional { text: text, citations: [anything] }, sections:
      optional [anything], limitations: optional text } | null [report/narrative]`,
    `summary: { actionEvidenceCount: integer, channelCount: integer, contextLeadCount: integer, sourceCount:
      integer, unresolvedActionCount: integer } [report/summary]`,
    `analysis: { overview: text, method: text, observations: [anything], phases: [anything], channels:
      [anything], openQuestions: [anything] } [report/analysis]`,
    "timeline: [object] [report/timeline]",
    "strategies: [object] [report/strategies]",
    "sources: [object] [report/sources]",
    "context_leads: [object] [report/context_leads]",
    "conclusion: text [report/conclusion]",
    "limitations: [text] [report/limitations]",
    "caveat: text [report/caveat]",
    `reliability: { actorAttribution: text, coverageLevel: text, growthCausality: text, growthImpact: text }
      [report/reliability]`,
    "omitted_action_count: integer [report/omitted_action_count]",
    "omitted_context_count: integer [report/omitted_context_count]",
  ],
  RegisterWebhookBody: [
    "url: uri ..2048 [register-webhook-body/url] [limits/url]",
    "locale: optional en | zh-CN = en [register-webhook-body/locale]",
    "signal_types: [SignalType] 1..30 [register-webhook-body/signal_types] [limits/signal-types]",
  ],
  NewRegistration: [
    "id: text [webhook-resource/id]",
    "url: uri [webhook-resource/url]",
    "status: pending | active | paused | deleted [webhook-resource/status]",
    "locale: en | zh-CN [webhook-resource/locale]",
    "signal_types: [text] [webhook-resource/signal_types]",
    "failure_count: integer [webhook-resource/failure_count]",
    "created_at: date-time [webhook-resource/created_at]",
    "updated_at: date-time [webhook-resource/updated_at]",
    "signing_secret: text [webhook-resource/signing_secret]",
  ],
  ProductProfile: [
    "tool_id: integer [profile/tool_id]",
    "canonical_slug: text [profile/canonical_slug]",
    "localized_slug: text [profile/localized_slug]",
    "name: text [profile/name]",
    "tagline: optional text | null [profile/tagline]",
    "short_description: optional text | null [profile/short_description]",
    "long_description: optional text | null [profile/long_description]",
    "official_url: text [profile/official_url]",
    "pricing_model: text [profile/pricing_model]",
    "listed_at: date-time [profile/listed_at]",
    "verification_status: text [profile/verification_status]",
    "staleness_status: text [profile/staleness_status]",
    "has_free_plan: boolean [profile/has_free_plan]",
    "has_free_trial: boolean [profile/has_free_trial]",
    "has_api: boolean [profile/has_api]",
    "has_mcp: boolean [profile/has_mcp]",
    "requested_locale: text [profile/requested_locale]",
    "resolved_locale: text [profile/resolved_locale]",
    "available_locales: [text] [profile/available_locales]",
    "categories: [object] [profile/categories]",
    "logo_url: optional text | null [profile-notes/seen-fields]",
    "favicon_url: optional text | null",
    "screenshot_url: optional text | null",
    "primary_category_slug: optional text | null",
    "primary_category_name: optional text | null",
  ],
  SearchDemandResponse: [
    `dataset: { captured_at: text | null, observed_month: text | null, exhaustive: false, source: text,
      sample_type: top_search_keywords } [search-demand-parts/dataset]`,
    `filters: { demand_type: all | non_brand | brand, market_id: number | null, market: text, min_products:
      integer 0.., min_traffic: number, min_volume: number, page: integer 1.., page_size: integer 1..,
      query: text, selected_keyword_id: number | null, sort: traffic | volume | products } [search-demand-parts/filters]`,
    "items: [KeywordRow] [search-demand-parts/nine-keys]",
    "keyword: KeywordDetail | null [search-demand-parts/keyword]",
    "markets: [{ id: integer, name: text, slug: text }] [search-demand-parts/markets]",
    `pagination: { page: integer, limit: integer, total: integer, total_pages: integer, has_more: boolean,
      has_previous: boolean } [search-demand-parts/pagination]`,
    "requested_locale: text",
    "resolved_locale: text",
    `summary: { captured_at: text | null, latest_month: text | null, markets: integer 0.., observed_products:
      integer 0.., observed_terms: integer 0.., sample_type: top_search_keywords, source: text }
      [search-demand-parts/summary]`,
  ],
  KeywordRow: [
    "keyword: text [keyword-row/keyword] [keyword-row-notes/fourteen-required]",
    "keyword_id: integer [keyword-row/keyword_id]",
    "brand_type: generic | brand_navigational | brand_commercial | mixed | unknown [keyword-row/brand_type]",
    "cluster_id: text | null [keyword-row/cluster_id]",
    "cluster_name: text | null [keyword-row/cluster_name]",
    "market_id: number | null [keyword-row/market_id]",
    "market_name: text | null [keyword-row/market_name]",
    "market_slug: text | null [keyword-row/market_slug]",
    "observed_markets: integer 0.. [keyword-row/observed_markets]",
    "observed_products: integer 0.. [keyword-row/observed_products]",
    "observed_traffic: number [keyword-row/observed_traffic]",
    "search_volume: number [keyword-row/search_volume]",
    "product_change1m: number | null [keyword-row/product_change1m]",
    "traffic_change1m: number | null [keyword-row/traffic_change1m]",
    `comparison_status: optional comparable | sample_changed | new_observation | missing_history |
      insufficient_baseline | unverified [keyword-row/comparison_status]`,
    "traffic_distribution: optional TrafficDistribution [keyword-row/traffic_distribution]",
  ],
  KeywordDetail: [
    `history: [{ month: text, observed_products: integer, observed_traffic: number, search_volume: number }]
      [keyword-detail/history]`,
    `markets: [{ market_id: integer, market_name: text, observed_products: integer, observed_traffic: number,
      share: number }] [keyword-detail/markets]`,
    `products: [{ tool_id: integer, name: text, slug: text, domain: optional text, market_name: text | null,
      observed_traffic: number }] [keyword-detail/products]`,
    `related_observed: [{ keyword: text, keyword_id: integer, observed_products: integer, observed_traffic:
      number, shared_products: integer }] [keyword-detail/related_observed]`,
  ],
  TrafficDistribution: [
    `products: [{ tool_id: integer, name: text, slug: text, domain: optional text, market_name: text | null,
      observed_traffic: number, share: number | null }] [search-demand-parts/traffic_distribution]`,
    "total_traffic: number",
    "product_count: integer",
    "other_traffic: number",
    "other_products: integer",
    "cr3: number | null",
    "concentration: unknown | single | concentrated | balanced | distributed",
  ],
  RankingsResponse: [
    "dataset: object",
    "eligible_population: integer [rankings-parts/required-keys]",
    "filters: object",
    "items: [RankingItem]",
    `pagination: { page: integer, limit: integer, has_more: boolean, has_previous: optional boolean,
      next_page: optional integer | null, previous_page: optional integer | null, total: optional
      integer, total_pages: optional integer } [rankings-parts/pagination]`,
    "requested_locale: text",
    "resolved_locale: text",
    "category: optional object | null [rankings-parts/category]",
  ],
  RankingItem: [
    "rank: integer [ranking-item/rank]",
    "tool_id: integer [ranking-item/tool_id]",
    "name: text [ranking-item/name]",
    "slug: text [ranking-item/slug]",
    "normalized_domain: text [ranking-item/normalized_domain]",
    "primary_category_name: optional text | null [ranking-item/primary_category_name]",
    "primary_category_slug: optional text | null [ranking-item/primary_category_slug]",
    "latest_month: text [ranking-item/latest_month]",
    "previous_month: text [ranking-item/previous_month]",
    "latest_visits: number [ranking-item/latest_visits]",
    "previous_visits: number [ranking-item/previous_visits]",
    "visits_change: number [ranking-item/visits_change]",
    "growth_rate: number [ranking-item/growth_rate]",
    "domain_rating: optional number | null [ranking-item/domain_rating]",
    "favicon_url: optional text | null [ranking-item/favicon_url]",
  ],
  ErrorEnvelope: [
    "error: { code: text, message: text, details: optional anything } [error-envelope/shape]",
    "request_id: text",
  ],
};

const QUERIES: Partial<Record<OperationName, readonly string[]>> = {
  searchDemand: [
    "locale: text ..20 = en [search-demand-query/locale] [all-resources/free-locale]",
    "q: text ..120 [search-demand-query/q]",
    "market: text ..120 [search-demand-query/market]",
    "type: all | non_brand | brand = non_brand [search-demand-query/type]",
    "min_products: 1 | 2 | 3 | 5 = 1 [search-demand-query/min_products]",
    "min_traffic: integer 0..10000000000 = 0 [search-demand-query/min_traffic]",
    "min_volume: integer 0..10000000000 = 0 [search-demand-query/min_volume]",
    "sort: traffic | volume | products = traffic [search-demand-query/sort]",
    "page: integer 1..1000 = 1 [search-demand-query/page] [limits/page]",
    "limit: integer 1..50 = 25 [search-demand-query/limit] [limits/limit]",
    "keyword_id: integer 0.. [search-demand-query/keyword_id]",
  ],
  rankings: [
    "locale: text ..20 = en [rankings-query/locale]",
    "category: text ..120 [rankings-query/category]",
    "country: text /^[A-Za-z]{2}$/ [rankings-query/country]",
    "q: text ..80 [rankings-query/q]",
    "sort: growth | gain | traffic | dr_growth | organic | ai | paid = growth [rankings-query/sort]",
    "order: asc | desc = desc [rankings-query/order]",
    "min_traffic: integer 0.. = 1000 [rankings-query/min_traffic]",
    "min_growth: number 0..100 = 0 [rankings-query/min_growth]",
    "min_dr: number 0..100 = 0 [rankings-query/min_dr]",
    "min_dr_gain: number 0..100 = 0 [rankings-query/min_dr_gain]",
    "max_domain_age_months: integer 0..120 = 0 [rankings-query/max_domain_age_months]",
    "page: integer 1..200 = 1 [rankings-query/page] [limits/page]",
    "limit: integer 1..50 = 25 [rankings-query/limit] [limits/limit]",
  ],
};

/** What each field holds, by its name. */
const heldBy = (fields: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    fields.map((field) => {
      const [, name, notation = ""] = /^(\w+): (.*?)(?:\s+\[[a-z-]+\/[\w-]+\])*$/s.exec(field) ?? [];
      return [name, notation.replaceAll(/\s+/g, " ")];
    }),
  );

test.each(Object.entries(RESOURCES))("%s has the fields of the document, and no other", (name, fields) => {
  // The detail of a keyword has the fields of its row too.
  const row = name === "KeywordDetail" ? fieldsOf(SCHEMAS["KeywordRow"] ?? {}) : {};
  expect(fieldsOf(SCHEMAS[name] ?? {})).toEqual({ ...row, ...heldBy(fields) });
});

test.each(Object.entries(QUERIES))("%s has the parameters of the document, with bounds and default", (name, fields) => {
  const listed = operationsOf(DOCUMENT).get(name)?.["parameters"] as { name: string; schema: object }[];
  expect(Object.fromEntries(listed.map((each) => [each.name, notationOf(each.schema)]))).toEqual(heldBy(fields));
});

test("requests are closed, answers are open [start-investigation-notes/unknown-keys] [register-webhook-notes/unknown-keys] [profile-notes/more-fields] [keyword-row-notes/more-fields] [ranking-item-notes/more-fields]", () => {
  const closed = Object.keys(SCHEMAS).filter((name) => JSON.stringify(SCHEMAS[name]).includes("additionalProperties"));
  expect(closed).toEqual(["StartInvestigationBody", "RegisterWebhookBody"]);
  for (const name of closed) expect(SCHEMAS[name]).toHaveProperty("additionalProperties", false);
});

const UUID = "9b2f6c1e-4d7a-4f3b-8e5c-1a6d0b7f2c94";
const start = (more: object) => ({ slug: "aurora-notes", idempotency_key: UUID, confirm_usage: true, ...more });
const register = (url: unknown) => ({ url, signal_types: ["traffic_breakout"] });
const challenge = (created_at: string) => {
  return { id: "a", type: "webhook.verification", version: "1", created_at, data: { challenge: "b" } };
};

test("a date-time has a zone and a real date [all-resources/date-times]", () => {
  for (const taken of ["2026-03-02T09:15:00Z", "2026-03-02T09:15:00.123Z", "2026-03-02T17:15:00+08:00"]) {
    expect(fits("WebhookVerificationEvent", challenge(taken)), taken).toBe(true);
  }
  for (const refused of ["2026-03-02", "2026-03-02 09:15", "yesterday", "2026-13-02T09:15:00Z"]) {
    expect(fits("WebhookVerificationEvent", challenge(refused)), refused).toBe(false);
  }
});

test("a UUID has one of the versions 1 to 8 in either case, or is all 0 or all f", () => {
  const taken = [
    UUID.toUpperCase(),
    UUID.replace("4f3b", "1f3b"),
    UUID.replace("4f3b", "8f3b"),
    UUID.replace("8e5c", "be5c"),
  ];
  const nil = "00000000-0000-0000-0000-000000000000";
  for (const key of [...taken, nil, nil.replaceAll("0", "f"), nil.replaceAll("0", "F")]) {
    expect(fits("StartInvestigationBody", start({ idempotency_key: key })), key).toBe(true);
  }
  const wrong = [
    UUID.replace("4f3b", "0f3b"),
    UUID.replace("4f3b", "9f3b"),
    UUID.replace("8e5c", "ce5c"),
    UUID.slice(1),
  ];
  for (const key of [...wrong, `{${UUID}}`, UUID.replaceAll("-", ""), `${UUID}\n`, ""]) {
    expect(fits("StartInvestigationBody", start({ idempotency_key: key })), key).toBe(false);
  }
});

test("a slug has small letters, digits and hyphens", () => {
  for (const slug of ["a", "7", "a-", "a--b", "gpt-4o"])
    expect(fits("StartInvestigationBody", start({ slug }))).toBe(true);
  for (const slug of ["", "-a", "A", "a_b", "a b", "é", "a\n"])
    expect(fits("StartInvestigationBody", start({ slug }))).toBe(false);
});

test("an endpoint is a URI as it stands, which a parser of URLs need not mend", () => {
  for (const url of [
    "https://hooks.example",
    "https://hooks.example:8443/a?b=%C3%A9&c=~!$'()*+,;=:@",
    "https://[::1]/",
  ]) {
    expect(fits("RegisterWebhookBody", register(url)), url).toBe(true);
  }
  const odd = ["\u0000", "\n", " ", "\\", "é", "<", '"', "{", "|", "%", "%4g"];
  const inside = odd.flatMap((each) => [`https://hooks.example${each}`, `https://hooks.example/a${each}b`]);
  const forms = [
    "",
    "hooks.example/signals",
    "https:hooks.example",
    "https:///hooks.example",
    "https://hooks.example/[a]",
    "https://例え.jp",
  ];
  for (const url of [...inside, ...forms]) expect(fits("RegisterWebhookBody", register(url)), url).toBe(false);
});

test("the longest texts are counted in characters, not in the units of JavaScript", () => {
  const { faultsOf } = createDocumentValidator(DOCUMENT);
  for (const [text, isTaken] of [
    ["😀".repeat(80), true],
    ["😀".repeat(81), false],
  ] as const) {
    expect(rankingsQuerySchema.safeParse({ q: text }).success).toBe(isTaken);
    expect(faultsOf({ type: "string", maxLength: 80 }, text).length === 0).toBe(isTaken);
  }
});

test("the retired parameter view is refused, as every other unknown one [versioning/view-is-retired] [search-demand-notes/view-is-retired]", () => {
  expect(searchDemandQuerySchema.safeParse({ view: "keywords" }).success).toBe(false);
  expect(rankingsQuerySchema.safeParse({ min_visits: 1 }).success).toBe(false);
});
