import { expect, test } from "vitest";
import {
  reportSchema,
  type InvestigationReport,
} from "../../../../../src/service/contract/investigation.js";
import { buildReport } from "../../../../../src/service/emulator/investigations/build-report.js";
import { readRankings } from "../../../../../src/service/emulator/research/read-rankings.js";
import { madeMarket, rowsOf } from "../market/made-market.js";
import {
  handMadeMarket,
  LATEST,
  observed,
  product,
  SECTOR,
  visits as visitsOf,
} from "../research/hand-made-market.js";

/** Of the products, one in so many. */
const EACH = 15;

// The emulator's default seed.
const market = madeMarket(1);
const subjects = [
  ...rowsOf<{ slug: string; months: number }>(
    market,
    "SELECT slug, (SELECT count(*) FROM product_month m WHERE m.tool_id = product.tool_id) AS months FROM product",
  ).filter(({ months }, index) => index % EACH === 0 || months < 4),
  ...rowsOf<{ slug: string; months: number }>(market, "SELECT slug, 24 AS months FROM sector"),
];
const reportOf = (slug: string, locale: "en" | "zh-CN"): InvestigationReport | null =>
  buildReport(market, { slug, locale, generatedAtMs: 0 });
const reports = subjects
  .filter(({ months }) => months >= 2)
  .map(({ slug }) => ({
    slug,
    report: reportOf(slug, "en") as InvestigationReport,
    chinese: reportOf(slug, "zh-CN") as InvestigationReport,
  }));

test("a product or category that was observed for two months has a report, and others have none", () => {
  expect(reports.length).toBeGreaterThan(50);
  for (const { slug, report, chinese } of reports) {
    for (const each of [report, chinese])
      expect(reportSchema.safeParse(each).error, slug).toBeUndefined();
  }
  const others = subjects.filter(({ months }) => months < 2);
  expect(others.length).toBeGreaterThan(0);
  for (const { slug } of others) expect(reportOf(slug, "en"), slug).toBeNull();
});

test("the counters of every report count what it lists", () => {
  for (const { slug, report } of reports) {
    const unresolved = report.timeline.filter(
      (item) => Number(item["traffic_change"] ?? 0) <= 0,
    ).length;
    expect(report.summary, slug).toEqual({
      actionEvidenceCount: report.timeline.length,
      channelCount: report.analysis.channels.length,
      contextLeadCount: report.context_leads.length,
      sourceCount: new Set(report.sources.map(({ url }) => url)).size,
      unresolvedActionCount: unresolved,
    });
    expect(report.analysis.openQuestions, slug).toHaveLength(unresolved);
    const grouped = report.strategies
      .flatMap((strategy) => strategy["action_ids"] as string[])
      .sort();
    expect(grouped, slug).toEqual(report.timeline.map((item) => item["id"] as string).sort());
  }
});

test("a category report adds up what the rankings of the category have", () => {
  const query = { locale: "en", sort: "traffic", order: "desc", min_traffic: 0, min_growth: 0, min_dr: 0, min_dr_gain: 0, max_domain_age_months: 0, limit: 50 } as const; // prettier-ignore
  for (const { slug: category } of rowsOf<{ slug: string }>(market, "SELECT slug FROM sector")) {
    const pages = [1, 2, 3].map((page) => ({ ...query, category, page }));
    const ranked = pages.flatMap((page) => readRankings(market, page, { isLimited: false }).items);
    const visits = ranked
      .reduce((sum, { latest_visits }) => sum + latest_visits, 0)
      .toLocaleString("en");
    const found = reports.find(({ slug }) => slug === category);
    for (const report of [found?.report, found?.chinese]) {
      expect(report?.analysis.overview).toContain(visits);
      expect(report?.analysis.overview).toContain(String(ranked.length));
    }
  }
});

test("all that is said cites sources of the list, and each source is cited", () => {
  for (const { slug, report } of reports) {
    const { analysis, narrative, timeline, strategies, context_leads } = report;
    const parts = [analysis.phases, analysis.channels];
    const said = [
      narrative?.summary,
      ...parts.flat(),
      ...timeline,
      ...strategies,
      ...context_leads,
    ];
    const citations = said.map((each) => (each as { citations: string[] }).citations);
    expect(
      citations.filter((cited) => cited.length === 0),
      slug,
    ).toEqual([]);
    expect(new Set<unknown>(citations.flat()), slug).toEqual(
      new Set(report.sources.map(({ id }) => id)),
    );
  }
});

