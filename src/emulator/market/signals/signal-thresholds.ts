import { numberFrom } from "../../instance/allowed-values.js";
import type { Assumption } from "../../instance/assumption.js";

/**
 * When a rise is notable and a change material: the document's definitions of the signal types leave it open. A part of
 * `assumptions.ts`.
 */
export const SIGNAL_THRESHOLDS = {
  trafficBreakoutRate: {
    default: 0.5,
    allowed: numberFrom(0),
    about: "How much traffic must grow within a month for traffic_breakout, as a ratio.",
    reason: "The document says notably; half as much again is no usual month.",
  },
  trafficBreakoutVisits: {
    default: 5000,
    allowed: numberFrom(0),
    about: "How many visits it must gain for that.",
    reason: "The document wants scale beside rate; a small product doubles easily.",
  },
  trafficAccelerationFactor: {
    default: 1.3,
    allowed: numberFrom(0),
    about: "How much larger the latest increase must be than the one before, for traffic_acceleration.",
    reason: "A larger increase by chance is common.",
  },
  trafficDecelerationFactor: {
    default: 0.6,
    allowed: numberFrom(0),
    about: "How much smaller it must be for traffic_deceleration.",
    reason: "As above.",
  },
  trafficTrendVisits: {
    default: 2000,
    allowed: numberFrom(0),
    about: "How many visits a month's increase must have for either of the two.",
    reason: "Increases of a few visits say nothing.",
  },
  marketShareShift: {
    default: 0.01,
    allowed: numberFrom(0, 1),
    about: "How far a share of the market's visits must move for market_share_shift.",
    reason: "The document says meaningful; one of a hundred visits in the market changed its product.",
  },
  aiBreakoutFactor: {
    default: 1.8,
    allowed: numberFrom(0),
    about: "How much more visits AI assistants must send for ai_referral_breakout.",
    reason: "The document says well above the prior level.",
  },
  aiBreakoutVisits: {
    default: 400,
    allowed: numberFrom(0),
    about: "How many more visits those must be.",
    reason: "A few visits more double a small number.",
  },
  aiShareShift: {
    default: 0.02,
    allowed: numberFrom(0, 1),
    about: "How far the share of AI assistants must move for ai_traffic_share_shift.",
    reason: "The document says materially; in most months it moves by a fraction of that.",
  },
  aiShareVisits: {
    default: 2000,
    allowed: numberFrom(0),
    about: "How many visits a product must have in both months for that.",
    reason: "Shares of few visits jump about.",
  },
  newAiSourceVisits: {
    default: 10,
    allowed: numberFrom(0),
    about: "How many visits a new AI platform must send for new_ai_referral_source.",
    reason: "Fewer may be a test by hand.",
  },
  aiSourcesAdded: {
    default: 2,
    allowed: numberFrom(0),
    about: "How many platforms must have been added within three months for ai_referral_sources_diversified.",
    reason: "One more is the signal new_ai_referral_source.",
  },
  backlinkSpikeFactor: {
    default: 4,
    allowed: numberFrom(0),
    about: "How many times the usual number of new linking websites make a backlink_acquisition_spike.",
    reason: "The document says much faster.",
  },
  backlinkSpikeDomains: {
    default: 20,
    allowed: numberFrom(0),
    about: "How many new linking websites those must be.",
    reason: "Four times one is no spike.",
  },
  directoriesAdded: {
    default: 4,
    allowed: numberFrom(0),
    about: "How many more AI directories make an ai_directory_push.",
    reason: "The document says several.",
  },
  burstArticles: {
    default: 5,
    allowed: numberFrom(0),
    about: "How many articles of a month make a media_review_burst, if they are three times those of the month before.",
    reason: "The document says several within a short period.",
  },
  adCreativesFactor: {
    default: 1.7,
    allowed: numberFrom(0),
    about: "How much the number of ad creatives must grow for ad_creative_expansion.",
    reason: "The document says materially.",
  },
  adCreativesAdded: {
    default: 8,
    allowed: numberFrom(0),
    about: "How many more those must be.",
    reason: "Two where there was one is no expansion.",
  },
  sitemapExpansionFactor: {
    default: 1.5,
    allowed: numberFrom(0),
    about: "How much a sitemap must grow for website_sitemap_expansion.",
    reason: "The document says materially.",
  },
  sitemapContractionFactor: {
    default: 0.6,
    allowed: numberFrom(0, 1),
    about: "What part of a sitemap is left at most for website_sitemap_contraction.",
    reason: "As above.",
  },
  sitemapChangeUrls: {
    default: 100,
    allowed: numberFrom(0),
    about: "How many addresses more or fewer those must be.",
    reason: "Sitemaps of small sites double with one section.",
  },
  patternUrlsAdded: {
    default: 300,
    allowed: numberFrom(0),
    about: "How many more addresses of one pattern make a programmatic_seo_expansion.",
    reason: "Fewer are written by hand.",
  },
  marketUrlsAdded: {
    default: 50,
    allowed: numberFrom(0),
    about: "How many more addresses with a language, region or use case make new_market_pages.",
    reason: "Fewer are single pages.",
  },
  extensionGrowthFactor: {
    default: 1.25,
    allowed: numberFrom(0),
    about: "How much the users of an extension must grow for browser_extension_user_growth.",
    reason: "The document says materially.",
  },
  extensionUsersAdded: {
    default: 2000,
    allowed: numberFrom(0),
    about: "How many more users those must be.",
    reason: "Stores round to thousands.",
  },
  keywordBreakoutFactor: {
    default: 1.8,
    allowed: numberFrom(0),
    about: "How much a product's traffic by one keyword must grow for organic_keyword_breakout.",
    reason: "The document says no more than rose; noise is within a fifth.",
  },
  keywordBreakoutVisits: {
    default: 150,
    allowed: numberFrom(0),
    about: "How many more visits those must be.",
    reason: "Estimates of a few visits double easily.",
  },
  brandGrowthRate: {
    default: 0.25,
    allowed: numberFrom(0),
    about: "How much searches for branded terms must grow for brand_search_growth, as a ratio.",
    reason: "The season alone moves them by less.",
  },
  brandGrowthSearches: {
    default: 500,
    allowed: numberFrom(0),
    about: "How many more searches those must be.",
    reason: "As above.",
  },
} satisfies Record<string, Assumption<number>>;
