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
import { formatMonth } from "../time/emulator-clock.js";
import {
  findSector,
  hasWords,
  localised,
  pageFacts,
  pageWindow,
  readLatestMonth,
  searchedWords,
  type ResearchView,
} from "./research-list.js";

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
 * @throws ServiceError `RESOURCE_NOT_FOUND`
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
  const window = pageWindow(parameters, view);
  const values = {
    ...parameters,
    ...window,
    month,
    country: parameters.country?.toUpperCase(),
    sector: category?.id ?? null,
    words: searchedWords(parameters.q),
  };
  const eligible = `WITH eligible AS MATERIALIZED (${eligibleProducts(parameters.country !== undefined, locale)})`;
  const counts = database.row<{ eligible: number; chosen: number }>(
    `${eligible} SELECT count(*) AS eligible, count(*) FILTER (WHERE ${IS_CHOSEN}) AS chosen FROM eligible`,
    values,
  ) ?? { eligible: 0, chosen: 0 };
  // The rank, months and icon are added below.
  const rows = database.rows<RankingItem>(
    `${eligible} SELECT * FROM eligible WHERE ${IS_CHOSEN}
     ORDER BY ${SORT_COLUMNS[parameters.sort]} ${parameters.order} NULLS LAST,
       latest_visits DESC, tool_id LIMIT @limit OFFSET @offset`,
    values,
  );
  const facts = pageFacts(window, counts.chosen, view, LAST_RANKINGS_PAGE);
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
    category: category && { ...category },
  };
}

function appliedFilters({
  locale: _locale,
  page: _page,
  limit: _limit,
  category,
  country,
  q = "",
  ...applied
}: RankingsParameters): RankingsResponse["filters"] {
  return { category: category ?? null, country: country?.toUpperCase() ?? null, q, ...applied };
}

/**
 * Selects products that were observed in both months and had visits in the earlier month, as a
 * growth rate needs.
 */
function eligibleProducts(isOfCountry: boolean, locale: ServiceLocale): string {
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
    WHERE l.month = @month${ofCountry("l")} AND ${visits("b")} > 0 AND (@sector IS NULL OR p.sector_id = @sector
      OR EXISTS (SELECT 1 FROM product_sector ps WHERE ps.tool_id = p.tool_id AND ps.sector_id = @sector))`;
}

/** A threshold of 0 keeps every product, even a product whose value is unknown. */
const IS_CHOSEN = `latest_visits >= @min_traffic
  AND (@min_growth = 0 OR growth_rate >= @min_growth)
  AND (@min_dr = 0 OR domain_rating >= @min_dr)
  AND (@min_dr_gain = 0 OR domain_rating_change >= @min_dr_gain)
  AND (@max_domain_age_months = 0 OR domain_age_months <= @max_domain_age_months)
  AND tool_id IN (SELECT tool_id FROM product
    WHERE ${hasWords("lower(concat_ws(' ', name, domain, tagline_en, tagline_zh))")})`;
