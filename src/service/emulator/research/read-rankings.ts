import {
  LAST_RANKINGS_PAGE,
  type RankingItem,
  type RankingsParameters,
  type RankingSort,
  type RankingsResponse,
} from "../../contract/rankings.js";
import type { ServiceLocale } from "../../contract/shared-schemas.js";
import type { Database } from "../database/database.js";
import { resolveLocale } from "../market/format-values.js";
import { visits } from "../market/market-schema.js";
import { formatMonth, type MonthIndex } from "../time/emulator-clock.js";
import { findSector, localised, type Sector } from "./find-sector.js";
import { searched } from "./keyword-rows.js";
import { pageFacts, pageWindow, type ResearchView, readLatestMonth } from "./page-window.js";

/**
 * A made-up value, because the service's document names this key but does not define its values.
 */
const METHODOLOGY_VERSION = "2026-01";

const SORT_COLUMNS: Record<RankingSort, string> = {
  growth: "growth_rate",
  gain: "visits_change",
  traffic: "latest_visits",
  dr_growth: "domain_rating_change",
  organic: "organic_visits",
  ai: "ai_referral_visits",
  paid: "paid_visits",
};

/**
 * Ranks products (service document, Rankings). Products are eligible if they were observed in both
 * of the last two months, in the country if one is given. The filters select from the eligible
 * products, and `rank` counts the selected products.
 *
 * @throws ServiceError `RESOURCE_NOT_FOUND`, `DATA_UNAVAILABLE`
 */
export function readRankings(
  database: Database,
  parameters: RankingsParameters,
  view: ResearchView,
): RankingsResponse {
  const locale = resolveLocale(parameters.locale);
  const category = findSector(database, parameters.category, { parameter: "category", locale });
  const { month, capturedAt } = readLatestMonth(database);
  const months = { latest_month: formatMonth(month), previous_month: formatMonth(month - 1) };
  const window = pageWindow(parameters, view, LAST_RANKINGS_PAGE);
  const { countSql, rowsSql, values } = rankingsSelection(parameters, category, month, locale);
  const counts = database
    .prepare<[object], { eligible: number; chosen: number }>(countSql)
    .get(values) ?? {
    eligible: 0,
    chosen: 0,
  };
  // The rank, months and icon are added below.
  const rows = database
    .prepare<[object], RankingItem>(rowsSql)
    .all({ ...values, limit: window.limit, offset: window.offset });
  const facts = pageFacts(window, counts.chosen, view);
  return {
    dataset: { methodology_version: METHODOLOGY_VERSION, ...months, captured_at: capturedAt },
    eligible_population: counts.eligible,
    filters: appliedFilters(parameters),
    items: rows.map((row, index) =>
      Object.assign({ rank: window.offset + index + 1 }, row, months, {
        favicon_url: `https://${row.normalized_domain}/favicon.ico`,
      }),
    ),
    pagination: {
      ...facts,
      next_page: facts.has_more ? facts.page + 1 : null,
      previous_page: facts.has_previous ? facts.page - 1 : null,
    },
    requested_locale: parameters.locale,
    resolved_locale: locale,
    category: category === null || category.name === "" ? null : { ...category },
  };
}

function appliedFilters(parameters: RankingsParameters): Record<string, unknown> {
  const {
    locale: _locale,
    page: _page,
    limit: _limit,
    category,
    country,
    q,
    ...applied
  } = parameters;
  return {
    category: category ?? null,
    country: country?.toUpperCase() ?? null,
    q: q ?? "",
    ...applied,
  };
}

/**
 * Builds the SQL of a ranking, with its values. `rowsSql` also needs the values `limit` and
 * `offset`.
 */
