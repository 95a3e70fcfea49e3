import { expect, test } from "vitest";
import { rankingsQuerySchema } from "../../../../../src/service/contract/rankings.js";
import { readRankings } from "../../../../../src/service/emulator/research/read-rankings.js";
import { handMadeMarket, LATEST, observed, product, SECTOR, visits } from "./hand-made-market.js";

const PRODUCTS = [
  product(1, "lark", { domain_registered_month: LATEST - 40 }),
  product(2, "mute", { domain_registered_month: LATEST - 12 }),
  product(3, "reel", { sector_id: 4, domain_registered_month: LATEST - 13 }),
  product(4, "just-listed"),
  product(5, "never-visited"),
];
const inGermany = (month: number, toolId: number, organic: number) => {
  return { month, country: "DE", tool_id: toolId, organic, paid: 0, ai_referral: 0, direct: 0 };
};

const market = handMadeMarket({
  sector: [SECTOR, { sector_id: 4, slug: "video", name_en: "Video", name_zh: "视频" }],
  product: PRODUCTS,
  product_sector: [{ tool_id: 3, sector_id: 3 }],
  product_month: [
    { ...visits(LATEST - 1, 1, [50, 20, 20, 10]), domain_rating: 40 },
    { ...visits(LATEST, 1, [100, 20, 20, 10]), domain_rating: 41.5 },
    visits(LATEST - 1, 2, [1000, 0, 0, 1000]),
    visits(LATEST, 2, [900, 0, 0, 1000]),
    visits(LATEST - 1, 3, [150, 20, 300, 1530]),
    { ...visits(LATEST, 3, [150, 20, 300, 1530]), domain_rating: 60 },
    visits(LATEST, 4, [1, 1, 1, 1]),
    visits(LATEST - 1, 5, [0, 0, 0, 0]),
    visits(LATEST, 5, [1, 1, 1, 1]),
  ],
  product_country_month: [
    inGermany(LATEST - 1, 1, 10),
    inGermany(LATEST, 1, 20),
    inGermany(LATEST, 2, 20),
    inGermany(LATEST - 1, 3, 0),
    inGermany(LATEST, 3, 20),
  ],
  observed_month: observed(LATEST - 1, LATEST),
});

function rank(query: object, isLimited = false, database = market) {
  const parameters = rankingsQuerySchema.parse({ min_traffic: 0, ...query });
  return readRankings(database, parameters, { isLimited });
}
const slugs = (query: object): string => rank(query).items.map(({ slug }) => slug).join(" "); // prettier-ignore

test("an item says what the months say, in the language that was asked for [services/rankings]", () => {
  const answer = rank({ locale: "zh" });
  expect(answer.items[0]).toEqual({
    rank: 1,
    tool_id: 1,
    name: "lark",
    slug: "lark",
    normalized_domain: "lark.example",
    primary_category_name: "语音",
    primary_category_slug: "voice",
    latest_month: "2026-10",
    previous_month: "2026-09",
    latest_visits: 150,
    previous_visits: 100,
    visits_change: 50,
    growth_rate: 0.5,
    domain_rating: 41.5,
    domain_rating_change: 1.5,
    domain_age_months: 40,
    organic_visits: 100,
    ai_referral_visits: 20,
    paid_visits: 20,
    favicon_url: "https://lark.example/favicon.ico",
  });
  expect(answer).toMatchObject({
    requested_locale: "zh",
    resolved_locale: "zh-CN",
    category: null,
  });
});

test.each([
  ["growth", "lark reel mute"],
  ["gain", "lark reel mute"],
  ["traffic", "reel mute lark"],
  // Unknown ratings come last in both orders. Equal numbers are ordered by visits, then by id.
  ["dr_growth", "lark reel mute"],
  ["organic", "mute reel lark"],
  ["ai", "reel lark mute"],
  ["paid", "reel lark mute"],
])("products are ranked by %s: %s", (sort, ranked) => {
  expect(slugs({ sort })).toBe(ranked);
});

test("the other order turns numbers around, but neither unknown ones nor ties", () => {
  expect(slugs({ sort: "traffic", order: "asc" })).toBe("lark mute reel");
  expect(slugs({ sort: "dr_growth", order: "asc" })).toBe("lark reel mute");
  expect(slugs({ sort: "paid", order: "asc" })).toBe("mute reel lark");
});

test.each([
  [{ min_traffic: 1900 }, "reel mute"],
  [{ min_traffic: 1901 }, "reel"],
  [{ min_growth: 0.5 }, "lark"],
  [{ min_growth: 0.51 }, ""],
  [{ min_dr: 41.5 }, "lark reel"],
  [{ min_dr: 42 }, "reel"],
  [{ min_dr_gain: 1.5 }, "lark"],
  [{ max_domain_age_months: 12 }, "mute"],
  [{ max_domain_age_months: 13 }, "reel mute"],
  [{ q: "LARK" }, "lark"],
  [{ q: "  " }, "lark reel mute"],
  [{ q: "lark mute" }, ""],
  [{ q: "example, lar" }, "lark"],
])("a filter keeps what reaches it: %j", (filter, ranked) => {
  const { items, eligible_population } = rank(filter);
  expect(items.map(({ slug }) => slug).join(" ")).toBe(ranked);
  // A filter selects from the eligible products: those with visits in the month before, and still
  // observed.
  expect(eligible_population).toBe(3);
});

test("a category has the products whose second sector it is, and a country its own visits", () => {
  const inVoice = rank({ category: "voice" });
  expect(inVoice).toMatchObject({
    eligible_population: 3,
    category: { id: 3, slug: "voice", name: "Voice" },
  });
  expect(rank({ category: "video" }).items.map(({ slug }) => slug)).toEqual(["reel"]);
  const german = rank({ country: "de" });
  // The rating is of the whole product.
  const facts = {
    slug: "lark",
    latest_visits: 20,
    previous_visits: 10,
    growth_rate: 1,
    domain_rating: 41.5,
  };
  expect(german).toMatchObject({
    eligible_population: 1,
    items: [facts],
    filters: { country: "DE" },
  });
});

test("the last page that a caller can get has no next one", () => {
  const ids = Array.from({ length: 201 }, (_none, index) => index + 1);
  const many = handMadeMarket({
    sector: [SECTOR],
    product: ids.map((id) => product(id, `p${id}`)),
    product_month: ids.flatMap((id) =>
      [LATEST - 1, LATEST].map((month) => visits(month, id, [1, 0, 0, 0])),
    ),
    observed_month: observed(LATEST - 1, LATEST),
  });
  const hasMore = (page: number) => rank({ limit: 1, page }, false, many).pagination.has_more;
  expect([hasMore(199), hasMore(200)]).toEqual([true, false]);
});

test("without parameters a ranking is by growth and leaves out what has fewer than 1,000 visits", () => {
  expect(slugs({ min_traffic: undefined })).toBe("reel mute");
});

test("a category that there is not is not found, and before anything was observed the data is unavailable", () => {
  expect(() => rank({ category: "nothing" })).toThrow(
    expect.objectContaining({ code: "RESOURCE_NOT_FOUND", status: 404 }),
  );
  expect(() => rank({}, false, handMadeMarket({}))).toThrow(
    expect.objectContaining({ code: "DATA_UNAVAILABLE", status: 503 }),
  );
});
