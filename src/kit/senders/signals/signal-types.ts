/** The signal types of the service (service document, Signal types), in the document's order. */
export const SIGNAL_TYPES = [
  "traffic_breakout",
  "traffic_acceleration",
  "traffic_deceleration",
  "entered_category_top_10",
  "entered_category_top_20",
  "dropped_out_of_category_top_10",
  "market_share_shift",
  "ai_referral_breakout",
  "ai_traffic_share_shift",
  "new_ai_referral_source",
  "ai_referral_sources_diversified",
  "price_increased",
  "price_decreased",
  "free_plan_added",
  "free_plan_removed",
  "pricing_model_changed",
  "trial_changed",
  "enterprise_plan_introduced",
  "backlink_acquisition_spike",
  "ai_directory_push",
  "media_review_burst",
  "search_ads_started",
  "ad_creative_expansion",
  "new_feature",
  "new_model",
  "api_added",
  "mcp_added",
  "positioning_shift",
  "product_launch",
  "website_sitemap_expansion",
  "website_sitemap_contraction",
  "programmatic_seo_expansion",
  "organic_keyword_breakout",
  "brand_search_growth",
  "new_market_pages",
  "browser_extension_user_growth",
  "primary_domain_changed",
  "product_discontinued",
] as const;

/** One of {@link SIGNAL_TYPES}. */
export type KnownSignalType = (typeof SIGNAL_TYPES)[number];

/** A signal type: the known types by name, and any type that the service adds later. */
export type SignalType = KnownSignalType | (string & {});

/**
 * True for the types that this version of signalbox knows. Signals of unknown types are handed off
 * too.
 */
export function isKnownSignalType(type: unknown): type is KnownSignalType {
  return (SIGNAL_TYPES as readonly unknown[]).includes(type);
}
