import { assert, boolean, constantFrom, property as forAll, record } from "fast-check";
import { expect, test } from "vitest";
import { rankingsQuerySchema } from "../../../../src/api/rankings.js";
import { readRankings } from "../../../../src/emulator/research/read-rankings.js";
import { madeMarket } from "../market/made-market.js";
import { handMadeMarket, LATEST, observed, product, SECTOR, visits } from "./hand-made-market.js";
import { defaultAssumptions } from "./default-assumptions.js";
import { oneOf, randomMarket, rarely } from "./random-market.js";
import { rawMarket, type RawMarket } from "./raw-data.js";
import { expectSameRanking } from "./same-ranking.js";

const queries = record({
  locale: oneOf("en", "zh-CN", "fr"),
  category: rarely("s1", "s2", "s3", "video-generation"),
  country: rarely("US", "de", "FR"),
  q: rarely("voice", "语音", "studio clone", "video", " "),
  sort: oneOf("growth", "gain", "traffic", "dr_growth", "organic", "ai", "paid"),
  order: oneOf("asc", "desc"),
  min_traffic: rarely(0, 1, 500, 1500).map((minimum) => minimum ?? 0),
  min_growth: rarely(0.1, 1),
  min_dr: rarely(10, 24.5),
  min_dr_gain: rarely(0.5, 10),
  max_domain_age_months: rarely(1, 12),
  page: rarely(2, 3),
  limit: rarely(1, 3, 10, 50),
});

test("rankings agree with a slow and plain recomputation [services/rankings]", () => {
  // The generated market has views where the random markets have tables.
  const databases = [...[1, 2, 3, 4, 5].map((seed) => randomMarket(seed)), madeMarket(5, LATEST, 14)];
  const markets = databases.map((database) => rawMarket(database));
  let rows = 0;
  assert(
    forAll(constantFrom(...markets.keys()), queries, boolean(), (index, query, isLimited) => {
      rows += expectSameRanking(markets[index] as RawMarket, query, isLimited);
    }),
    { numRuns: 200 },
  );
  // Parameters that find nothing would agree with anything.
  expect(rows).toBeGreaterThan(100);
});

function twoProducts() {
  return handMadeMarket({
    sector: [SECTOR],
    product: [product(1, "larkvoice"), product(2, "mute")],
    product_month: [
      { ...visits(LATEST - 1, 1, [50, 20, 20, 10]), domain_rating: 40 },
      { ...visits(LATEST, 1, [100, 20, 20, 10]), domain_rating: 41.5 },
      visits(LATEST - 1, 2, [1000, 0, 0, 1000]),
      visits(LATEST, 2, [900, 0, 0, 1000]),
    ],
    observed_month: observed(LATEST - 1, LATEST),
  });
}

test("an item says what the months say, in the language that was asked for", () => {
  const parameters = rankingsQuerySchema.parse({ locale: "zh", min_traffic: 0 });
  const answer = readRankings(twoProducts(), parameters, { isLimited: false }, defaultAssumptions());
  expect(answer.items[0]).toEqual({
    rank: 1,
    tool_id: 1,
    name: "larkvoice",
    slug: "larkvoice",
    normalized_domain: "larkvoice.example",
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
    favicon_url: "https://larkvoice.example/favicon.ico",
  });
  expect(answer).toMatchObject({ requested_locale: "zh", resolved_locale: "zh-CN", category: null });
});

test("without parameters a ranking is by growth and leaves out what has fewer than 1,000 visits", () => {
  const answer = readRankings(twoProducts(), rankingsQuerySchema.parse({}), { isLimited: false }, defaultAssumptions());
  expect(answer.items.map(({ slug }) => slug)).toEqual(["mute"]);
  expect(answer.eligible_population).toBe(2);
});

test("minima of 0 keep products that shrink and products without a rating", () => {
  const parameters = rankingsQuerySchema.parse({ min_traffic: 0, sort: "traffic" });
  const view = { isLimited: false };
  const { items } = readRankings(twoProducts(), parameters, view, defaultAssumptions());
  expect(items.map(({ slug }) => slug)).toEqual(["mute", "larkvoice"]);
});

test("a category that there is not is not found, or finds nothing if that is assumed", () => {
  const parameters = rankingsQuerySchema.parse({ category: "nothing" });
  const view = { isLimited: false };
  const database = twoProducts();
  expect(() => readRankings(database, parameters, view, defaultAssumptions())).toThrow(
    expect.objectContaining({ code: "RESOURCE_NOT_FOUND", status: 404 }),
  );
  const answer = readRankings(database, parameters, view, { ...defaultAssumptions(), unknownNames: "empty" });
  expect(answer).toMatchObject({ items: [], eligible_population: 0, category: null });
});

test("before anything was observed the data is unavailable", () => {
  const database = handMadeMarket({});
  expect(() =>
    readRankings(database, rankingsQuerySchema.parse({}), { isLimited: false }, defaultAssumptions()),
  ).toThrow(expect.objectContaining({ code: "DATA_UNAVAILABLE", status: 503 }));
});
