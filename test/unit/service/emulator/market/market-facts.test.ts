import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { signalDataSchema } from "../../../../../src/kit/senders/signals/parse-event.js";
import { SIGNAL_TYPES } from "../../../../../src/kit/senders/signals/signal-types.js";
import { readFixture } from "../../../../../src/kit/testing/signal-event.js";
import { reportSchema } from "../../../../../src/service/contract/investigation.js";
import { productProfileSchema } from "../../../../../src/service/contract/product-profile.js";
import { rankingsQuerySchema } from "../../../../../src/service/contract/rankings.js";
import { searchDemandQuerySchema } from "../../../../../src/service/contract/search-demand.js";
import { LOCALES } from "../../../../../src/service/contract/shared-schemas.js";
import { buildReport } from "../../../../../src/service/emulator/investigations/build-report.js";
import { growMonth } from "../../../../../src/service/emulator/market/create-market.js";
import { readProductProfile } from "../../../../../src/service/emulator/market/read-product-profile.js";
import {
  deriveSignals,
  draftSignal,
  type SignalDraft,
} from "../../../../../src/service/emulator/market/signals/derive-signals.js";
import { readKeywordRow } from "../../../../../src/service/emulator/research/keyword-rows.js";
import { readRankings } from "../../../../../src/service/emulator/research/read-rankings.js";
import { readSearchDemand } from "../../../../../src/service/emulator/research/read-search-demand.js";
import { countOf, digestsOf, LAST, madeMarket } from "./made-market.js";

// The emulator's default seed.
const market = madeMarket(1);
const all = { isLimited: false };
const MONTHS = Array.from({ length: 11 }, (_, back) => LAST - back);
const signals = MONTHS.flatMap((month) => deriveSignals(market, month));
const products = market.rows<{ tool_id: number; slug: string; name: string }>(
  "SELECT * FROM product ORDER BY tool_id",
);
const sectors = market.rows<{ slug: string }>("SELECT slug FROM sector");
const reports = [...products.filter((_, index) => index % 15 === 0), ...sectors]
  .flatMap(({ slug }) => LOCALES.map((locale) => ({ slug, locale })))
  .map((subject) => ({
    ...subject,
    report: buildReport(market, { ...subject, generatedAtMs: 0 }),
  }));
const profiles = products.flatMap(({ slug }) =>
  LOCALES.map((locale) => readProductProfile(market, slug, locale)),
);
const context = { database: market, month: LAST, locale: "en", view: all } as const;
const keywords = market
  .rows<{ id: number }>(`SELECT keyword_id AS id FROM keyword_month WHERE month = ${LAST}`)
  .map(({ id }) => readKeywordRow(context, id));

const rank = (query: object) => readRankings(market, rankingsQuerySchema.parse(query), all);
const demand = (query: object) =>
  readSearchDemand(market, searchDemandQuerySchema.parse(query), all);

const digest = (value: unknown): string =>
  createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);

/** A line for each value, with how often it occurs and the first that has it. */
function linesBy<Item>(items: readonly Item[], nameOf: (item: Item) => string): string[] {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(nameOf(item), [...(groups.get(nameOf(item)) ?? []), item]);
  return [...groups]
    .map(([name, of]) => `${name}: ${of.length} ${digest(of)} ${JSON.stringify(of[0])}`)
    .sort();
}

const SORTS = ["growth", "gain", "traffic", "dr_growth", "organic", "ai", "paid"];
const middle: Record<string, unknown> = {
  ...rank({ sort: "dr_growth", limit: 50, page: 3 }).items[20],
};
/** Each threshold is exactly what one product has: that one is the first that is left. */
const RANKINGS = [
  ...SORTS.flatMap((sort) => [{ sort }, { sort, order: "asc", min_traffic: 0 }]),
  // Unknown ratings come last in both orders.
  { sort: "dr_growth", order: "asc", min_traffic: 0, limit: 50, page: 12 },
  { sort: "dr_growth", min_traffic: 0, limit: 50, page: 12 },
  { sort: "traffic", order: "asc", min_traffic: middle["latest_visits"] },
  { sort: "growth", order: "asc", min_growth: rank({ limit: 50 }).items[40]?.growth_rate },
  { sort: "traffic", min_dr: middle["domain_rating"] },
  { sort: "dr_growth", order: "asc", min_dr_gain: middle["domain_rating_change"] },
  { sort: "traffic", max_domain_age_months: middle["domain_age_months"] },
  { q: "VOX studio", min_traffic: 0 },
  { q: "example, la", min_traffic: 0 },
  { q: "  ", limit: 1 },
  { q: "!?", min_traffic: 0 },
  { category: "voice-and-speech", locale: "zh_TW", limit: 50 },
  { country: "de", limit: 50 },
  { limit: 1, page: 199, min_traffic: 0 },
  { limit: 1, page: 200, min_traffic: 0 },
];
const DEMANDS = [
  {},
  ...["traffic", "volume", "products"].map((sort) => ({ sort, type: "all", page: 3 })),
  { type: "brand" },
  { type: "non_brand" },
  { type: "all", min_products: 5 },
  { min_traffic: demand({}).items[5]?.observed_traffic },
  { min_volume: demand({ sort: "volume" }).items[5]?.search_volume, sort: "volume" },
  { market: "music", type: "all" },
  { q: "FREE' text" },
  { q: "视频", type: "all", locale: "zh-CN" },
  { q: '\0"*%_' },
  ...[41, 44, 900, 3000].map((keyword_id) => ({ keyword_id, limit: 1 })),
];

