import type { Database } from "../database/database.js";
import { LIMITS } from "../../contract/limits.js";
import type { ServiceLocale } from "../../contract/locale.js";
import {
  LAST_DEMAND_PAGE,
  type KeywordDetail,
  type SearchDemandParameters,
  type SearchDemandResponse,
} from "../../contract/search-demand.js";
import { resolveLocale } from "../market/locale.js";
import { formatMonth, type MonthIndex } from "../time/month.js";
import { ServiceError } from "../operations/service-error.js";
import { findSector, localised, type Sector } from "./find-sector.js";
import { keywordDetail } from "./keyword-detail.js";
import { keywordRows, type KeywordContext } from "./keyword-rows.js";
import { pageFacts, pageWindow, type ResearchView } from "./page-window.js";
import { readLatestMonth, readSampleSummary } from "./sample-summary.js";
import { searched } from "./searched.js";

/**
 * A made-up name, because the service's document does not name the provider of the traffic data.
 */
const TRAFFIC_DATA_SOURCE = "emulated_traffic_panel";

/**
 * Reads the keywords of the latest month and the tracked products that receive their traffic
 * (service document, Search demand).
 *
 * @throws ServiceError `RESOURCE_NOT_FOUND`, `DATA_UNAVAILABLE`
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
  const window = pageWindow(parameters, view, LAST_DEMAND_PAGE);
  const { countSql, idsSql, values } = keywordSelection(parameters, market, month);
  const found = database.prepare<[object], { found: number }>(countSql).get(values)?.found ?? 0;
  const ids = database
    .prepare<[object], { id: number }>(idsSql)
    .all({ ...values, limit: window.limit, offset: window.offset });
  const rowOf = keywordRows(context);
  const sample = { sample_type: "top_search_keywords", source: TRAFFIC_DATA_SOURCE } as const;

  return {
    dataset: {
      captured_at: capturedAt,
      observed_month: formatMonth(month),
      exhaustive: false,
      ...sample,
    },
    filters: appliedFilters(parameters, market, window),
    items: ids.map(({ id }) => rowOf(id)).filter((row) => row !== undefined),
    keyword: readDetail(parameters.keyword_id, context),
    markets: readMarketOptions(database, locale, view),
    pagination: pageFacts(window, found, view),
    requested_locale: parameters.locale,
    resolved_locale: locale,
    summary: {
      captured_at: capturedAt,
      latest_month: formatMonth(month),
      ...readSampleSummary(database, month),
      ...sample,
    },
  };
}

function appliedFilters(
  parameters: SearchDemandParameters,
  market: Sector | null,
  window: { page: number; limit: number },
): SearchDemandResponse["filters"] {
  const { type, min_products, min_traffic, min_volume, q, keyword_id, sort } = parameters;
  return {
    demand_type: type,
    market_id: market === null || market.name === "" ? null : market.id,
    market: parameters.market ?? "",
    min_products,
    min_traffic,
    min_volume,
    page: window.page,
    page_size: window.limit,
    query: q ?? "",
    selected_keyword_id: selected(keyword_id),
    sort,
  };
}

function selected(keywordId: number | undefined): number | null {
  return keywordId === undefined || keywordId === 0 ? null : keywordId;
}

function readDetail(keywordId: number | undefined, context: KeywordContext): KeywordDetail | null {
  const id = selected(keywordId);
  if (id === null) return null;
  const row = keywordRows(context)(id);
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
  return database
    .prepare<[number], { id: number; name: string; slug: string }>(
      `SELECT sector_id AS id, ${localised("name", locale)} AS name, slug FROM sector ORDER BY sector_id LIMIT ?`,
    )
    .all(view.isLimited ? LIMITS.developerSectorOptions : -1);
}

const SORT_COLUMNS: Record<SearchDemandParameters["sort"], string> = {
  traffic: "m.observed_traffic",
  volume: "m.search_volume",
  products: "m.observed_products",
};

/**
 * The service's document does not define which brand types the filter selects (the assumption
 * `brandTypes`).
 */
const BRAND_TYPES_OF = {
  brand: "'brand_navigational', 'brand_commercial', 'mixed'",
  non_brand: "'generic', 'unknown'",
} as const;

/**
 * Builds the SQL for the keywords of a month that pass the filters. `idsSql` also needs the values
 * `limit` and `offset`.
 */
function keywordSelection(
  parameters: SearchDemandParameters,
  market: Sector | null,
  month: MonthIndex,
): { countSql: string; idsSql: string; values: Record<string, string | number> } {
  const values: Record<string, string | number> = { month };
  const where = ["m.month = @month"];
  const atLeast = (name: string, column: string, value: number): void => {
    if (value === 0) return;
    values[name] = value;
    where.push(`m.${column} >= @${name}`);
  };
  atLeast("minProducts", "observed_products", parameters.min_products);
  atLeast("minTraffic", "observed_traffic", parameters.min_traffic);
  atLeast("minVolume", "search_volume", parameters.min_volume);
  if (parameters.type !== "all") where.push(`k.brand_type IN (${BRAND_TYPES_OF[parameters.type]})`);
  if (market !== null) {
    values["market"] = market.id;
    where.push(`m.keyword_id IN (SELECT kp.keyword_id FROM product p
      CROSS JOIN keyword_product_month kp ON kp.month = @month AND kp.tool_id = p.tool_id WHERE p.sector_id = @market)`);
  }
  where.push(...searched(parameters.q, "k.keyword", values));
  const from = `FROM keyword_month m JOIN keyword k ON k.keyword_id = m.keyword_id WHERE ${where.join(" AND ")}`;
  return {
    countSql: `SELECT count(*) AS found ${from}`,
    idsSql: `SELECT m.keyword_id AS id ${from}
      ORDER BY ${SORT_COLUMNS[parameters.sort]} DESC, m.keyword_id LIMIT @limit OFFSET @offset`,
    values,
  };
}
