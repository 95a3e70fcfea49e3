import type { Database } from "../database/database.js";
import type { ServiceLocale } from "../../api/locale.js";
import type { BRAND_TYPES, COMPARISON_STATUSES, KeywordRow } from "../../api/search-demand.js";
import type { Assumptions } from "../instance/assumptions.js";
import type { MonthIndex } from "../time/month.js";
import { localised } from "./find-sector.js";
import { nestedRows } from "./page-window.js";
import { receivingProducts } from "./receiving-products.js";
import type { ResearchView } from "./research-view.js";
import { trafficDistribution } from "./traffic-distribution.js";

/** What all keyword rows of one answer have in common. */
export interface KeywordContext {
  database: Database;
  month: MonthIndex;
  locale: ServiceLocale;
  view: ResearchView;
  assumptions: Assumptions;
}

/** The products that a row's distribution lists before it sums up the others. */
export const LISTED_PRODUCTS = 5;
/** The traffic that a keyword must have had in the month before for a comparison. */
export const BASELINE_TRAFFIC = 50;

interface Observed {
  keyword: string;
  keyword_id: number;
  brand_type: (typeof BRAND_TYPES)[number];
  cluster_id: string | null;
  cluster_name: string | null;
  market_id: number | null;
  market_name: string | null;
  market_slug: string | null;
  observed_products: number;
  observed_traffic: number;
  search_volume: number;
  sample_version: number;
  is_verified: number;
  previous_products: number | null;
  previous_traffic: number | null;
  previous_version: number | null;
  previous_verified: number | null;
  was_observed_before: number;
}

/** Reads the row of a keyword; undefined for one that was not observed in this month. */
export function keywordRows(context: KeywordContext): (keywordId: number) => KeywordRow | undefined {
  const { database, month, locale, view } = context;
  const statement = database.prepare<[{ month: number; keywordId: number }], Observed>(
    `SELECT k.keyword, k.keyword_id, k.brand_type, c.cluster_id, c.${localised("name", locale)} AS cluster_name,
       s.sector_id AS market_id, s.${localised("name", locale)} AS market_name, s.slug AS market_slug,
       m.observed_products, m.observed_traffic, m.search_volume, m.sample_version, m.is_verified,
       b.observed_products AS previous_products, b.observed_traffic AS previous_traffic,
       b.sample_version AS previous_version, b.is_verified AS previous_verified,
       -- Month by month, as the key goes; asked only of those that the month before lacks.
       b.month IS NULL AND EXISTS (SELECT 1 FROM observed_month e
         CROSS JOIN keyword_month o ON o.month = e.month AND o.keyword_id = k.keyword_id
         WHERE e.month < @month) AS was_observed_before
     FROM keyword_month m
     JOIN keyword k ON k.keyword_id = m.keyword_id
     LEFT JOIN keyword_cluster c ON c.cluster_id = k.cluster_id
     LEFT JOIN sector s ON s.sector_id = k.sector_id
     LEFT JOIN keyword_month b ON b.month = @month - 1 AND b.keyword_id = m.keyword_id
     WHERE m.month = @month AND m.keyword_id = @keywordId`,
  );
  const productsOf = receivingProducts(database, month, locale);
  const shown = nestedRows(view, LISTED_PRODUCTS);
  return (keywordId) => {
    const row = statement.get({ month, keywordId });
    if (row === undefined) return undefined;
    const products = productsOf(keywordId);
    return {
      keyword: row.keyword,
      keyword_id: row.keyword_id,
      brand_type: row.brand_type,
      cluster_id: row.cluster_id,
      cluster_name: row.cluster_name,
      market_id: row.market_id,
      market_name: row.market_name,
      market_slug: row.market_slug,
      observed_markets: new Set(products.map(({ market_id }) => market_id)).size,
      observed_products: row.observed_products,
      observed_traffic: row.observed_traffic,
      search_volume: row.search_volume,
      product_change1m: row.previous_products === null ? null : row.observed_products - row.previous_products,
      traffic_change1m: row.previous_traffic === null ? null : row.observed_traffic - row.previous_traffic,
      comparison_status: comparisonStatus(row),
      traffic_distribution: trafficDistribution(products, shown),
    };
  };
}

/** Whether this month's sample may be compared with the one before, and if not, the first reason against it. */
function comparisonStatus(row: Observed): (typeof COMPARISON_STATUSES)[number] {
  if (row.previous_traffic === null) return row.was_observed_before === 1 ? "missing_history" : "new_observation";
  if (row.sample_version !== row.previous_version) return "sample_changed";
  if (row.is_verified === 0 || row.previous_verified === 0) return "unverified";
  return row.previous_traffic < BASELINE_TRAFFIC ? "insufficient_baseline" : "comparable";
}
