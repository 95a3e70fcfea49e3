import { expect, test } from "vitest";
import { searchDemandQuerySchema } from "../../../../../src/service/contract/search-demand.js";
import { readSearchDemand } from "../../../../../src/service/emulator/research/read-search-demand.js";
import { handMadeMarket, LATEST, observed, product, SECTOR } from "./hand-made-market.js";

/**
 * Each keyword: its brand type, its searches, and the visits that it brings to the products 1, 2, …
 * in a month.
 */
const KEYWORDS = [
  ["clone a voice", "generic", 900, [600, 200, 0, 100, 50, 40, 10]],
  ["voice studio", "generic", 800, [90, 5, 5]],
  ["语音克隆", "generic", 700, [30, 40, 30, 34]],
  ["lark login", "brand_navigational", 600, [40]],
  ["lark price", "brand_commercial", 500, [60, 2]],
  ["lark ai", "unknown", 400, []],
  ["lark or mute", "mixed", 300, [1, 2]],
] as const;
/** What the month before had of some keywords, where that is not the usual. */
const BEFORE = [
  { keyword_id: 1, traffic: 700, observed_products: 3 },
  { keyword_id: 2, traffic: 100, sample_version: 2 },
  { keyword_id: 4, traffic: 49 },
  { keyword_id: 5, traffic: 50, is_verified: 0 },
  { keyword_id: 7, traffic: 50 },
];

const keywordMonth = (
  month: number,
  keyword_id: number,
  observed_traffic: number,
  more: object = {},
) => {
  const usual = { search_volume: 1000, sample_version: 1, is_verified: 1, observed_products: 1 };
  return { month, keyword_id, observed_traffic, ...usual, ...more };
};
const sum = (numbers: readonly number[]): number =>
  numbers.reduce((total, each) => total + each, 0);

const market = handMadeMarket({
  sector: [SECTOR, { sector_id: 4, slug: "video", name_en: "Video", name_zh: "视频" }],
  product: ["lark", "mute", "reel", "wren", "quill", "heron", "raven"].map((name, index) =>
    product(index + 1, name, { sector_id: index < 2 ? 3 : 4 }),
  ),
  keyword: KEYWORDS.map(([keyword, brand_type], index) => {
    return {
      keyword_id: index + 1,
      keyword,
      brand_type,
      cluster_id: index === 0 ? "voice-core" : null,
      sector_id: 3,
    };
  }),
  keyword_cluster: [{ cluster_id: "voice-core", name_en: "Voice: core", name_zh: "语音：核心" }],
  keyword_month: [
    ...KEYWORDS.map(([, , search_volume, received], index) => {
      const observed_products = received.filter((each) => each > 0).length;
      return keywordMonth(LATEST, index + 1, sum(received), { search_volume, observed_products });
    }),
    ...BEFORE.map(({ keyword_id, traffic, ...more }) =>
      keywordMonth(LATEST - 1, keyword_id, traffic, more),
    ),
    keywordMonth(LATEST - 2, 3, 80),
    keywordMonth(LATEST - 12, 1, 500),
  ],
  keyword_product_month: KEYWORDS.flatMap(([, , , received], index) =>
    received.flatMap((traffic, place) => {
      return traffic === 0
        ? []
        : [{ month: LATEST, keyword_id: index + 1, tool_id: place + 1, traffic }];
    }),
  ),
  observed_month: observed(LATEST - 12, LATEST - 2, LATEST - 1, LATEST),
});

function read(query: object, isLimited = false) {
  const parameters = searchDemandQuerySchema.parse({ type: "all", ...query });
  return readSearchDemand(market, parameters, { isLimited });
}
const idsOf = (query: object): number[] => read(query).items.map(({ keyword_id }) => keyword_id);
/** The row of a keyword as its detail has it. Lists leave out keywords without a product. */
const rowOf = (keyword_id: number) => read({ keyword_id }).keyword;