test("the data of the default seed, its signals, reports and answers are those of the golden file", async () => {
  const sections = {
    tables: Object.entries(digestsOf(market)).map((entry) => entry.join(" ")),
    signals: linesBy(signals, ({ signal_type }) => signal_type),
    months: linesBy(signals, ({ period }) => period.start),
    keywords: linesBy(keywords, (row) =>
      [row?.comparison_status, row?.traffic_distribution?.concentration, row?.brand_type].join(" "),
    ),
    rankings: RANKINGS.map((query) => {
      const { items, eligible_population, ...rest } = rank(query);
      const slugs = items.map(({ slug }) => slug).slice(0, 5);
      return `${JSON.stringify(query)}: ${eligible_population} ${rest.pagination.total} ${slugs.join(" ")} ${digest([items, rest])}`;
    }),
    demand: DEMANDS.map((query) => {
      const answer = demand(query);
      const texts = answer.items.map(({ keyword }) => keyword).slice(0, 5);
      return `${JSON.stringify(query)}: ${answer.pagination.total} ${texts.join(", ")} ${digest(answer)}`;
    }),
    profiles: linesBy(profiles, ({ pricing_model, resolved_locale }) =>
      [pricing_model, resolved_locale].join(" "),
    ),
    reports: reports.map(({ slug, locale, report }) => `${slug} ${locale} ${digest(report)}`),
    "signals by hand": products
      .slice(0, 40)
      .map((product, index) =>
        digest(
          draftSignal(market, { ...product, signal_type: SIGNAL_TYPES[index] ?? "api_added" }, NOW),
        ),
      ),
  };
  const text = Object.entries(sections)
    .map(([name, lines]) => `# ${name}\n${lines.join("\n")}\n`)
    .join("\n");
  await expect(text).toMatchFileSnapshot(`${import.meta.dirname}/golden/market-facts.txt`);
});

const NOW = Date.UTC(2026, 10, 20);

test("growing month by month, in one process or a new one each time, equals generating at once", () => {
  const FEW = 14;
  const grown = madeMarket(1, LAST - 3, FEW - 3);
  growMonth(grown, LAST - 2);
  const generator = growMonth(grown, LAST - 1);
  growMonth(grown, LAST, generator);
  const atOnce = digestsOf(madeMarket(1, LAST, FEW));
  expect(digestsOf(grown)).toEqual(atOnce);
  // 2^32 apart: both halves of a seed count.
  const others = Object.entries(digestsOf(madeMarket(1 + 2 ** 32, LAST, FEW)));
  const same = others.filter(([table, each]) => atOnce[table] === each);
  expect(same.map(([table]) => table)).toEqual(["due_signal", "observed_month", "sector"]);
});

test.each([
  ["names", "SELECT count(*) - count(DISTINCT name) FROM product"],
  ["domains", "SELECT count(*) - count(DISTINCT domain) FROM product"],
  ["taglines", "SELECT count(*) - count(DISTINCT tagline_en) FROM product"],
  ["Chinese taglines", "SELECT count(*) - count(DISTINCT tagline_zh) FROM product"],
  ["keywords", "SELECT count(*) - count(DISTINCT keyword) FROM keyword"],
])("%s are unique", (_what, sql) => expect(countOf(market, sql)).toBe(0));

test("no row refers to something that is not there, and no part is more than its whole", () => {
  const OF_PRODUCTS =
    "product_sector plan feature ai_source product_change product_month product_presence_month product_country keyword_product_month";
  for (const table of OF_PRODUCTS.split(" ")) {
    const dangling = `SELECT count(*) FROM ${table} WHERE tool_id NOT IN (SELECT tool_id FROM product)`;
    expect(countOf(market, dangling), table).toBe(0);
  }
  const received = `SELECT count(*) FROM (
    SELECT sum(k.traffic) AS received, p.organic FROM keyword_product_month k JOIN product_month p USING (month, tool_id)
    WHERE month = ${LAST} GROUP BY tool_id HAVING received > p.organic)`;
  const ofCountries = `SELECT count(*) FROM (
    SELECT sum(c.organic) AS of_countries, m.organic FROM product_country_month c JOIN product_month m USING (month, tool_id)
    GROUP BY month, tool_id HAVING of_countries > m.organic)`;
  expect([countOf(market, received), countOf(market, ofCountries)]).toEqual([0, 0]);
});

