import { constant, constantFrom, oneof, type Arbitrary } from "fast-check";
import type { Database } from "../../../../src/emulator/database/database.js";
import { ftsText } from "../../../../src/emulator/market/full-text.js";
import { handMadeMarket, LATEST, observed, product, visits } from "./hand-made-market.js";

/** Numbers that come out the same for the same seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const WORDS = ["voice", "video", "clone", "studio", "agent", "语音", "视频"];

/**
 * A small market in which all that a recomputation might overlook is common: months and ratings that are missing, equal
 * figures, keywords without traffic, several sectors.
 */
export function randomMarket(seed: number): Database {
  const below = numbers(seed);
  const word = (): string => WORDS[below(WORDS.length)] ?? "";
  const sectors = [1, 2, 3].map((id) => ({ sector_id: id, slug: `s${id}`, name_en: `S${id}`, name_zh: `类${id}` }));
  const months = [LATEST - 2, LATEST - 1, LATEST];
  const products = Array.from({ length: 25 }, (_none, id) =>
    product(id + 1, `p${id + 1}`, {
      name: `${word()} ${word()}`,
      sector_id: 1 + below(3),
      domain_registered_month: LATEST - below(30),
    }),
  );
  const keywords = Array.from({ length: 40 }, (_none, id) => ({
    keyword_id: id + 1,
    keyword: `${word()} ${word()} ${id}`,
    brand_type: ["generic", "brand_navigational", "brand_commercial", "mixed", "unknown"][below(5)] ?? "generic",
    sector_id: below(4) || null,
  }));
  const keywordProducts = months.flatMap((month) =>
    keywords.flatMap(({ keyword_id }) =>
      products
        .filter(() => below(12) === 0)
        .map((each) => ({ month, keyword_id, tool_id: each["tool_id"] ?? 0, traffic: below(6) * 20 })),
    ),
  );
  const observedKeywords = months.flatMap((month) =>
    keywords
      .filter(() => below(5) > 0)
      .map(({ keyword_id }) => {
        const own = keywordProducts.filter((row) => row.month === month && row.keyword_id === keyword_id);
        return {
          month,
          keyword_id,
          search_volume: below(4) * 1000,
          sample_version: 1 + Number(below(6) === 0),
          is_verified: Number(below(6) > 0),
          observed_products: own.length,
          observed_traffic: own.reduce((total, row) => total + row.traffic, 0),
        };
      }),
  );
  const isObserved = new Set(observedKeywords.map((row) => `${row.month}/${row.keyword_id}`));
  const channels = (): [number, number, number, number] => [below(3) * 500, below(2) * 300, below(3) * 100, below(900)];
  return handMadeMarket({
    sector: sectors,
    product: products,
    product_sector: products
      .filter(() => below(4) === 0)
      .map((each) => ({ tool_id: each["tool_id"] ?? 0, sector_id: 1 + below(3) })),
    product_month: months.flatMap((month) =>
      products
        .filter(() => below(8) > 0)
        .map((each) => ({
          ...visits(month, Number(each["tool_id"]), below(15) === 0 ? [0, 0, 0, 0] : channels()),
          domain_rating: below(4) === 0 ? null : below(100) / 2,
        })),
    ),
    product_country_month: months.flatMap((month) =>
      ["US", "DE"].flatMap((country) =>
        products
          .filter(() => below(3) > 0)
          .map((each) => {
            const [organic, paid, ai_referral, direct] = channels();
            return { month, country, tool_id: each["tool_id"] ?? 0, organic, paid, ai_referral, direct };
          }),
      ),
    ),
    keyword: keywords,
    keyword_month: observedKeywords,
    keyword_product_month: keywordProducts.filter((row) => isObserved.has(`${row.month}/${row.keyword_id}`)),
    observed_month: observed(...months),
    product_fts: products.map((each) => ({
      rowid: each["tool_id"] ?? 0,
      name: ftsText(String(each["name"])),
      domain: ftsText(String(each["domain"])),
    })),
    keyword_fts: keywords.map(({ keyword_id, keyword }) => ({ rowid: keyword_id, keyword: ftsText(keyword) })),
  });
}

/** A few of the values that a parameter may have, those that change something among them. */
export function oneOf<Value>(...values: Value[]): Arbitrary<Value> {
  return constantFrom(...values);
}

/** The same for a filter, which is mostly left out: several at once find nothing. */
export function rarely<Value>(...values: Value[]): Arbitrary<Value | undefined> {
  return oneof({ weight: 3, arbitrary: constant(undefined) }, { weight: 1, arbitrary: constantFrom(...values) });
}
