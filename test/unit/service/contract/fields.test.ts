import { expect, test } from "vitest";
import type { ComponentName } from "../../../../src/service/contract/openapi/component-schemas.js";
import type { OperationName } from "../../../../src/service/contract/operations.js";
import { rankingsQuerySchema } from "../../../../src/service/contract/rankings.js";
import { searchDemandQuerySchema } from "../../../../src/service/contract/search-demand.js";
import { DOCUMENT, fieldsOf, fits, notationOf, SCHEMAS } from "./contract.js";
import { createDocumentValidator, operationsOf } from "./document-validator.js";

// The fields of the service's document: names, and what each of them holds (see `notationOf`).

const RESOURCES: Partial<Record<ComponentName, readonly string[]>> = {
  StartInvestigationBody: [
    "slug: text 1..200 /^[a-z0-9][a-z0-9-]*$/",
    "locale: optional en | zh-CN = en",
    "idempotency_key: uuid",
    "confirm_usage: true",
  ],
  InvestigationTask: [
    "task_id: text /^task_[0-9a-f-]{36}$/",
    "type: promotion_investigation",
    "status: queued | running | succeeded | failed | cancelled",
    "stage: queued | investigating | generating_report | complete",
    "status_url: text",
    "result_url: text | null",
    "poll_after_seconds: integer | null",
    "created_at updated_at: date-time",
    "completed_at: date-time | null",
    "error: { code: text, message: text } | null",
    "report: InvestigationReport | null",
  ],
  InvestigationReport: [
    "version conclusion caveat: text",
    "generated_at: date-time | null",
    `narrative: { title: optional text, summary: optional { text: text, citations: [anything] }, sections:
      optional [anything], limitations: optional text } | null`,
    `summary: { actionEvidenceCount: integer, channelCount: integer, contextLeadCount: integer, sourceCount:
      integer, unresolvedActionCount: integer }`,
    `analysis: { overview: text, method: text, observations: [anything], phases: [anything], channels:
      [anything], openQuestions: [anything] }`,
    "timeline strategies sources context_leads: [object]",
    "limitations: [text]",
    "reliability: { actorAttribution: text, coverageLevel: text, growthCausality: text, growthImpact: text }",
    "omitted_action_count omitted_context_count: integer",
  ],
  RegisterWebhookBody: [
    "url: uri ..2048",
    "locale: optional en | zh-CN = en",
    "signal_types: [SignalType] 1..30",
  ],
  NewRegistration: [
    "id signing_secret: text",
    "url: uri",
    "status: pending | active | paused | deleted",
    "locale: en | zh-CN",
    "signal_types: [text]",
    "failure_count: integer",
    "created_at updated_at: date-time",
  ],
  ProductProfile: [
    "tool_id: integer",
    `canonical_slug localized_slug name official_url pricing_model verification_status staleness_status
      requested_locale resolved_locale: text`,
    `tagline short_description long_description logo_url favicon_url screenshot_url primary_category_slug
      primary_category_name: optional text | null`,
    "listed_at: date-time",
    "has_free_plan has_free_trial has_api has_mcp: boolean",
    "available_locales: [text]",
    "categories: [object]",
  ],
  SearchDemandResponse: [
    `dataset: { captured_at: text | null, observed_month: text | null, exhaustive: false, source: text,
      sample_type: top_search_keywords }`,
    `filters: { demand_type: all | non_brand | brand, market_id: number | null, market: text, min_products:
      integer 0.., min_traffic: number, min_volume: number, page: integer 1.., page_size: integer 1.., query:
      text, selected_keyword_id: number | null, sort: traffic | volume | products }`,
    "items: [KeywordRow]",
    "keyword: KeywordDetail | null",
    "markets: [{ id: integer, name: text, slug: text }]",
    `pagination: { page: integer, limit: integer, total: integer, total_pages: integer, has_more: boolean,
      has_previous: boolean }`,
    "requested_locale resolved_locale: text",
    `summary: { captured_at: text | null, latest_month: text | null, markets: integer 0.., observed_products:
      integer 0.., observed_terms: integer 0.., sample_type: top_search_keywords, source: text }`,
  ],
  KeywordRow: [
    "keyword: text",
    "keyword_id: integer",
    "brand_type: generic | brand_navigational | brand_commercial | mixed | unknown",
    "cluster_id cluster_name market_name market_slug: text | null",
    "market_id product_change1m traffic_change1m: number | null",
    "observed_markets observed_products: integer 0..",
    "observed_traffic search_volume: number",
    `comparison_status: optional comparable | sample_changed | new_observation | missing_history |
      insufficient_baseline | unverified`,
    "traffic_distribution: optional TrafficDistribution",
  ],
  KeywordDetail: [
    "history: [{ month: text, observed_products: integer, observed_traffic: number, search_volume: number }]",
    `markets: [{ market_id: integer, market_name: text, observed_products: integer, observed_traffic: number,
      share: number }]`,
    `products: [{ tool_id: integer, name: text, slug: text, domain: optional text, market_name: text | null,
      observed_traffic: number }]`,
    `related_observed: [{ keyword: text, keyword_id: integer, observed_products: integer, observed_traffic:
      number, shared_products: integer }]`,
  ],
  TrafficDistribution: [
    `products: [{ tool_id: integer, name: text, slug: text, domain: optional text, market_name: text | null,
      observed_traffic: number, share: number | null }]`,
    "total_traffic other_traffic: number",
    "product_count other_products: integer",
    "cr3: number | null",
    "concentration: unknown | single | concentrated | balanced | distributed",
  ],
  RankingsResponse: [
    "dataset filters: object",
    "eligible_population: integer",
    "items: [RankingItem]",
    `pagination: { page: integer, limit: integer, has_more: boolean, has_previous: optional boolean, next_page:
      optional integer | null, previous_page: optional integer | null, total: optional integer, total_pages:
      optional integer }`,
    "requested_locale resolved_locale: text",
    "category: optional object | null",
  ],
  RankingItem: [
    "rank tool_id: integer",
    "name slug normalized_domain latest_month previous_month: text",
    "primary_category_name primary_category_slug favicon_url: optional text | null",
    "latest_visits previous_visits visits_change growth_rate: number",
    "domain_rating: optional number | null",
  ],
  ErrorEnvelope: [
    "error: { code: text, message: text, details: optional anything }",
    "request_id: text",
  ],
};