const TIGHT = /[A-Za-z]\p{Script=Han}|\p{Script=Han}[A-Za-z]|[A-Za-z]\d+月/u;
const UNFILLED = /undefined|NaN|Infinity|[{}]| {2}|^ | $/;

test("every signal has the shape of the document, and texts in both languages", () => {
  expect(new Set(signals.map(({ signal_type }) => signal_type))).toEqual(new Set(SIGNAL_TYPES));
  for (const { signal_type, tool_id, change, period, text } of signals) {
    for (const locale of LOCALES) {
      const product = { id: tool_id, slug: "x" };
      const moments = { observed_at: "", published_at: "", url: "", signal_id: 1 };
      const data = { signal_type, product, change, period, ...text[locale], ...moments };
      expect(signalDataSchema.safeParse(data).error).toBeUndefined();
      for (const each of Object.values(text[locale])) expect(each).not.toMatch(UNFILLED);
    }
    const chinese = Object.values(text["zh-CN"])
      .join("，")
      .replaceAll(/“[^”]*”/g, "");
    expect(chinese).not.toMatch(TIGHT);
  }
});

test("units and directions are those of the fixtures", () => {
  for (const type of SIGNAL_TYPES) {
    const draft = signals.find(({ signal_type }) => signal_type === type);
    const { change } = readFixture<{ data: SignalDraft }>(`signals/${type}`).data;
    if (type !== "pricing_model_changed")
      expect(draft?.change.after.unit, type).toBe(change.after.unit);
    expect(draft?.change.before.unit, type).toBe(change.before.unit);
    // A share moves either way, the others as their names say.
    if (!type.endsWith("share_shift")) expect(draft?.change.direction, type).toBe(change.direction);
  }
});

test("a signal by hand is the month's own where the month has it, and agrees with the rankings where not", () => {
  const names = new Map(products.map(({ tool_id, name }) => [tool_id, name]));
  for (const draft of deriveSignals(market, LAST)) {
    const name = names.get(draft.tool_id) ?? "";
    expect(draftSignal(market, { ...draft, name }, NOW)).toEqual(draft);
  }
  for (const item of rank({ sort: "traffic", limit: 50 }).items) {
    const { change, text } = draftSignal(market, { ...item, signal_type: "traffic_breakout" }, NOW);
    expect([change.before.value, change.after.value]).toEqual([
      item.previous_visits,
      item.latest_visits,
    ]);
    expect(text.en.summary).toContain(item.latest_visits.toLocaleString("en"));
  }
});

test("every product has a profile that fits the contract", () => {
  for (const profile of profiles) {
    expect(productProfileSchema.safeParse(profile).error).toBeUndefined();
    expect(JSON.stringify(profile)).not.toMatch(/undefined|NaN| {2}|\.\.|，。/);
  }
});

test("a report cites its sources alone, each of them, and its counters count what it lists", () => {
  for (const { slug, report } of reports) {
    if (report === null) continue;
    expect(reportSchema.safeParse(report).error, slug).toBeUndefined();
    expect(JSON.stringify(report), slug).not.toMatch(/:""|undefined|NaN| {2}/);
    const { analysis, narrative, timeline, strategies, context_leads, sources, summary } = report;
    const said = [narrative?.summary, analysis.phases, analysis.channels, timeline, strategies];
    const citations = [...said, context_leads]
      .flat()
      .map((each) => (each as { citations: string[] }).citations);
    expect(citations.filter((cited) => cited.length === 0)).toEqual([]);
    expect(new Set<unknown>(citations.flat())).toEqual(new Set(sources.map(({ id }) => id)));
    expect(summary).toMatchObject({
      actionEvidenceCount: timeline.length,
      contextLeadCount: context_leads.length,
      sourceCount: sources.length,
      unresolvedActionCount: analysis.openQuestions.length,
    });
  }
  for (const { slug: category } of sectors) {
    const query = { category, sort: "traffic", min_traffic: 0, limit: 50 };
    const ranked = [1, 2, 3].flatMap((page) => rank({ ...query, page }).items);
    const visits = ranked.reduce((sum, { latest_visits }) => sum + latest_visits, 0);
    const overview = reports.find(({ slug }) => slug === category)?.report?.analysis.overview;
    expect(overview).toContain(visits.toLocaleString("en"));
  }
});
