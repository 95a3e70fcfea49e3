import { LIMITS } from "../../contract/limits.js";
import {
  LAST_DEMAND_PAGE,
  type KeywordDetail,
  type SearchDemandParameters,
  type SearchDemandResponse,
  type KeywordRow,
} from "../../contract/search-demand.js";
import type { ServiceLocale } from "../../contract/shared-schemas.js";
import type { Database } from "../database/database.js";
import { resolveLocale } from "../market/format-values.js";
import { ServiceError } from "../operations/service-error.js";
import { formatMonth } from "../time/emulator-clock.js";
import { readKeywordRow, receivingProducts, type KeywordContext } from "./keyword-rows.js";
import {
  findSector,
  hasWords,
  localised,
  pageFacts,
  pageWindow,
  readLatestMonth,
  searchedWords,
  visibleRows,
  type ResearchView,
  type Sector,
} from "./research-list.js";

/**
 * A made-up name, because the service's document does not name the provider of the traffic data.
 */
const TRAFFIC_DATA_SOURCE = "emulated_traffic_panel";

/**
 * Reads the keywords of the latest month and the tracked products that receive their traffic
 * (service document, Search demand).
 *
 * @throws ServiceError `RESOURCE_NOT_FOUND`
 */
export function readSearchDemand(
  database: Database,
  parameters: SearchDemandParameters,
  view: ResearchView,
): SearchDemandResponse {
  const locale = resolveLocale(parameters.locale);
  const market = findSector(database, parameters.market, { parameter: "market", locale });
  const { month, capturedAt } = readLatestMonth(database);
  const context: KeywordContext = { database, month, locale, view };
  const window = pageWindow(parameters, view);
  const values = {
    ...parameters,
    ...window,
    month,
    market: market?.id ?? null,
    words: searchedWords(parameters.q),
  };
  const found = database.value<number>(`SELECT count(*) ${CHOSEN_KEYWORDS}`, values) ?? 0;
  const ids = database.rows<{ id: number }>(
    `SELECT m.keyword_id AS id ${CHOSEN_KEYWORDS}
     ORDER BY ${SORT_COLUMNS[parameters.sort]} DESC, m.keyword_id LIMIT @limit OFFSET @offset`,
    values,
  );
  const sample = { sample_type: "top_search_keywords", source: TRAFFIC_DATA_SOURCE } as const;

  return {
    dataset: {
      captured_at: capturedAt,
      observed_month: formatMonth(month),
      exhaustive: false,
      ...sample,
    },
    filters: appliedFilters(parameters, market, window),
    items: ids.map(({ id }) => readKeywordRow(context, id)).filter((row) => row !== undefined),
    keyword: readDetail(parameters.keyword_id, context),
    markets: readMarketOptions(database, locale, view),
    pagination: pageFacts(window, found, view, LAST_DEMAND_PAGE),
    requested_locale: parameters.locale,
    resolved_locale: locale,
    summary: {
      captured_at: capturedAt,
      latest_month: formatMonth(month),
      ...readSampleSummary(context),
      ...sample,
    },
  };
}

/** Counts a month over all keywords. A term without a product is in no list, so it does not count. */
function readSampleSummary({ database, month }: KeywordContext) {
  // The query starts from the products, because there are a few hundred products but tens of
  // thousands of observations.
  return database.row<Record<"markets" | "observed_products" | "observed_terms", number>>(
    `WITH receiving AS (
         SELECT p.tool_id, p.sector_id FROM product p
         WHERE EXISTS (SELECT 1 FROM keyword_product_month kp WHERE kp.month = @month AND kp.tool_id = p.tool_id))
       SELECT (SELECT count(DISTINCT sector_id) FROM receiving) AS markets,
         (SELECT count(*) FROM receiving) AS observed_products,
         (SELECT count(*) FROM keyword_month WHERE month = @month AND observed_products > 0) AS observed_terms`,
    { month },
  ) as Record<"markets" | "observed_products" | "observed_terms", number>;
}

