/** Names with blanks between them. */
const names = ({ raw }: TemplateStringsArray): string[] => raw.join("").trim().split(/\s+/);

/**
 * The rows of the service's document, by the table they stand in, in its order: one id, `table/row`, for each row of each
 * table, each numbered rule, and each sentence with a figure or a promise outside the tables. A test names what it covers at
 * the end of its title: `test("… [limits/request-rate]", …)`, or of a string in the table that `test.each` is given.
 */
export const DOCUMENT_ROWS: Readonly<Record<string, readonly string[]>> = {
  // What the service does
  services: names`investigations rankings search-demand signals public-catalog remote-mcp`,
  tiers: names`public developer pro-and-enterprise`,

  // Resources and their fields
  "all-resources": names`date-times locales free-locale`,
  "task-resource": names`
    task_id type status stage status_url result_url poll_after_seconds created_at updated_at completed_at
    error report
  `,
  "task-notes": names`twelve-fields-always`,
  report: names`
    version generated_at narrative summary analysis timeline strategies sources context_leads conclusion
    limitations caveat reliability omitted_action_count omitted_context_count
  `,
  "webhook-resource": names`id url status locale signal_types failure_count created_at updated_at signing_secret`,
  profile: names`
    tool_id canonical_slug localized_slug name tagline short_description long_description official_url
    pricing_model listed_at verification_status staleness_status has_free_plan has_free_trial has_api
    has_mcp requested_locale resolved_locale available_locales categories
  `,
  "profile-notes": names`more-fields seen-fields card-verification`,
  "search-demand-parts": names`nine-keys dataset summary filters markets pagination traffic_distribution keyword`,
  "keyword-row": names`
    keyword keyword_id brand_type cluster_id cluster_name market_id market_name market_slug observed_markets
    observed_products observed_traffic search_volume product_change1m traffic_change1m comparison_status
    traffic_distribution
  `,
  "keyword-row-notes": names`fourteen-required more-fields`,
  "keyword-detail": names`history markets products related_observed`,
  "rankings-parts": names`required-keys category pagination`,
  "ranking-item": names`
    rank tool_id name slug normalized_domain primary_category_name primary_category_slug latest_month
    previous_month latest_visits previous_visits visits_change growth_rate domain_rating favicon_url
  `,
  "ranking-item-notes": names`more-fields`,
  "error-envelope": names`shape`,

  // States and transitions
  "task-states": names`new-task same-key-same-inputs succeeded-read failed-or-cancelled`,
  "task-states-notes": names`reads-advance-nothing three-active`,
  "webhook-states": names`new-registration`,

  // Endpoints
  operations: names`
    start-investigation read-investigation register-webhook product-profile search-demand rankings
    remote-mcp deliveries
  `,
  "start-investigation-body": names`slug locale idempotency_key confirm_usage`,
  "start-investigation-notes": names`unknown-keys not-activated key-conflict`,
  "read-investigation-notes": names`free-when-exhausted rate-limits-apply foreign-id`,
  "register-webhook-body": names`url locale signal_types`,
  "register-webhook-notes": names`unknown-keys ten-a-day followed-and-future`,
  "search-demand-query": names`locale q market type min_products min_traffic min_volume sort page limit keyword_id`,
  "search-demand-notes": names`view-is-retired developer-view`,
  "rankings-query": names`
    locale category country q sort order min_traffic min_growth min_dr min_dr_gain max_domain_age_months
    page limit
  `,
  "rankings-notes": names`developer-view`,
  "mcp-tools": names`start_promotion_investigation get_promotion_investigation search_ai_demand rank_ai_products`,
  "mcp-notes": names`results errors free-calls`,

  // Authentication: its numbered rules
  authentication: names`public-needs-no-key bearer-keys session-tokens scopes entitlements usage-is-shared no-oauth 401-and-403`,

  // Events
  "event-envelope": names`id version type created_at data`,
  "event-types": names`signal.published webhook.verification webhook.test`,
  "signal-data": names`signal_id signal_type product title summary change observed_at period published_at evidence_summary url`,
  "signal-notes": names`followed-and-subscribed no-backfill`,
  receiving: names`header-form digest constant-time-and-age deduplicate queue-and-answer`,
  "signal-types": names`
    traffic_breakout traffic_acceleration traffic_deceleration entered_category_top_10
    entered_category_top_20 dropped_out_of_category_top_10 market_share_shift ai_referral_breakout
    ai_traffic_share_shift new_ai_referral_source ai_referral_sources_diversified price_increased
    price_decreased free_plan_added free_plan_removed pricing_model_changed trial_changed
    enterprise_plan_introduced backlink_acquisition_spike ai_directory_push media_review_burst
    search_ads_started ad_creative_expansion new_feature new_model api_added mcp_added positioning_shift
    product_launch website_sitemap_expansion website_sitemap_contraction programmatic_seo_expansion
    organic_keyword_breakout brand_search_growth new_market_pages browser_extension_user_growth
    primary_domain_changed product_discontinued
  `,

  // Errors
  "error-statuses": names`400 401 403 404 409 429 503`,
  errors: names`quota-code quota-details quota-headers quota-headers-for-limited-only`,

  // Limits
  limits: names`
    request-rate monthly-calls quota-units not-counted mcp-cap active-investigations webhook-registrations
    signal-events signature-age polling-interval developer-results slug signal-types url limit page
  `,
  "limits-notes": names`free-operations-are-limited`,

  // Versioning: its numbered rules
  versioning: names`prefix event-version report-version view-is-retired`,
};

