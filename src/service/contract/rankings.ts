import { z } from "zod";
import { freeLocaleSchema, openObject } from "./shared-schemas.js";

export const RANKING_SORTS = [
  "growth",
  "gain",
  "traffic",
  "dr_growth",
  "organic",
  "ai",
  "paid",
] as const;
/** The number that products are ranked by. */
export type RankingSort = (typeof RANKING_SORTS)[number];

/** The last page that a caller can request. */
export const LAST_RANKINGS_PAGE = 200;

/** The query parameters of rankings. Unknown parameters are refused. */
export const rankingsQuerySchema = z.strictObject({
  locale: freeLocaleSchema,
  category: z
    .string()
    .max(120)
    .optional()
    .describe("The slug of a category, such as a `primary_category_slug` of an answer."),
  country: z
    .string()
    .regex(/^[A-Za-z]{2}$/, "must be two letters, such as DE")
    .optional()
    .describe("A country code of two letters, in either case."),
  q: z.string().max(80).optional().describe("Text to search for in the products."),
  sort: z
    .enum(RANKING_SORTS)
    .default("growth")
    .describe(
      "The number to rank by: growth (the change of visits as a ratio), gain (the change of visits), traffic (visits), " +
        "dr_growth (the increase of the domain rating), or visits of one kind: organic, ai (AI referrals), paid.",
    ),
  order: z
    .enum(["asc", "desc"])
    .default("desc")
    .describe("asc: the lowest number first; desc: the highest."),
  min_traffic: z
    .int()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .default(1000)
    .describe("The lowest number of visits in the latest month."),
  min_growth: z
    .number()
    .min(0)
    .max(100)
    .default(0)
    .describe("The lowest growth, as a ratio: 0.1 means 10 percent."),
  min_dr: z.number().min(0).max(100).default(0).describe("The lowest domain rating."),
  min_dr_gain: z
    .number()
    .min(0)
    .max(100)
    .default(0)
    .describe("The smallest increase of the domain rating."),
  max_domain_age_months: z
    .int()
    .min(0)
    .max(120)
    .default(0)
    .describe("The highest age of the domain in months; 0 means any age."),
  page: z.int().min(1).max(LAST_RANKINGS_PAGE).default(1).describe("The page number, from 1."),
  limit: z.int().min(1).max(50).default(25).describe("Products on a page."),
});

/** The parameters that a caller passes. */
export type RankingsQuery = z.input<typeof rankingsQuerySchema>;
/** The parameters with the defaults filled in. */
export type RankingsParameters = z.output<typeof rankingsQuerySchema>;

export const rankingItemSchema = openObject({
  rank: z.int(),
  tool_id: z.int(),
  name: z.string(),
  slug: z.string(),
  normalized_domain: z.string(),
  primary_category_name: z.string().nullable().optional(),
  primary_category_slug: z.string().nullable().optional(),
  latest_month: z.string(),
  previous_month: z.string(),
  latest_visits: z.number(),
  previous_visits: z.number(),
  visits_change: z
    .number()
    .describe("Visits of the latest month minus visits of the month before."),
  growth_rate: z.number().describe("A ratio: 0.314 means 31.4 percent."),
  domain_rating: z.number().nullable().optional(),
  favicon_url: z.string().nullable().optional(),
}).describe(
  "One ranked product. A field that is null is unavailable. Some accounts get more fields.",
);

/** One ranked product. */
export type RankingItem = z.infer<typeof rankingItemSchema>;

/** The answer of rankings (service document, Rankings response). */
export const rankingsResponseSchema = openObject({
  dataset: z.looseObject({}),
  eligible_population: z
    .int()
    .describe("The number of products that have the data for this ranking."),
  filters: z.looseObject({}).describe("The filters that were applied."),
  items: z.array(rankingItemSchema),
  pagination: openObject({
    page: z.int(),
    limit: z.int(),
    has_more: z.boolean(),
    has_previous: z.boolean().optional(),
    next_page: z.int().nullable().optional(),
    previous_page: z.int().nullable().optional(),
    total: z.int().optional(),
    total_pages: z.int().optional(),
  }),
  requested_locale: z.string(),
  resolved_locale: z.string(),
  category: z.looseObject({}).nullable().optional(),
}).describe("One page of ranked products.");

/** One page of ranked products. */
export type RankingsResponse = z.infer<typeof rankingsResponseSchema>;