function appliedFilters(
  parameters: SearchDemandParameters,
  market: Sector | null,
  window: { page: number; limit: number },
): SearchDemandResponse["filters"] {
  const { type, min_products, min_traffic, min_volume, q, keyword_id, sort } = parameters;
  return {
    demand_type: type,
    market_id: market?.id ?? null,
    market: parameters.market ?? "",
    min_products,
    min_traffic,
    min_volume,
    page: window.page,
    page_size: window.limit,
    query: q ?? "",
    selected_keyword_id: keyword_id === 0 ? null : (keyword_id ?? null),
    sort,
  };
}

function readDetail(keywordId: number | undefined, context: KeywordContext): KeywordDetail | null {
  if (keywordId === undefined || keywordId === 0) return null;
  const row = readKeywordRow(context, keywordId);
  if (row !== undefined) return keywordDetail(row, context);
  throw new ServiceError(
    "RESOURCE_NOT_FOUND",
    "The parameter keyword_id does not name a keyword of the latest month.",
  );
}

/** Reads the sectors that a request can filter by. */
function readMarketOptions(
  database: Database,
  locale: ServiceLocale,
  view: ResearchView,
): SearchDemandResponse["markets"] {
  return database.rows<{ id: number; name: string; slug: string }>(
    `SELECT sector_id AS id, ${localised("name", locale)} AS name, slug FROM sector ORDER BY sector_id LIMIT ?`,
    view.isLimited ? LIMITS.developerSectorOptions : -1,
  );
}

const SORT_COLUMNS: Record<SearchDemandParameters["sort"], string> = {
  traffic: "m.observed_traffic",
  volume: "m.search_volume",
  products: "m.observed_products",
};

/**
 * The keywords of a month that pass the filters. The service's document does not define which brand
 * types the filter `type` selects (the assumption `brandTypes`).
 */
const CHOSEN_KEYWORDS = `FROM keyword_month m JOIN keyword k ON k.keyword_id = m.keyword_id
  WHERE m.month = @month AND m.observed_products >= @min_products
    AND m.observed_traffic >= @min_traffic AND m.search_volume >= @min_volume
    AND (@type = 'all' OR (@type = 'non_brand') = (k.brand_type IN ('generic', 'unknown')))
    AND (@market IS NULL OR m.keyword_id IN (SELECT kp.keyword_id FROM product p
      CROSS JOIN keyword_product_month kp ON kp.month = @month AND kp.tool_id = p.tool_id WHERE p.sector_id = @market))
    AND ${hasWords("k.keyword")}`;

/** The highest number of rows of a list in a keyword's detail. */
const DETAIL_ROWS = 50;
/** The number of months in a keyword's history. */
const HISTORY_MONTHS = 12;

/** Adds the detail to a keyword's row (service document, Search demand response). */
function keywordDetail(row: KeywordRow, context: KeywordContext): KeywordDetail {
  const products = receivingProducts(context, row.keyword_id);
  const most = visibleRows(context.view, DETAIL_ROWS);
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
    .rows<Record<"month" | "observed_products" | "observed_traffic" | "search_volume", number>>(
      `SELECT m.month, m.observed_products, m.observed_traffic, m.search_volume
       FROM observed_month e CROSS JOIN keyword_month m ON m.month = e.month AND m.keyword_id = ?
       WHERE e.month > ? AND e.month <= ? ORDER BY m.month`,
      keywordId,
      month - months,
      month,
    )
    .map((row) => ({ ...row, month: formatMonth(row.month) }));
}

/** Sums up the traffic by the sectors of the products. The sector with most traffic comes first. */
function readMarkets(
  keywordId: number,
  most: number,
  context: KeywordContext,
): KeywordDetail["markets"] {
  const { database, month, locale } = context;
  return database.rows<KeywordDetail["markets"][number]>(
    `SELECT sector_id AS market_id, s.${localised("name", locale)} AS market_name, count(*) AS observed_products,
         sum(traffic) AS observed_traffic, 1.0 * sum(traffic) / sum(sum(traffic)) OVER () AS share
       FROM keyword_product_month JOIN product USING (tool_id) JOIN sector s USING (sector_id)
       WHERE month = ? AND keyword_id = ? GROUP BY sector_id ORDER BY observed_traffic DESC, market_id LIMIT ?`,
    month,
    keywordId,
    most,
  );
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
  return database.rows<KeywordDetail["related_observed"][number]>(
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
    { month, keywordId, most },
  );
}
