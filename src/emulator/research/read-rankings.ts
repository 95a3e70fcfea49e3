import type { Database } from "../database/database.js";
import {
  LAST_RANKINGS_PAGE,
  type RankingItem,
  type RankingsParameters,
  type RankingsResponse,
} from "../../api/rankings.js";
import type { Assumptions } from "../instance/assumptions.js";
import { resolveLocale } from "../market/locale.js";
import { formatMonth } from "../time/month.js";
import { findSector, type Sector } from "./find-sector.js";
import { readLatestMonth } from "./observed-months.js";
import { pageFacts, pageWindow } from "./page-window.js";
import { rankingsSelection } from "./rankings-selection.js";
import type { ResearchView } from "./research-view.js";

/** The document names the key, and no value. */
const METHODOLOGY_VERSION = "2026-01";

interface Row {
  tool_id: number;
  name: string;
  slug: string;
  domain: string;
  category_name: string;
  category_slug: string;
  latest_visits: number;
  previous_visits: number;
  visits_change: number;
  growth_rate: number;
  organic: number;
  paid: number;
  ai_referral: number;
  domain_rating: number | null;
  domain_rating_change: number | null;
  domain_age_months: number;
}

/**
 * Ranked products (service document, operation 6). Products that were observed in both of the last two months are
 * eligible, in the country that was asked for; the filters choose among them, and `rank` counts what is left.
 *
 * @throws ServiceError `RESOURCE_NOT_FOUND`, `DATA_UNAVAILABLE`
 */
export function readRankings(
  database: Database,
  parameters: RankingsParameters,
  view: ResearchView,
  assumptions: Assumptions,
): RankingsResponse {
  const locale = resolveLocale(parameters.locale);
  const category = findSector(database, parameters.category, { parameter: "category", locale, assumptions });
  const { month, capturedAt } = readLatestMonth(database);
  const window = pageWindow(parameters, view, LAST_RANKINGS_PAGE);
  const selection = rankingsSelection({ parameters, category, month, locale });

  const counts = database
    .prepare<[object], { eligible: number; chosen: number }>(selection.countSql)
    .get(selection.values) ?? { eligible: 0, chosen: 0 };
  const rows = database
    .prepare<[object], Row>(selection.rowsSql)
    .all({ ...selection.values, limit: window.limit, offset: window.offset });

  const facts = pageFacts(window, counts.chosen, view, assumptions);
  return {
    dataset: {
      methodology_version: METHODOLOGY_VERSION,
      latest_month: formatMonth(month),
      previous_month: formatMonth(month - 1),
      captured_at: capturedAt,
    },
    eligible_population: counts.eligible,
    filters: appliedFilters(parameters),
    items: rows.map((row, index) => rankingItem(row, window.offset + index + 1, month)),
    pagination: {
      ...facts,
      next_page: facts.has_more ? facts.page + 1 : null,
      previous_page: facts.has_previous ? facts.page - 1 : null,
    },
    requested_locale: parameters.locale,
    resolved_locale: locale,
    category: categoryOf(category),
  };
}

function rankingItem(row: Row, rank: number, month: number): RankingItem {
  return {
    rank,
    tool_id: row.tool_id,
    name: row.name,
    slug: row.slug,
    normalized_domain: row.domain,
    primary_category_name: row.category_name,
    primary_category_slug: row.category_slug,
    latest_month: formatMonth(month),
    previous_month: formatMonth(month - 1),
    latest_visits: row.latest_visits,
    previous_visits: row.previous_visits,
    visits_change: row.visits_change,
    growth_rate: row.growth_rate,
    domain_rating: row.domain_rating,
    domain_rating_change: row.domain_rating_change,
    domain_age_months: row.domain_age_months,
    organic_visits: row.organic,
    ai_referral_visits: row.ai_referral,
    paid_visits: row.paid,
    favicon_url: `https://${row.domain}/favicon.ico`,
  };
}

function appliedFilters(parameters: RankingsParameters): Record<string, unknown> {
  const { category, country, q, sort, order, min_traffic, min_growth, min_dr, min_dr_gain, max_domain_age_months } =
    parameters;
  return {
    category: category ?? null,
    country: country?.toUpperCase() ?? null,
    q: q ?? "",
    sort,
    order,
    min_traffic,
    min_growth,
    min_dr,
    min_dr_gain,
    max_domain_age_months,
  };
}

function categoryOf(category: Sector | null): Record<string, unknown> | null {
  return category === null || category.name === "" ? null : { ...category };
}
