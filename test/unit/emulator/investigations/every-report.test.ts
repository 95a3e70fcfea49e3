import { expect, test } from "vitest";
import { reportSchema, type InvestigationReport } from "../../../../src/api/report.js";
import { buildReport } from "../../../../src/emulator/investigations/build-report.js";
import { readRankings } from "../../../../src/emulator/research/read-rankings.js";
import { madeMarket, rowsOf } from "../market/made-market.js";
import { defaultAssumptions } from "../research/default-assumptions.js";

const LOCALES = ["en", "zh-CN"] as const;
/** With fewer there may have been nothing to see. */
const A_FEW_MONTHS = 4;

// The emulator's default seed.
const market = madeMarket(1);
const subjects = rowsOf<{ slug: string; months: number }>(
  market,
  `SELECT slug, (SELECT count(*) FROM product_month m WHERE m.tool_id = product.tool_id) AS months FROM product
   UNION ALL SELECT slug, 24 FROM sector`,
);
const reportOf = (slug: string, locale: (typeof LOCALES)[number]): InvestigationReport | null =>
  buildReport(market, { slug, locale, generatedAtMs: 0 });
const reports = subjects
  .filter(({ months }) => months >= 2)
  .map(({ slug, months }) => ({ slug, months, report: reportOf(slug, "en") as InvestigationReport }));

interface Said {
  title: string;
  text: string;
  advice: string;
  citations: string[];
  action_ids: string[];
}

const sectionsOf = (report: InvestigationReport): Said[] => (report.narrative?.sections ?? []) as Said[];

test("every product and category of the default seed that was observed for two months has a report", () => {
  expect(reports.length).toBeGreaterThan(650);
  for (const { slug, report } of reports) expect(reportSchema.safeParse(report).error, slug).toBeUndefined();
  for (const { slug, months } of subjects.filter((each) => each.months < 2)) {
    expect(reportOf(slug, "en"), `${slug} ${months}`).toBeNull();
  }
});

test("who was observed for a few months has a timeline, strategies and sources beside the samples", () => {
  const bare = reports.filter(
    ({ months, report }) =>
      months >= A_FEW_MONTHS &&
      (report.timeline.length === 0 ||
        report.strategies.length === 0 ||
        report.sources.every((source) => source["publisher"] === "sample")),
  );
  expect(bare.map(({ slug, months }) => `${slug} ${months}`)).toEqual([]);
});

test("the counters of every report count what it lists", () => {
  for (const { slug, report } of reports) {
    const unresolved = report.timeline.filter((item) => Number(item["traffic_change"] ?? 0) <= 0).length;
    expect(report.summary, slug).toEqual({
      actionEvidenceCount: report.timeline.length,
      channelCount: report.analysis.channels.length,
      contextLeadCount: report.context_leads.length,
      sourceCount: new Set(report.sources.map(({ url }) => url)).size,
      unresolvedActionCount: unresolved,
    });
    expect(report.analysis.openQuestions, slug).toHaveLength(unresolved);
    const summedUp = report.strategies.flatMap((strategy) => strategy["action_ids"] as string[]).sort();
    expect(summedUp, slug).toEqual(report.timeline.map((item) => item["id"] as string).sort());
  }
});

test("a category report adds up what the rankings of the category have", () => {
  const query = { locale: "en", sort: "traffic", order: "desc", min_traffic: 0, min_growth: 0, min_dr: 0, min_dr_gain: 0, max_domain_age_months: 0, limit: 50 } as const; // prettier-ignore
  const categories = rowsOf<{ slug: string }>(market, "SELECT slug FROM sector").map(({ slug }) => slug);
  for (const category of categories) {
    const pages = [1, 2, 3].map((page) => ({ ...query, category, page }));
    const ranked = pages.flatMap(
      (page) => readRankings(market, page, { isLimited: false }, defaultAssumptions()).items,
    );
    const visits = ranked.reduce((sum, { latest_visits }) => sum + latest_visits, 0).toLocaleString("en");
    for (const locale of LOCALES) {
      const report = reportOf(category, locale);
      expect(report?.analysis.overview).toContain(visits);
      expect(report?.analysis.overview).toContain(String(ranked.length));
      expect(JSON.stringify(report)).not.toMatch(/this product|\p{Script=Han} \p{Script=Han}/u);
    }
  }
});

