import type { RankingsParameters } from "../../../../src/api/rankings.js";
import { byColumns, latestMonthOf, numberOf, type RawData, type RawRow } from "./raw-data.js";

export interface RecomputedProduct {
  tool_id: number;
  latest_visits: number;
  previous_visits: number;
  visits_change: number;
  growth_rate: number;
  domain_rating: number | null;
  domain_rating_change: number | null;
  organic: number;
  ai: number;
  paid: number;
}

/** The ranking by loops over the raw rows: what the SQL has to agree with. */
export function recomputeRankings(
  raw: RawData,
  parameters: RankingsParameters,
  matches: (product: RawRow, text: string) => boolean,
): { eligible: number; chosen: RecomputedProduct[] } {
  const month = latestMonthOf(raw);
  const country = parameters.country?.toUpperCase();
  const index = indexOf(raw);
  const sector = raw.sectors.find((row) => row["slug"] === parameters.category)?.["sector_id"];
  const eligible: { product: RawRow; facts: RecomputedProduct }[] = [];
  for (const product of raw.products) {
    const id = product["tool_id"];
    const latest = index.get(`${month}/${id}/${country ?? ""}`);
    const previous = index.get(`${month - 1}/${id}/${country ?? ""}`);
    if (latest === undefined || previous === undefined || visitsOf(previous) === 0) continue;
    const isInSector =
      product["sector_id"] === sector ||
      raw.productSectors.some((row) => row["tool_id"] === id && row["sector_id"] === sector);
    if (parameters.category !== undefined && !isInSector) continue;
    eligible.push({ product, facts: factsOf(product, latest, previous, index, month) });
  }
  const chosen = eligible.filter(({ product, facts }) => passes(product, facts, parameters, month, matches));
  const sortKey: Record<RankingsParameters["sort"], (facts: RecomputedProduct) => number | null> = {
    growth: (facts) => facts.growth_rate,
    gain: (facts) => facts.visits_change,
    traffic: (facts) => facts.latest_visits,
    dr_growth: (facts) => facts.domain_rating_change,
    organic: (facts) => facts.organic,
    ai: (facts) => facts.ai,
    paid: (facts) => facts.paid,
  };
  return {
    eligible: eligible.length,
    chosen: chosen
      .map(({ facts }) => facts)
      .sort(
        byColumns<RecomputedProduct>(
          { of: sortKey[parameters.sort], isDescending: parameters.order === "desc" },
          { of: (facts) => facts.latest_visits, isDescending: true },
          { of: (facts) => facts.tool_id, isDescending: false },
        ),
      ),
  };
}

const INDEXES = new WeakMap<RawData, ReadonlyMap<string, RawRow>>();

/** By month, product and country, which is empty for all countries together. */
function indexOf(raw: RawData): ReadonlyMap<string, RawRow> {
  const known = INDEXES.get(raw);
  if (known !== undefined) return known;
  const index = new Map<string, RawRow>();
  for (const row of raw.productMonths) index.set(`${row["month"]}/${row["tool_id"]}/`, row);
  for (const row of raw.countryMonths) index.set(`${row["month"]}/${row["tool_id"]}/${row["country"]}`, row);
  INDEXES.set(raw, index);
  return index;
}

function factsOf(
  product: RawRow,
  latest: RawRow,
  previous: RawRow,
  index: ReadonlyMap<string, RawRow>,
  month: number,
): RecomputedProduct {
  const id = product["tool_id"];
  const rating = (of: number): number | null => {
    return (index.get(`${of}/${id}/`)?.["domain_rating"] ?? null) as number | null;
  };
  const [now, before] = [rating(month), rating(month - 1)];
  return {
    tool_id: numberOf(product, "tool_id"),
    latest_visits: visitsOf(latest),
    previous_visits: visitsOf(previous),
    visits_change: visitsOf(latest) - visitsOf(previous),
    growth_rate: (visitsOf(latest) - visitsOf(previous)) / visitsOf(previous),
    domain_rating: now,
    domain_rating_change: now === null || before === null ? null : Math.round((now - before) * 10) / 10,
    organic: numberOf(latest, "organic"),
    ai: numberOf(latest, "ai_referral"),
    paid: numberOf(latest, "paid"),
  };
}

function passes(
  product: RawRow,
  facts: RecomputedProduct,
  parameters: RankingsParameters,
  month: number,
  matches: (product: RawRow, text: string) => boolean,
): boolean {
  const isAtLeast = (value: number | null, minimum: number): boolean =>
    minimum === 0 || (value !== null && value >= minimum);
  const age = month - numberOf(product, "domain_registered_month");
  return (
    isAtLeast(facts.latest_visits, parameters.min_traffic) &&
    isAtLeast(facts.growth_rate, parameters.min_growth) &&
    isAtLeast(facts.domain_rating, parameters.min_dr) &&
    isAtLeast(facts.domain_rating_change, parameters.min_dr_gain) &&
    (parameters.max_domain_age_months === 0 || age <= parameters.max_domain_age_months) &&
    (parameters.q === undefined || parameters.q.trim() === "" || matches(product, parameters.q))
  );
}

function visitsOf(row: RawRow): number {
  return ["organic", "paid", "ai_referral", "direct"].reduce((total, channel) => total + numberOf(row, channel), 0);
}
