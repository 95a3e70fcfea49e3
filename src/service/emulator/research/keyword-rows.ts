import type { z } from "zod";
import type {
  COMPARISON_STATUSES,
  CONCENTRATIONS,
  KeywordRow,
  trafficDistributionSchema,
} from "../../contract/search-demand.js";
import type { ServiceLocale } from "../../contract/shared-schemas.js";
import type { Database } from "../database/database.js";
import type { MonthIndex } from "../time/emulator-clock.js";
import { localised, visibleRows, type ResearchView } from "./research-list.js";

/** The values that are the same for all keyword rows of an answer. */
export interface KeywordContext {
  database: Database;
  month: MonthIndex;
  locale: ServiceLocale;
  view: ResearchView;
}

/** The number of products that a row's distribution lists. The other products are summed up. */
const LISTED_PRODUCTS = 5;
/** If the previous month's traffic is lower than this, the two months are not compared. */
const BASELINE_TRAFFIC = 50;

/** The columns that decide the comparison status of a row. */
interface Comparison {
  is_same_sample: number | null;
  are_both_verified: number | null;
  previous_traffic: number | null;
  was_observed_before: number;
}

/** Reads the row of a keyword; undefined if the keyword was not observed in this month. */
export function readKeywordRow(context: KeywordContext, keywordId: number): KeywordRow | undefined {
  const { database, month, locale, view } = context;
  const sql = `SELECT k.keyword, k.keyword_id, k.brand_type, c.cluster_id, c.${localised("name", locale)} AS cluster_name,
       s.sector_id AS market_id, s.${localised("name", locale)} AS market_name, s.slug AS market_slug,
       m.observed_products, m.observed_traffic, m.search_volume,
       m.observed_products - b.observed_products AS product_change1m,
       m.observed_traffic - b.observed_traffic AS traffic_change1m,
       b.observed_traffic AS previous_traffic, m.sample_version = b.sample_version AS is_same_sample,
       m.is_verified AND b.is_verified AS are_both_verified,
       -- This runs only for keywords without a row in the month before, and uses the primary key.
       b.month IS NULL AND EXISTS (SELECT 1 FROM observed_month e
         CROSS JOIN keyword_month o ON o.month = e.month AND o.keyword_id = k.keyword_id
         WHERE e.month < @month) AS was_observed_before
     FROM keyword_month m
     JOIN keyword k ON k.keyword_id = m.keyword_id
     LEFT JOIN keyword_cluster c ON c.cluster_id = k.cluster_id
     LEFT JOIN sector s ON s.sector_id = k.sector_id
     LEFT JOIN keyword_month b ON b.month = @month - 1 AND b.keyword_id = m.keyword_id
     WHERE m.month = @month AND m.keyword_id = @keywordId`;
  const row = database.row<KeywordRow & Comparison>(sql, { month, keywordId });
  if (row === undefined) return undefined;
  const { previous_traffic, is_same_sample, are_both_verified, was_observed_before, ...columns } =
    row;
  const products = receivingProducts(context, keywordId);
  return {
    ...columns,
    observed_markets: new Set(products.map(({ market_id }) => market_id)).size,
    comparison_status: comparisonStatus({
      previous_traffic,
      is_same_sample,
      are_both_verified,
      was_observed_before,
    }),
    traffic_distribution: trafficDistribution(products, visibleRows(view, LISTED_PRODUCTS)),
  };
}

/**
 * Decides whether this month's sample can be compared with the month before, and if not, gives the
 * first reason.
 */
function comparisonStatus(row: Comparison): (typeof COMPARISON_STATUSES)[number] {
  if (row.previous_traffic === null)
    return row.was_observed_before === 1 ? "missing_history" : "new_observation";
  if (row.is_same_sample !== 1) return "sample_changed";
  if (row.are_both_verified !== 1) return "unverified";
  return row.previous_traffic < BASELINE_TRAFFIC ? "insufficient_baseline" : "comparable";
}

/** A tracked product that receives traffic of a keyword. */
type ReceivingProduct = Record<"tool_id" | "market_id" | "observed_traffic", number> &
  Record<"name" | "slug" | "domain" | "market_name", string>;

/**
 * Reads the products that receive traffic of a keyword in a month. The product with most traffic
 * comes first.
 */
export function receivingProducts(
  { database, month, locale }: KeywordContext,
  keywordId: number,
): ReceivingProduct[] {
  const sql = `SELECT p.tool_id, p.name, p.slug, p.domain, p.sector_id AS market_id, s.${localised("name", locale)} AS market_name,
       kp.traffic AS observed_traffic
     FROM keyword_product_month kp
     JOIN product p ON p.tool_id = kp.tool_id
     JOIN sector s ON s.sector_id = p.sector_id
     WHERE kp.month = ? AND kp.keyword_id = ?
     ORDER BY kp.traffic DESC, kp.tool_id`;
  return database.rows<ReceivingProduct>(sql, month, keywordId);
}

type TrafficDistribution = z.infer<typeof trafficDistributionSchema>;

/**
 * Computes how a keyword's traffic is distributed over the tracked products (service document,
 * Search demand response).
 *
 * @param products all products with traffic of the keyword, the largest first
 * @param shown the number of products to list; the others are summed up
 */
function trafficDistribution(
  products: readonly ReceivingProduct[],
  shown: number,
): TrafficDistribution {
  const total = sum(products);
  const listed = products.slice(0, shown);
  const others = products.slice(shown);
  const cr3 = total === 0 ? null : sum(products.slice(0, 3)) / total;
  return {
    products: listed.map(({ market_id: _sector, ...product }) => {
      return { ...product, share: total === 0 ? null : product.observed_traffic / total };
    }),
    total_traffic: total,
    product_count: products.length,
    other_traffic: sum(others),
    other_products: others.length,
    cr3,
    concentration: concentrationOf(cr3, products.length),
  };
}

/**
 * The lowest CR3 (the share of the three largest products) of concentrated and of balanced traffic;
 * below: distributed.
 */
const CONCENTRATED_FROM_CR3 = 0.9;
const BALANCED_FROM_CR3 = 0.7;

function concentrationOf(
  cr3: number | null,
  productCount: number,
): (typeof CONCENTRATIONS)[number] {
  if (cr3 === null) return "unknown";
  if (productCount === 1) return "single";
  if (cr3 >= CONCENTRATED_FROM_CR3) return "concentrated";
  return cr3 >= BALANCED_FROM_CR3 ? "balanced" : "distributed";
}

function sum(products: readonly ReceivingProduct[]): number {
  return products.reduce((total, { observed_traffic }) => total + observed_traffic, 0);
}