const MCP = "the remote MCP is built later";

/** Rows of parts that are still to be built, with the reason. */
export const LATER: Readonly<Record<string, string>> = {
  "services/remote-mcp": MCP,
  "operations/remote-mcp": MCP,
  "mcp-tools/start_promotion_investigation": MCP,
  "mcp-tools/get_promotion_investigation": MCP,
  "mcp-tools/search_ai_demand": MCP,
  "mcp-tools/rank_ai_products": MCP,
  "mcp-notes/results": MCP,
  "mcp-notes/errors": MCP,
  "mcp-notes/free-calls": MCP,
  "authentication/no-oauth": MCP,
  "limits/mcp-cap": MCP,
};

/** Rows that no test names yet. This list only ever gets shorter. */
export const OPEN: readonly string[] = names`
  services/investigations services/rankings services/search-demand services/signals services/public-catalog
  tiers/public tiers/developer tiers/pro-and-enterprise all-resources/date-times all-resources/locales
  all-resources/free-locale task-resource/task_id task-resource/type task-resource/status task-resource/stage
  task-resource/status_url task-resource/result_url task-resource/poll_after_seconds task-resource/created_at
  task-resource/updated_at task-resource/completed_at task-resource/error task-resource/report
  task-notes/twelve-fields-always report/version report/generated_at report/narrative report/summary
  report/analysis report/timeline report/strategies report/sources report/context_leads report/conclusion
  report/limitations report/caveat report/reliability report/omitted_action_count report/omitted_context_count
  webhook-resource/id webhook-resource/url webhook-resource/status webhook-resource/locale
  webhook-resource/signal_types webhook-resource/failure_count webhook-resource/created_at
  webhook-resource/updated_at webhook-resource/signing_secret profile/tool_id profile/canonical_slug
  profile/localized_slug profile/name profile/tagline profile/short_description profile/long_description
  profile/official_url profile/pricing_model profile/listed_at profile/verification_status
  profile/staleness_status profile/has_free_plan profile/has_free_trial profile/has_api profile/has_mcp
  profile/requested_locale profile/resolved_locale profile/available_locales profile/categories
  profile-notes/more-fields profile-notes/seen-fields profile-notes/card-verification
  search-demand-parts/nine-keys search-demand-parts/dataset search-demand-parts/summary
  search-demand-parts/filters search-demand-parts/markets search-demand-parts/pagination
  search-demand-parts/traffic_distribution search-demand-parts/keyword keyword-row/keyword keyword-row/keyword_id
  keyword-row/brand_type keyword-row/cluster_id keyword-row/cluster_name keyword-row/market_id
  keyword-row/market_name keyword-row/market_slug keyword-row/observed_markets keyword-row/observed_products
  keyword-row/observed_traffic keyword-row/search_volume keyword-row/product_change1m keyword-row/traffic_change1m
  keyword-row/comparison_status keyword-row/traffic_distribution keyword-row-notes/fourteen-required
  keyword-row-notes/more-fields keyword-detail/history keyword-detail/markets keyword-detail/products
  keyword-detail/related_observed rankings-parts/required-keys rankings-parts/category rankings-parts/pagination
  ranking-item/rank ranking-item/tool_id ranking-item/name ranking-item/slug ranking-item/normalized_domain
  ranking-item/primary_category_name ranking-item/primary_category_slug ranking-item/latest_month
  ranking-item/previous_month ranking-item/latest_visits ranking-item/previous_visits ranking-item/visits_change
  ranking-item/growth_rate ranking-item/domain_rating ranking-item/favicon_url ranking-item-notes/more-fields
  error-envelope/shape task-states/new-task task-states/same-key-same-inputs task-states/succeeded-read
  task-states/failed-or-cancelled task-states-notes/reads-advance-nothing task-states-notes/three-active
  webhook-states/new-registration operations/start-investigation operations/read-investigation
  operations/register-webhook operations/product-profile operations/search-demand operations/rankings
  operations/deliveries start-investigation-body/slug start-investigation-body/locale
  start-investigation-body/idempotency_key start-investigation-body/confirm_usage
  start-investigation-notes/unknown-keys start-investigation-notes/not-activated
  start-investigation-notes/key-conflict read-investigation-notes/free-when-exhausted
  read-investigation-notes/rate-limits-apply read-investigation-notes/foreign-id register-webhook-body/url
  register-webhook-body/locale register-webhook-body/signal_types register-webhook-notes/unknown-keys
  register-webhook-notes/ten-a-day register-webhook-notes/followed-and-future search-demand-query/locale
  search-demand-query/q search-demand-query/market search-demand-query/type search-demand-query/min_products
  search-demand-query/min_traffic search-demand-query/min_volume search-demand-query/sort search-demand-query/page
  search-demand-query/limit search-demand-query/keyword_id search-demand-notes/view-is-retired
  search-demand-notes/developer-view rankings-query/locale rankings-query/category rankings-query/country
  rankings-query/q rankings-query/sort rankings-query/order rankings-query/min_traffic rankings-query/min_growth
  rankings-query/min_dr rankings-query/min_dr_gain rankings-query/max_domain_age_months rankings-query/page
  rankings-query/limit rankings-notes/developer-view authentication/public-needs-no-key authentication/bearer-keys
  authentication/session-tokens authentication/scopes authentication/entitlements authentication/usage-is-shared
  authentication/401-and-403 event-envelope/id event-envelope/version event-envelope/type
  event-envelope/created_at event-envelope/data event-types/signal.published event-types/webhook.verification
  event-types/webhook.test signal-data/signal_id signal-data/signal_type signal-data/product signal-data/title
  signal-data/summary signal-data/change signal-data/observed_at signal-data/period signal-data/published_at
  signal-data/evidence_summary signal-data/url signal-notes/followed-and-subscribed signal-notes/no-backfill
  receiving/header-form receiving/digest receiving/constant-time-and-age receiving/deduplicate
  receiving/queue-and-answer signal-types/traffic_breakout signal-types/traffic_acceleration
  signal-types/traffic_deceleration signal-types/entered_category_top_10 signal-types/entered_category_top_20
  signal-types/dropped_out_of_category_top_10 signal-types/market_share_shift signal-types/ai_referral_breakout
  signal-types/ai_traffic_share_shift signal-types/new_ai_referral_source
  signal-types/ai_referral_sources_diversified signal-types/price_increased signal-types/price_decreased
  signal-types/free_plan_added signal-types/free_plan_removed signal-types/pricing_model_changed
  signal-types/trial_changed signal-types/enterprise_plan_introduced signal-types/backlink_acquisition_spike
  signal-types/ai_directory_push signal-types/media_review_burst signal-types/search_ads_started
  signal-types/ad_creative_expansion signal-types/new_feature signal-types/new_model signal-types/api_added
  signal-types/mcp_added signal-types/positioning_shift signal-types/product_launch
  signal-types/website_sitemap_expansion signal-types/website_sitemap_contraction
  signal-types/programmatic_seo_expansion signal-types/organic_keyword_breakout signal-types/brand_search_growth
  signal-types/new_market_pages signal-types/browser_extension_user_growth signal-types/primary_domain_changed
  signal-types/product_discontinued error-statuses/400 error-statuses/401 error-statuses/403 error-statuses/404
  error-statuses/409 error-statuses/429 error-statuses/503 errors/quota-code errors/quota-details
  errors/quota-headers-for-limited-only limits/request-rate limits/monthly-calls limits/quota-units
  limits/not-counted limits/active-investigations limits/webhook-registrations limits/signal-events
  limits/signature-age limits/polling-interval limits/developer-results limits/slug limits/signal-types limits/url
  limits/limit limits/page limits-notes/free-operations-are-limited versioning/prefix versioning/event-version
  versioning/report-version versioning/view-is-retired
`;

/** All ids of {@link DOCUMENT_ROWS}. */
export const ROW_IDS: readonly string[] = Object.entries(DOCUMENT_ROWS).flatMap(([table, rows]) =>
  rows.map((row) => `${table}/${row}`),
);

/** The ids at the ends of the texts of a test file: `"… [table/row]"`, one or more. Comments name nothing. */
export function rowsNamedIn(source: string): string[] {
  const code = source.replaceAll(/^\s*(\/\/|\/?\*).*$/gm, "");
  const ends = code.match(/(?:\[[a-z-]+\/[\w.-]+\]\s*)+(?=["'`])/g) ?? [];
  return ends.flatMap((end) => [...end.matchAll(/\[([^\]]+)\]/g)].map(([, id = ""]) => id));
}

/** The rows that are not built later and that none of these names. */
export function rowsWithoutTest(named: ReadonlySet<string>): string[] {
  return ROW_IDS.filter((id) => !named.has(id) && !(id in LATER));
}
