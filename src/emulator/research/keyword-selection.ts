import type { BRAND_TYPES, SearchDemandParameters } from "../../api/search-demand.js";
import type { MonthIndex } from "../time/month.js";
import type { Sector } from "./find-sector.js";
import { searched } from "./searched.js";

/** The keywords of a month that pass the filters. */
export interface KeywordSelection {
  countSql: string;
  /** Their ids in order; takes `limit` and `offset` beside the values. */
  idsSql: string;
  values: Record<string, string | number>;
}

const SORT_COLUMNS: Record<SearchDemandParameters["sort"], string> = {
  traffic: "m.observed_traffic",
  volume: "m.search_volume",
  products: "m.observed_products",
};

/** `mixed` and `unknown` are neither brand nor not (the assumption `brandTypes`). */
const BRAND_TYPES_OF: Record<"brand" | "non_brand", readonly (typeof BRAND_TYPES)[number][]> = {
  brand: ["brand_navigational", "brand_commercial", "mixed"],
  non_brand: ["generic", "unknown"],
};

export function keywordSelection(
  parameters: SearchDemandParameters,
  market: Sector | null,
  month: MonthIndex,
): KeywordSelection {
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
  if (parameters.type !== "all") where.push(`k.brand_type IN (${quoted(BRAND_TYPES_OF[parameters.type])})`);
  if (market !== null) {
    values["market"] = market.id;
    where.push(`m.keyword_id IN (SELECT kp.keyword_id FROM product p
      CROSS JOIN keyword_product_month kp ON kp.month = @month AND kp.tool_id = p.tool_id WHERE p.sector_id = @market)`);
  }
  where.push(...searched(parameters.q, "m.keyword_id", "keyword_fts", values));
  const from = `FROM keyword_month m JOIN keyword k ON k.keyword_id = m.keyword_id WHERE ${where.join(" AND ")}`;
  return {
    countSql: `SELECT count(*) AS found ${from}`,
    idsSql: `SELECT m.keyword_id AS id ${from}
      ORDER BY ${SORT_COLUMNS[parameters.sort]} DESC, m.keyword_id LIMIT @limit OFFSET @offset`,
    values,
  };
}

function quoted(texts: readonly string[]): string {
  return texts.map((text) => `'${text}'`).join(", ");
}