test("the English of every report keeps its plurals", () => {
  for (const { slug, report } of reports) {
    const wrong =
      /(?<![\d,.])1 (?:more |new |AI |dated )*(?:articles|directories|websites|pages|changes|phases|cases|visits)/;
    expect(wrong.exec(JSON.stringify(report))?.[0], slug).toBeUndefined();
  }
});

test("no two products of a report have an action of the same title in one month", () => {
  for (const { slug, report } of reports) {
    const products = new Map<string, unknown>();
    for (const { title, month, product_id } of report.timeline as Record<string, unknown>[]) {
      const said = `${String(month)} ${String(title)}`;
      expect([slug, said, products.get(said) ?? product_id]).toEqual([slug, said, product_id]);
      products.set(said, product_id);
    }
  }
});

test("all that is said cites sources of the list, and each source is cited", () => {
  for (const { slug, report } of reports) {
    const { analysis, narrative, timeline, strategies, context_leads } = report;
    const parts = [sectionsOf(report), analysis.observations, analysis.phases, analysis.channels, timeline, strategies];
    const said = [narrative?.summary, ...parts.flat(), ...context_leads] as Said[];
    expect(
      said.filter(({ citations }) => citations.length === 0),
      slug,
    ).toEqual([]);
    const cited = new Set<unknown>(said.flatMap(({ citations }) => citations));
    expect(cited, slug).toEqual(new Set(report.sources.map(({ id }) => id)));
  }
});

test("each section of the narrative says something and advises something, in either language", () => {
  for (const locale of LOCALES) {
    const isText = locale === "en" ? /^[A-Z"\p{Script=Han}\d][^\n]*[.]$/u : /^.*\p{Script=Han}.*。$/u;
    for (const { slug, report } of reports) {
      const sections = sectionsOf(locale === "en" ? report : (reportOf(slug, locale) as InvestigationReport));
      expect(sections.length, slug).toBeGreaterThan(0);
      for (const { title, text, advice } of sections) {
        expect(text, slug).toMatch(isText);
        expect(advice, slug).toMatch(isText);
        expect(`${title} ${text} ${advice}`, slug).not.toMatch(/undefined|NaN|null| {2}/);
      }
    }
  }
});

test("coverage and attribution follow from the sources", () => {
  const seen = new Set<string>();
  for (const { slug, months, report } of reports) {
    const publishers = new Set(report.sources.map((source) => source["publisher"]));
    const actors = new Set(report.timeline.map((item) => item["actor"]));
    const { coverageLevel, actorAttribution } = report.reliability;
    seen.add(coverageLevel).add(actorAttribution);
    expect(coverageLevel === "low", slug).toBe(
      months < 3 || (!publishers.has("maker") && !publishers.has("third_party")),
    );
    if (coverageLevel === "high")
      expect([publishers.has("maker"), publishers.has("third_party")], slug).toEqual([true, true]);
    expect(actorAttribution, slug).toBe(
      !actors.has("maker") ? "not_established" : actors.size === 1 ? "observed" : "partial",
    );
  }
  expect([...seen].sort()).toEqual(["high", "low", "not_established", "observed", "partial"]);
});

test("a timeline tells what the presence of a product tells", () => {
  const pushed = rowsOf<{ slug: string; month: number; before: number; after: number }>(
    market,
    `SELECT p.slug, l.month, b.directories AS before, l.directories AS after FROM product_presence_month l
     JOIN product_presence_month b ON b.month = l.month - 1 AND b.tool_id = l.tool_id
     JOIN product p ON p.tool_id = l.tool_id WHERE l.directories > b.directories AND p.discontinued_month IS NULL`,
  );
  expect(pushed.length).toBeGreaterThan(100);
  for (const { slug, month, before, after } of pushed) {
    const report = reports.find((each) => each.slug === slug)?.report;
    if (report?.omitted_action_count !== 0) continue;
    const name = `${Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, "0")}`;
    expect(report.timeline, slug).toContainEqual(
      expect.objectContaining({ kind: "directories", month: name, change: { before, after } }),
    );
  }
});