function rankingsSelection(
  parameters: RankingsParameters,
  category: Sector | null,
  month: MonthIndex,
  locale: ServiceLocale,
): { countSql: string; rowsSql: string; values: Record<string, string | number> } {
  const values: Record<string, string | number> = { month };
  const scope: string[] = [];
  if (parameters.country !== undefined) values["country"] = parameters.country.toUpperCase();
  if (category !== null) {
    values["sector"] = category.id;
    scope.push(
      "(p.sector_id = @sector OR EXISTS (SELECT 1 FROM product_sector ps WHERE ps.tool_id = p.tool_id AND ps.sector_id = @sector))",
    );
  }
  const chosen = filters(parameters, values);
  const eligibleSql = `WITH eligible AS MATERIALIZED (${eligibleProducts(parameters.country !== undefined, scope, locale)})`;
  const where = chosen.length === 0 ? "" : `WHERE ${chosen.join(" AND ")}`;
  return {
    countSql: `${eligibleSql} SELECT (SELECT count(*) FROM eligible) AS eligible,
      (SELECT count(*) FROM eligible ${where}) AS chosen`,
    rowsSql: `${eligibleSql} SELECT * FROM eligible ${where}
      ORDER BY ${SORT_COLUMNS[parameters.sort]} ${parameters.order === "asc" ? "ASC" : "DESC"} NULLS LAST,
        latest_visits DESC, tool_id LIMIT @limit OFFSET @offset`,
    values,
  };
}

/**
 * Selects products that were observed in both months and had visits in the earlier month, as a
 * growth rate needs.
 */
function eligibleProducts(
  isOfCountry: boolean,
  scope: readonly string[],
  locale: ServiceLocale,
): string {
  const table = isOfCountry ? "product_country_month" : "product_month";
  const ofCountry = (row: string): string => (isOfCountry ? ` AND ${row}.country = @country` : "");
  return `SELECT p.tool_id, p.name, p.slug, p.domain AS normalized_domain,
      s.${localised("name", locale)} AS primary_category_name, s.slug AS primary_category_slug,
      ${visits("l")} AS latest_visits, ${visits("b")} AS previous_visits, ${visits("l")} - ${visits("b")} AS visits_change,
      CAST(${visits("l")} - ${visits("b")} AS REAL) / ${visits("b")} AS growth_rate,
      r.domain_rating, round(r.domain_rating - e.domain_rating, 1) AS domain_rating_change,
      @month - p.domain_registered_month AS domain_age_months,
      l.organic AS organic_visits, l.ai_referral AS ai_referral_visits, l.paid AS paid_visits
    FROM ${table} l
    JOIN ${table} b ON b.month = @month - 1 AND b.tool_id = l.tool_id${ofCountry("b")}
    JOIN product p ON p.tool_id = l.tool_id
    JOIN sector s ON s.sector_id = p.sector_id
    LEFT JOIN product_month r ON r.month = @month AND r.tool_id = l.tool_id
    LEFT JOIN product_month e ON e.month = @month - 1 AND e.tool_id = l.tool_id
    WHERE ${[`l.month = @month${ofCountry("l")}`, `${visits("b")} > 0`, ...scope].join(" AND ")}`;
}

/**
 * Builds the conditions of the filters. A threshold of 0 keeps every product, even a product whose
 * value is unknown.
 */
function filters(
  { q, min_traffic, min_growth, min_dr, min_dr_gain, max_domain_age_months }: RankingsParameters,
  values: Record<string, string | number>,
): string[] {
  const found: string[] = [];
  const threshold = (name: string, value: number, condition: string): void => {
    if (value === 0) return;
    values[name] = value;
    found.push(condition);
  };
  threshold("minTraffic", min_traffic, "latest_visits >= @minTraffic");
  threshold("minGrowth", min_growth, "growth_rate >= @minGrowth");
  threshold("minRating", min_dr, "domain_rating >= @minRating");
  threshold("minRatingGain", min_dr_gain, "domain_rating_change >= @minRatingGain");
  threshold("maxAge", max_domain_age_months, "domain_age_months <= @maxAge");
  const words = searched(q, "lower(concat_ws(' ', name, domain, tagline_en, tagline_zh))", values);
  if (words.length > 0)
    found.push(`tool_id IN (SELECT tool_id FROM product WHERE ${words.join(" AND ")})`);
  return found;
}
