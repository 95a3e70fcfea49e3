import type { Database } from "../../../../src/emulator/database/database.js";

/** All rows of a table, as they are. */
export type RawRow = Record<string, string | number | null>;

/** The observed data without any question asked of it, for slow and plain recomputations. */
export interface RawData {
  sectors: RawRow[];
  products: RawRow[];
  productSectors: RawRow[];
  productMonths: RawRow[];
  countryMonths: RawRow[];
  keywords: RawRow[];
  clusters: RawRow[];
  keywordMonths: RawRow[];
  keywordProducts: RawRow[];
  months: RawRow[];
}

function readRawData(database: Database): RawData {
  const all = (table: string): RawRow[] => database.prepare<[], RawRow>(`SELECT * FROM ${table}`).all();
  return {
    sectors: all("sector"),
    products: all("product"),
    productSectors: all("product_sector"),
    productMonths: all("product_month"),
    countryMonths: all("product_country_month"),
    keywords: all("keyword"),
    clusters: all("keyword_cluster"),
    keywordMonths: all("keyword_month"),
    keywordProducts: all("keyword_product_month"),
    months: all("observed_month"),
  };
}

/** A market, and all of its rows. */
export interface RawMarket {
  database: Database;
  raw: RawData;
}

export function rawMarket(database: Database): RawMarket {
  return { database, raw: readRawData(database) };
}

export function numberOf(row: RawRow | undefined, column: string): number {
  const value = row?.[column];
  if (typeof value !== "number") throw new TypeError(`${column} is no number`);
  return value;
}

export function latestMonthOf(raw: RawData): number {
  return Math.max(...raw.months.map((row) => numberOf(row, "month")));
}

/** Later columns decide where earlier ones are equal; null comes last either way. */
export function byColumns<Item>(
  ...columns: { of: (item: Item) => number | null; isDescending: boolean }[]
): (a: Item, b: Item) => number {
  return (a, b) => {
    for (const { of, isDescending } of columns) {
      const [left, right] = [of(a), of(b)];
      if (left === right) continue;
      if (left === null) return 1;
      if (right === null) return -1;
      return isDescending ? right - left : left - right;
    }
    return 0;
  };
}
