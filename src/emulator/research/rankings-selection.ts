import type { ServiceLocale } from "../../api/locale.js";
import type { RankingsParameters, RankingSort } from "../../api/rankings.js";
import type { MonthIndex } from "../time/month.js";
import { localised, type Sector } from "./find-sector.js";
import { searched } from "./searched.js";

/** The SQL of one ranking, with its values. */
export interface RankingsSelection {
  countSql: string;
  rowsSql: string;
  values: Record<string, string | number>;
}

const SORT_COLUMNS: Record<RankingSort, string> = {
  growth: "growth_rate",
  gain: "visits_change",
  traffic: "latest_visits",
  dr_growth: "domain_rating_change",
  organic: "organic",
  ai: "ai_referral",
  paid: "paid",
};

export function rankingsSelection({
  parameters,
  category,
  month,
  locale,
}: {
  parameters: RankingsParameters;
  category: Sector | null;
  month: MonthIndex;
  locale: ServiceLocale;
}): RankingsSelection {
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

/** All visits of a row, whatever channel they came by. */
function visits(alias: string): string {
  return `(${alias}.organic + ${alias}.paid + ${alias}.ai_referral + ${alias}.direct)`;
}

/** Observed in both months, with visits in the earlier one: without them there is no growth rate. */
function eligibleProducts(isOfCountry: boolean, scope: readonly string[], locale: ServiceLocale): string {
  const table = isOfCountry ? "product_country_month" : "product_month";
  const ofCountry = (alias: string): string => (isOfCountry ? ` AND ${alias}.country = @country` : "");
  return `SELECT p.tool_id, p.name, p.slug, p.domain, s.${localised("name", locale)} AS category_name, s.slug AS category_slug,
      ${visits("l")} AS latest_visits, ${visits("b")} AS previous_visits, ${visits("l")} - ${visits("b")} AS visits_change,
      CAST(${visits("l")} - ${visits("b")} AS REAL) / ${visits("b")} AS growth_rate, l.organic, l.paid, l.ai_referral,
      r.domain_rating, round(r.domain_rating - e.domain_rating, 1) AS domain_rating_change,
      @month - p.domain_registered_month AS domain_age_months
    FROM ${table} l
    JOIN ${table} b ON b.month = @month - 1 AND b.tool_id = l.tool_id${ofCountry("b")}
    JOIN product p ON p.tool_id = l.tool_id
    JOIN sector s ON s.sector_id = p.sector_id
    LEFT JOIN product_month r ON r.month = @month AND r.tool_id = l.tool_id
    LEFT JOIN product_month e ON e.month = @month - 1 AND e.tool_id = l.tool_id
    WHERE ${[`l.month = @month${ofCountry("l")}`, `${visits("b")} > 0`, ...scope].join(" AND ")}`;
}

/** A threshold of 0 lets all pass, also what is unknown. */
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
  if (max_domain_age_months > 0) {
    values["maxAge"] = max_domain_age_months;
    found.push("domain_age_months <= @maxAge");
  }
  found.push(...searched(q, "tool_id", "product_fts", values));
  return found;
}
