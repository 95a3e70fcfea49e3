import { z } from "zod";
import { freeLocaleSchema, openObject } from "./shared-schemas.js";

const DEMAND_TYPES = ["all", "non_brand", "brand"] as const;
const DEMAND_SORTS = ["traffic", "volume", "products"] as const;
export const BRAND_TYPES = [
  "generic",
  "brand_navigational",
  "brand_commercial",
  "mixed",
  "unknown",
] as const;
export const COMPARISON_STATUSES = [
  "comparable",
  "sample_changed",
  "new_observation",
  "missing_history",
  "insufficient_baseline",
  "unverified",
] as const;
export const CONCENTRATIONS = [
  "unknown",
  "single",
  "concentrated",
  "balanced",
  "distributed",
] as const;

const threshold = z.int().min(0).max(10_000_000_000).default(0);

/** The last page that a caller can request. */
export const LAST_DEMAND_PAGE = 1000;

/**
 * The query parameters of search demand. Unknown parameters are refused, including the retired
 * parameter `view`.
 */
export const searchDemandQuerySchema = z.strictObject({
  locale: freeLocaleSchema,
  q: z.string().max(120).optional().describe("Text to search for in the keywords."),
  market: z
    .string()
    .max(120)
    .optional()
    .describe(
      "The slug of a product sector, such as one in `markets` of an answer; not a country code.",
    ),
  type: z
    .enum(DEMAND_TYPES)
    .default("non_brand")
    .describe("non_brand: keywords without a brand name; brand: keywords with one; all: both."),
  min_products: z
    .literal([1, 2, 3, 5])
    .default(1)
    .describe("The lowest number of products that receive traffic from a keyword."),
  min_traffic: threshold.describe("The lowest observed traffic."),
  min_volume: threshold.describe("The lowest search volume."),
  sort: z
    .enum(DEMAND_SORTS)
    .default("traffic")
    .describe(
      "The number to sort by, from the highest: observed traffic, search volume, or the number of products.",
    ),
  page: z.int().min(1).max(LAST_DEMAND_PAGE).default(1).describe("The page number, from 1."),
  limit: z.int().min(1).max(50).default(25).describe("Rows on a page."),
  keyword_id: z
    .int()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe(
      "The `keyword_id` of a row. Adds the detail of this keyword as `keyword`; 0 adds none.",
    ),
});

/** The parameters that a caller passes. */
export type SearchDemandQuery = z.input<typeof searchDemandQuerySchema>;
/** The parameters with the defaults filled in. */
export type SearchDemandParameters = z.output<typeof searchDemandQuerySchema>;

const count = z.int().min(0);
const sampleType = z.literal("top_search_keywords");

const observedProductSchema = openObject({
  tool_id: z.int(),
  name: z.string(),
  slug: z.string(),
  domain: z.string().optional(),
  market_name: z.string().nullable(),
  observed_traffic: z.number(),
});

export const trafficDistributionSchema = openObject({
  products: z.array(observedProductSchema.extend({ share: z.number().nullable() })),
  total_traffic: z.number(),
  product_count: z.int(),
  other_traffic: z.number().describe("The traffic of the products that are not listed."),
  other_products: z.int(),
  cr3: z
    .number()
    .nullable()
    .describe("The share of the three largest products; null when it is unavailable."),
  concentration: z.enum(CONCENTRATIONS),
}).describe("The shares of a keyword's traffic among the tracked products, which are a sample.");

export const keywordRowSchema = openObject({
  keyword: z.string(),
  keyword_id: z.int(),
  brand_type: z.enum(BRAND_TYPES),
  cluster_id: z.string().nullable(),
  cluster_name: z.string().nullable(),
  market_id: z.number().nullable(),
  market_name: z.string().nullable(),
  market_slug: z.string().nullable(),
  observed_markets: count,
  observed_products: count,
  observed_traffic: z.number(),
  search_volume: z.number(),
  product_change1m: z
    .number()
    .nullable()
    .describe("The change in the number of products since the month before."),
  traffic_change1m: z.number().nullable().describe("The change in traffic since the month before."),
  comparison_status: z
    .enum(COMPARISON_STATUSES)
    .optional()
    .describe("The changes are usable only when this is `comparable`."),
  traffic_distribution: trafficDistributionSchema.optional(),
}).describe("A keyword with its numbers. A change that is null is unavailable, not zero.");

/** One keyword, with the shares of its traffic among the tracked products. */
export type KeywordRow = z.infer<typeof keywordRowSchema>;

export const keywordDetailSchema = keywordRowSchema
  .extend({
    history: z.array(
      openObject({
        month: z.string(),
        observed_products: z.int(),
        observed_traffic: z.number(),
        search_volume: z.number(),
      }),
    ),
    markets: z.array(
      openObject({
        market_id: z.int(),
        market_name: z.string(),
        observed_products: z.int(),
        observed_traffic: z.number(),
        share: z.number(),
      }),
    ),
    products: z.array(observedProductSchema),
    related_observed: z.array(
      openObject({
        keyword: z.string(),
        keyword_id: z.int(),
        observed_products: z.int(),
        observed_traffic: z.number(),
        shared_products: z.int(),
      }),
    ),
  })
  .describe("A keyword with its history, sectors, products and related keywords.");

/** One keyword with its history, sectors, products and related keywords. */
export type KeywordDetail = z.infer<typeof keywordDetailSchema>;

/** The answer of search demand (service document, Search demand response). */
export const searchDemandResponseSchema = openObject({
  dataset: openObject({
    captured_at: z.string().nullable(),
    observed_month: z.string().nullable(),
    exhaustive: z.literal(false),
    source: z.string(),
    sample_type: sampleType,
  }),
  filters: openObject({
    demand_type: z.enum(DEMAND_TYPES),
    market_id: z.number().nullable(),
    market: z.string(),
    min_products: count,
    min_traffic: z.number(),
    min_volume: z.number(),
    page: z.int().min(1),
    page_size: z.int().min(1),
    query: z.string(),
    selected_keyword_id: z.number().nullable(),
    sort: z.enum(DEMAND_SORTS),
  }).describe("The applied filters, including the defaults."),
  items: z.array(keywordRowSchema),
  keyword: keywordDetailSchema
    .nullable()
    .describe("Null unless the request asked for the detail of a keyword."),
  markets: z
    .array(openObject({ id: z.int(), name: z.string(), slug: z.string() }))
    .describe(
      "The product sectors that `market` can filter by. The list does not cover the whole market.",
    ),
  pagination: openObject({
    page: z.int(),
    limit: z.int(),
    total: z.int(),
    total_pages: z.int(),
    has_more: z.boolean(),
    has_previous: z.boolean(),
  }),
  requested_locale: z.string(),
  resolved_locale: z.string().describe("The language of the answer."),
  summary: openObject({
    captured_at: z.string().nullable(),
    latest_month: z.string().nullable(),
    markets: count,
    observed_products: count,
    observed_terms: count,
    sample_type: sampleType,
    source: z.string(),
  }),
}).describe(
  "Keywords and the products that receive their traffic. Only tracked products are listed, not the whole market.",
);

/** One page of keywords. */
export type SearchDemandResponse = z.infer<typeof searchDemandResponseSchema>;
