import { LIMITS } from "../../contract/limits.js";
import type { KeywordDetail, KeywordRow } from "../../contract/search-demand.js";
import { formatMonth } from "../time/month.js";
import { localised } from "./find-sector.js";
import { receivingProducts, type KeywordContext } from "./keyword-rows.js";
import { visibleRows } from "./page-window.js";

/** The highest number of rows of a list in a keyword's detail. */
const DETAIL_ROWS = 50;
/** The number of months in a keyword's history. */
const HISTORY_MONTHS = 12;

/** Adds the detail to a keyword's row (service document, Search demand response). */
export function keywordDetail(row: KeywordRow, context: KeywordContext): KeywordDetail {
  const { database, month, locale, view } = context;
  const products = receivingProducts(database, month, locale)(row.keyword_id);
  const most = visibleRows(view, DETAIL_ROWS);
  return {
    ...row,
    history: readHistory(row.keyword_id, context),
    markets: readMarkets(row.keyword_id, most, context),
    products: products.slice(0, most).map(({ market_id: _sector, ...product }) => product),
    related_observed: readRelated(row.keyword_id, most, context),
  };
}

/** Reads the observed months of a keyword, the oldest first. */
function readHistory(
  keywordId: number,
  { database, month, view }: KeywordContext,
): KeywordDetail["history"] {
  const months = view.isLimited ? LIMITS.developerHistoryMonths : HISTORY_MONTHS;
  return database
    .prepare<
      [number, number, number],
      Record<"month" | "observed_products" | "observed_traffic" | "search_volume", number>
    >(
      `SELECT m.month, m.observed_products, m.observed_traffic, m.search_volume
       FROM observed_month e CROSS JOIN keyword_month m ON m.month = e.month AND m.keyword_id = ?
       WHERE e.month > ? AND e.month <= ? ORDER BY m.month`,
    )
    .all(keywordId, month - months, month)
    .map((row) => ({ ...row, month: formatMonth(row.month) }));
}

/** Sums up the traffic by the sectors of the products. The sector with most traffic comes first. */
function readMarkets(
  keywordId: number,
  most: number,
  context: KeywordContext,
): KeywordDetail["markets"] {
  const { database, month, locale } = context;
  return database
    .prepare<[number, number, number], KeywordDetail["markets"][number]>(
      `SELECT sector_id AS market_id, s.${localised("name", locale)} AS market_name, count(*) AS observed_products,
         sum(traffic) AS observed_traffic, 1.0 * sum(traffic) / sum(sum(traffic)) OVER () AS share
       FROM keyword_product_month JOIN product USING (tool_id) JOIN sector s USING (sector_id)
       WHERE month = ? AND keyword_id = ? GROUP BY sector_id ORDER BY observed_traffic DESC, market_id LIMIT ?`,
    )
    .all(month, keywordId, most);
}

/**
 * Reads the keywords that bring traffic to the same products. Keywords that share the most products
 * come first. CROSS JOIN makes SQLite read the tables in this order. Without statistics it would
 * choose another one, and read all rows of the month.
 */
function readRelated(
  keywordId: number,
  most: number,
  { database, month }: KeywordContext,
): KeywordDetail["related_observed"] {
  return database
    .prepare<
      [{ month: number; keywordId: number; most: number }],
      KeywordDetail["related_observed"][number]
    >(
      `WITH shared AS MATERIALIZED (
         SELECT other.keyword_id, count(*) AS shared_products
         FROM keyword_product_month own
         CROSS JOIN keyword_product_month other ON other.month = own.month AND other.tool_id = own.tool_id
         WHERE own.month = @month AND own.keyword_id = @keywordId AND other.keyword_id <> @keywordId
         GROUP BY other.keyword_id)
       SELECT k.keyword, m.keyword_id, m.observed_products, m.observed_traffic, shared_products
       FROM shared
       JOIN keyword_month m ON m.month = @month AND m.keyword_id = shared.keyword_id
       JOIN keyword k ON k.keyword_id = m.keyword_id
       ORDER BY shared_products DESC, m.observed_traffic DESC, m.keyword_id LIMIT @most`,
    )
    .all({ month, keywordId, most });
}