test("every text says something, and Chinese ones have blanks around Latin words alone, and Chinese punctuation", () => {
  const uneven =
    /.{0,20}(?:\p{Script=Han} [\p{Script=Han}\d]|[A-Za-z]\p{Script=Han}|\p{Script=Han}(?: ?[,.:;!?()]|\d*[A-Za-z]))/u;
  for (const { slug, report, chinese } of reports) {
    for (const each of [report, chinese])
      expect(JSON.stringify(each), slug).not.toMatch(/:""|undefined|NaN| {2}/);
    const unquoted = JSON.stringify({ ...chinese, context_leads: [] }).replaceAll(/“[^”]*”/g, "“”");
    expect(uneven.exec(unquoted)?.[0], slug).toBeUndefined();
  }
});

test("a report's timeline, sources and counters agree with the data and with one another", () => {
  const database = handMadeMarket({
    sector: [SECTOR],
    product: [product(7, "larkvoice"), product(8, "mute")],
    product_month: [
      visitsOf(LATEST - 2, 7, [100, 0, 10, 90]),
      visitsOf(LATEST - 1, 7, [160, 0, 20, 120]),
      visitsOf(LATEST, 7, [140, 40, 20, 100]),
      visitsOf(LATEST, 8, [1, 1, 1, 1]),
    ],
    observed_month: observed(LATEST - 2, LATEST - 1, LATEST),
    feature: [
      {
        feature_id: 1,
        tool_id: 7,
        kind: "feature",
        name_en: "Dubbing",
        name_zh: "配音",
        from_month: LATEST - 1,
      },
      {
        feature_id: 2,
        tool_id: 7,
        kind: "api",
        name_en: "Speech API",
        name_zh: "语音 API",
        from_month: LATEST,
      },
    ],
    plan: [],
    keyword: [
      {
        keyword_id: 1,
        keyword: "clone a voice",
        brand_type: "generic",
        cluster_id: null,
        sector_id: 3,
      },
    ],
    keyword_product_month: [{ month: LATEST, keyword_id: 1, tool_id: 7, traffic: 60 }],
  });
  const [report, chinese] = (["en", "zh-CN"] as const).map((locale) =>
    buildReport(database, { slug: "larkvoice", locale, generatedAtMs: 0 }),
  );
  expect(report).toMatchObject({
    timeline: [
      {
        month: "2026-09",
        kind: "new_feature",
        title: "larkvoice introduced Dubbing",
        visits: 300,
        traffic_change: 100,
      },
      {
        month: "2026-10",
        kind: "api_added",
        title: "larkvoice launched a public API",
        visits: 300,
        traffic_change: 0,
      },
    ],
    summary: {
      actionEvidenceCount: 2,
      channelCount: 4,
      contextLeadCount: 1,
      sourceCount: 3,
      unresolvedActionCount: 1,
    },
    sources: [
      { id: "source_1", kind: "traffic", url: "https://traffic-panel.example/larkvoice.example" },
      { id: "source_2", kind: "site", url: "https://larkvoice.example" },
      { id: "source_3", kind: "searches", url: "https://search-sample.example/larkvoice.example" },
    ],
    context_leads: [{ keyword: "clone a voice", traffic: 60, citations: ["source_3"] }],
    reliability: { actorAttribution: "observed", coverageLevel: "partial" },
    omitted_action_count: 0,
    omitted_context_count: 0,
  });
  const channels = report?.analysis.channels as { visits: number }[];
  expect(channels.reduce((sum, channel) => sum + channel.visits, 0)).toBe(300);
  expect(report?.analysis.phases).toMatchObject([
    {
      direction: "up",
      start_month: "2026-08",
      end_month: "2026-10",
      start_visits: 200,
      end_visits: 300,
    },
  ]);
  expect(chinese?.timeline[0]).toMatchObject({
    title: "larkvoice 推出配音",
  });
});
