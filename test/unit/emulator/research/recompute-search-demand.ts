import type { SearchDemandParameters } from "../../../../src/api/search-demand.js";
import { byColumns, latestMonthOf, numberOf, type RawData, type RawRow } from "./raw-data.js";

/** Search demand by loops over the raw rows: what the SQL has to agree with. */
export interface RecomputedDemand {
  keywordIds: number[];
  row(keywordId: number): RecomputedKeyword;
}

export interface RecomputedKeyword {
  products: { tool_id: number; traffic: number }[];
  traffic: number;
  volume: number;
  cr3: number | null;
  concentration: string;
  markets: { market_id: number; traffic: number; products: number }[];
  productChange: number | null;
  trafficChange: number | null;
  comparison: string;
  history: { month: number; products: number; traffic: number; volume: number }[];
  related: { keyword_id: number; shared: number }[];
}

const BRAND = new Set(["brand_navigational", "brand_commercial", "mixed"]);

export function recomputeSearchDemand(
  raw: RawData,
  parameters: SearchDemandParameters,
  matches: (keyword: RawRow, text: string) => boolean,
): RecomputedDemand {
  const month = latestMonthOf(raw);
  const index = indexOf(raw);
  const market = raw.sectors.find((row) => row["slug"] === parameters.market)?.["sector_id"];
  const chosen = raw.keywords.filter((keyword) => {
    const id = numberOf(keyword, "keyword_id");
    const observed = index.keywordMonth(month, id);
    if (observed === undefined) return false;
    const products = index.products(month, id);
    const traffic = sum(products);
    const isBrand = BRAND.has(String(keyword["brand_type"]));
    return (
      (parameters.type === "all" || (parameters.type === "brand") === isBrand) &&
      products.length >= parameters.min_products &&
      traffic >= parameters.min_traffic &&
      numberOf(observed, "search_volume") >= parameters.min_volume &&
      (parameters.market === undefined || products.some(({ sector_id }) => sector_id === market)) &&
      (parameters.q === undefined || parameters.q.trim() === "" || matches(keyword, parameters.q))
    );
  });
  const sortKey: Record<SearchDemandParameters["sort"], (id: number) => number> = {
    traffic: (id) => sum(index.products(month, id)),
    volume: (id) => numberOf(index.keywordMonth(month, id), "search_volume"),
    products: (id) => index.products(month, id).length,
  };
  return {
    keywordIds: chosen
      .map((keyword) => numberOf(keyword, "keyword_id"))
      .sort(
        byColumns<number>(
          { of: sortKey[parameters.sort], isDescending: true },
          { of: (id) => id, isDescending: false },
        ),
      ),
    row: (keywordId) => recomputeKeyword(raw, index, month, keywordId),
  };
}

interface Receiving {
  tool_id: number;
  traffic: number;
  sector_id: number;
}

interface RawIndex {
  keywordMonth(month: number, keywordId: number): RawRow | undefined;
  products(month: number, keywordId: number): Receiving[];
}

const INDEXES = new WeakMap<RawData, RawIndex>();

/** Maps, since a thousand recomputations by nested loops would take hours. */
function indexOf(raw: RawData): RawIndex {
  const known = INDEXES.get(raw);
  if (known !== undefined) return known;
  const sectors = new Map(raw.products.map((row) => [row["tool_id"], numberOf(row, "sector_id")]));
  const months = new Map(raw.keywordMonths.map((row) => [`${row["month"]}/${row["keyword_id"]}`, row]));
  const products = new Map<string, Receiving[]>();
  for (const row of raw.keywordProducts) {
    const key = `${row["month"]}/${row["keyword_id"]}`;
    const list = products.get(key) ?? [];
    const sector = sectors.get(row["tool_id"] ?? null);
    if (sector === undefined) throw new Error("a keyword's product is no product");
    list.push({ tool_id: numberOf(row, "tool_id"), traffic: numberOf(row, "traffic"), sector_id: sector });
    products.set(key, list);
  }
  for (const list of products.values()) list.sort((a, b) => b.traffic - a.traffic || a.tool_id - b.tool_id);
  const index: RawIndex = {
    keywordMonth: (month, id) => months.get(`${month}/${id}`),
    products: (month, id) => products.get(`${month}/${id}`) ?? [],
  };
  INDEXES.set(raw, index);
  return index;
}

function recomputeKeyword(raw: RawData, index: RawIndex, month: number, id: number): RecomputedKeyword {
  const products = index.products(month, id);
  const traffic = sum(products);
  const observed = index.keywordMonth(month, id);
  const before = index.keywordMonth(month - 1, id);
  const productsBefore = index.products(month - 1, id);
  const cr3 = traffic === 0 ? null : sum(products.slice(0, 3)) / traffic;
  const markets = new Map<number, { market_id: number; traffic: number; products: number }>();
  for (const product of products) {
    const market = markets.get(product.sector_id) ?? { market_id: product.sector_id, traffic: 0, products: 0 };
    market.traffic += product.traffic;
    market.products += 1;
    markets.set(product.sector_id, market);
  }
  const months = raw.keywordMonths.filter((row) => row["keyword_id"] === id && numberOf(row, "month") <= month);
  return {
    products,
    traffic,
    volume: numberOf(observed, "search_volume"),
    cr3,
    concentration: concentration(cr3, products.length),
    markets: [...markets.values()].sort((a, b) => b.traffic - a.traffic || a.market_id - b.market_id),
    productChange: before === undefined ? null : products.length - productsBefore.length,
    trafficChange: before === undefined ? null : traffic - sum(productsBefore),
    comparison: comparison(observed, before, sum(productsBefore), months.length > 1),
    history: months
      .map((row) => numberOf(row, "month"))
      .filter((each) => each > month - 12)
      .sort((a, b) => a - b)
      .map((each) => ({
        month: each,
        products: index.products(each, id).length,
        traffic: sum(index.products(each, id)),
        volume: numberOf(index.keywordMonth(each, id), "search_volume"),
      })),
    related: related(raw, index, month, id),
  };
}

function concentration(cr3: number | null, count: number): string {
  if (cr3 === null) return "unknown";
  if (count === 1) return "single";
  if (cr3 >= 0.9) return "concentrated";
  return cr3 >= 0.7 ? "balanced" : "distributed";
}

function comparison(
  observed: RawRow | undefined,
  before: RawRow | undefined,
  baseline: number,
  isOld: boolean,
): string {
  if (before === undefined) return isOld ? "missing_history" : "new_observation";
  if (observed?.["sample_version"] !== before["sample_version"]) return "sample_changed";
  if (observed?.["is_verified"] === 0 || before["is_verified"] === 0) return "unverified";
  return baseline < 50 ? "insufficient_baseline" : "comparable";
}

function related(raw: RawData, index: RawIndex, month: number, id: number): { keyword_id: number; shared: number }[] {
  const own = new Set(index.products(month, id).map(({ tool_id }) => tool_id));
  return raw.keywords
    .map((row) => numberOf(row, "keyword_id"))
    .filter((other) => other !== id)
    .map((other) => {
      const products = index.products(month, other);
      return {
        keyword_id: other,
        shared: products.filter(({ tool_id }) => own.has(tool_id)).length,
        traffic: sum(products),
      };
    })
    .filter(({ shared }) => shared > 0)
    .sort((a, b) => b.shared - a.shared || b.traffic - a.traffic || a.keyword_id - b.keyword_id)
    .slice(0, 50)
    .map(({ keyword_id, shared }) => ({ keyword_id, shared }));
}

function sum(products: readonly { traffic: number }[]): number {
  return products.reduce((total, { traffic }) => total + traffic, 0);
}