const QUERIES: Partial<Record<OperationName, readonly string[]>> = {
  searchDemand: [
    "locale: text ..20 = en",
    "q market: text ..120",
    "type: all | non_brand | brand = non_brand",
    "min_products: 1 | 2 | 3 | 5 = 1",
    "min_traffic min_volume: integer 0..10000000000 = 0",
    "sort: traffic | volume | products = traffic",
    "page: integer 1..1000 = 1",
    "limit: integer 1..50 = 25",
    "keyword_id: integer 0..",
  ],
  rankings: [
    "locale: text ..20 = en",
    "category: text ..120",
    "country: text /^[A-Za-z]{2}$/",
    "q: text ..80",
    "sort: growth | gain | traffic | dr_growth | organic | ai | paid = growth",
    "order: asc | desc = desc",
    "min_traffic: integer 0.. = 1000",
    "min_growth min_dr min_dr_gain: number 0..100 = 0",
    "max_domain_age_months: integer 0..120 = 0",
    "page: integer 1..200 = 1",
    "limit: integer 1..50 = 25",
  ],
};

/** What each field holds, by its name. */
const heldBy = (fields: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    fields.flatMap((line) => {
      const [names = "", held = ""] = line.replaceAll(/\s+/g, " ").split(/: (.*)/);
      return names.split(" ").map((name) => [name, held]);
    }),
  );

test.each(Object.entries(RESOURCES))(
  "%s has the fields of the document, and no other",
  (name, fields) => {
    // The detail of a keyword has the fields of its row too.
    const row = name === "KeywordDetail" ? fieldsOf(SCHEMAS["KeywordRow"] ?? {}) : {};
    expect(fieldsOf(SCHEMAS[name] ?? {})).toEqual({ ...row, ...heldBy(fields) });
  },
);

test.each(Object.entries(QUERIES))(
  "%s has the parameters of the document, with bounds and default",
  (name, fields) => {
    const listed = operationsOf(DOCUMENT).get(name)?.["parameters"] as {
      name: string;
      schema: object;
    }[];
    expect(Object.fromEntries(listed.map((each) => [each.name, notationOf(each.schema)]))).toEqual(
      heldBy(fields),
    );
  },
);

test("requests are closed, answers are open [start-investigation-notes/unknown-keys] [register-webhook-notes/unknown-keys] [profile-notes/more-fields] [keyword-row-notes/more-fields] [ranking-item-notes/more-fields]", () => {
  const closed = Object.keys(SCHEMAS).filter((name) =>
    JSON.stringify(SCHEMAS[name]).includes("additionalProperties"),
  );
  expect(closed).toEqual(["StartInvestigationBody", "RegisterWebhookBody"]);
  for (const name of closed) expect(SCHEMAS[name]).toHaveProperty("additionalProperties", false);
});

const UUID = "9b2f6c1e-4d7a-4f3b-8e5c-1a6d0b7f2c94";
const start = (more: object) => ({
  slug: "aurora-notes",
  idempotency_key: UUID,
  confirm_usage: true,
  ...more,
});
const register = (url: unknown) => ({ url, signal_types: ["traffic_breakout"] });
const challenge = (created_at: string) => {
  return {
    id: "a",
    type: "webhook.verification",
    version: "1",
    created_at,
    data: { challenge: "b" },
  };
};

test("a date-time has a zone and a real date [all-resources/date-times]", () => {
  for (const taken of [
    "2026-03-02T09:15:00Z",
    "2026-03-02T09:15:00.123Z",
    "2026-03-02T17:15:00+08:00",
  ]) {
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
  const inside = odd.flatMap((each) => [
    `https://hooks.example${each}`,
    `https://hooks.example/a${each}b`,
  ]);
  const forms = [
    "",
    "hooks.example/signals",
    "https:hooks.example",
    "https:///hooks.example",
    "https://hooks.example/[a]",
    "https://例え.jp",
  ];
  for (const url of [...inside, ...forms])
    expect(fits("RegisterWebhookBody", register(url)), url).toBe(false);
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