test("a row adds up the visits of the products, and compares them with the month before [services/search-demand]", () => {
  const shares = [600, 200, 100, 50, 40].map((observed_traffic) => ({ observed_traffic, share: observed_traffic / 1000 })); // prettier-ignore
  expect(rowOf(1)).toMatchObject({
    keyword: "clone a voice",
    cluster_name: "Voice: core",
    market_name: "Voice",
    market_slug: "voice",
    observed_traffic: 1000,
    observed_products: 6,
    observed_markets: 2,
    search_volume: 900,
    product_change1m: 3,
    traffic_change1m: 300,
    comparison_status: "comparable",
    traffic_distribution: {
      total_traffic: 1000,
      product_count: 6,
      other_traffic: 10,
      other_products: 1,
      cr3: 0.9,
      concentration: "concentrated",
      products: shares,
    },
  });
});

test.each([
  [1, "comparable", "concentrated", 0.9],
  [2, "sample_changed", "concentrated", 1],
  [3, "missing_history", "balanced", 104 / 134],
  [4, "insufficient_baseline", "single", 1],
  [5, "unverified", "concentrated", 1],
  [6, "new_observation", "unknown", null],
  [7, "comparable", "concentrated", 1],
])("keyword %i is %s, its traffic %s", (keywordId, status, concentration, cr3) => {
  const { comparison_status, traffic_distribution } = rowOf(keywordId) ?? {};
  expect([comparison_status, traffic_distribution?.concentration]).toEqual([status, concentration]);
  expect(traffic_distribution?.cr3).toBe(cr3);
});

test.each([
  [{}, [1, 3, 2, 5, 4, 7]],
  [{ sort: "volume" }, [1, 2, 3, 4, 5, 7]],
  // Equal numbers are ordered by id.
  [{ sort: "products" }, [1, 3, 2, 5, 7, 4]],
  [{ type: "brand" }, [5, 4, 7]],
  [{ type: "non_brand" }, [1, 3, 2]],
  [{ min_products: 3 }, [1, 3, 2]],
  [{ min_traffic: 100 }, [1, 3, 2]],
  [{ min_traffic: 101 }, [1, 3]],
  [{ min_volume: 700 }, [1, 3, 2]],
  [{ market: "video" }, [1, 3, 2]],
  [{ q: "lark" }, [5, 4, 7]],
  [{ q: "克隆" }, [3]],
  // Every word, in any order, also as a part of one; signs are no words, and do no harm.
  [{ q: "LOG' lark" }, [4]],
  [{ q: '\0"*%_' }, []],
  [{ limit: 2, page: 2 }, [2, 5]],
])("%j finds the keywords %j", (query, found) => {
  expect(idsOf(query)).toEqual(found);
});

test("the detail of a keyword has a year, the sectors and products, and the keywords with the same products", () => {
  const { keyword } = read({ keyword_id: 1 });
  expect(keyword?.history).toEqual([
    { month: "2026-09", observed_products: 3, observed_traffic: 700, search_volume: 1000 },
    { month: "2026-10", observed_products: 6, observed_traffic: 1000, search_volume: 900 },
  ]);
  expect(keyword?.markets).toEqual([
    { market_id: 3, market_name: "Voice", observed_products: 2, observed_traffic: 800, share: 0.8 },
    { market_id: 4, market_name: "Video", observed_products: 4, observed_traffic: 200, share: 0.2 },
  ]);
  expect(keyword?.products.map(({ tool_id, observed_traffic }) => [tool_id, observed_traffic])).toEqual(
    [[1, 600], [2, 200], [4, 100], [5, 50], [6, 40], [7, 10]]
  ); // prettier-ignore
  const related = keyword?.related_observed.map(({ keyword_id, shared_products }) => [
    keyword_id,
    shared_products,
  ]);
  expect(related).toEqual([[3, 3], [2, 2], [5, 2], [7, 2], [4, 1]]); // prettier-ignore
});

test("a limited account sees page 1 alone, and one month of history [search-demand-notes/developer-view] [tiers/developer]", () => {
  const limited = read({ page: 2, limit: 5, keyword_id: 1 }, true);
  expect(limited.items).toEqual(read({ limit: 5 }).items);
  expect(limited.pagination).toMatchObject({ page: 1, total: 5, total_pages: 1, has_more: false });
  expect(limited.keyword?.history).toHaveLength(1);
});
