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
