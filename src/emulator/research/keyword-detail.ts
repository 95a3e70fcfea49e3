import { LIMITS } from "../../api/limits.js";
import type { KeywordDetail, KeywordRow } from "../../api/search-demand.js";
import { formatMonth } from "../time/month.js";
import { receivingProducts, type KeywordContext, type ReceivingProduct } from "./keyword-rows.js";
import { visibleRows } from "./page-window.js";

/** The highest number of rows of a list in a keyword's detail. */
export const DETAIL_ROWS = 50;
/** The number of months in a keyword's history. */
export const HISTORY_MONTHS = 12;

/** Adds the detail to a keyword's row (service document, Search demand response). */
export function keywordDetail(row: KeywordRow, context: KeywordContext): KeywordDetail {
  const { database, month, locale, view } = context;
  const products = receivingProducts(database, month, locale)(row.keyword_id);
  const most = visibleRows(view, DETAIL_ROWS);
  return {
    ...row,
    history: readHistory(row.keyword_id, context),
    markets: marketsOf(products).slice(0, most),
    products: products.slice(0, most).map(({ market_id: _sector, ...product }) => product),
    related_observed: readRelated(row.keyword_id, most, context),
  };
}

/** Reads the observed months of a keyword, the oldest first. */
function readHistory(keywordId: number, { database, month, view }: KeywordContext): KeywordDetail["history"] {
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
function marketsOf(products: readonly ReceivingProduct[]): KeywordDetail["markets"] {
  const markets = new Map<
    number,
    Pick<ReceivingProduct, "market_id" | "market_name" | "observed_traffic"> & { observed_products: number }
  >();
  let total = 0;
  for (const { market_id, market_name, observed_traffic } of products) {
    const market = markets.get(market_id) ?? { market_id, market_name, observed_products: 0, observed_traffic: 0 };
    market.observed_products += 1;
    market.observed_traffic += observed_traffic;
    markets.set(market_id, market);
    total += observed_traffic;
  }
  return [...markets.values()]
    .sort((a, b) => b.observed_traffic - a.observed_traffic || a.market_id - b.market_id)
    .map((market) => ({ ...market, share: total === 0 ? 0 : market.observed_traffic / total }));
}

/**
 * Reads the keywords that bring traffic to the same products. Keywords that share the most products come first. CROSS JOIN makes
 * SQLite read the tables in this order. Without statistics it would choose another one, and read all rows of the month.
 */
function readRelated(
  keywordId: number,
  most: number,
  { database, month }: KeywordContext,
): KeywordDetail["related_observed"] {
  return database
    .prepare<[{ month: number; keywordId: number; most: number }], KeywordDetail["related_observed"][number]>(
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
