import type { ServiceLocale } from "../../api/locale.js";
import type { InvestigationReport } from "../../api/report.js";
import type { Database } from "../database/database.js";
import { percent } from "../market/format-values.js";
import type { StrategyKind } from "../market/signals/signal-table.js";
import { formatMonth } from "../time/month.js";
import { readPromotionActions, type PromotionAction } from "./promotion-actions.js";
import { actorAttribution, coverageLevel, createSources, namesActor } from "./report-sources.js";
import { findSubject, type ReportSubject } from "./report-subject.js";
import { CHANNEL_NAMES, fillIn, STRATEGY_TITLES, TEXTS, type Fill } from "./report-texts.js";
import { CHANNELS, readTrafficSeries, trafficPhases, type Channel, type TrafficMonth } from "./traffic-series.js";

/** The highest number of actions in the timeline. Older actions are counted as omitted. */
const TIMELINE_ACTIONS = 30;
/** The highest number of searches in the report. Further searches are counted as omitted. */
const CONTEXT_LEADS = 5;

/** The data that all parts of a report use. */
interface Context {
  database: Database;
  locale: ServiceLocale;
  subject: ReportSubject;
  series: readonly TrafficMonth[];
  first: TrafficMonth;
  last: TrafficMonth;
  fill: Fill;
  sources: ReturnType<typeof createSources>;
}

/**
 * Builds the report of a finished investigation from the observed data (service document, Report). Each claim cites listed
 * sources, each source is cited, and the counters match the lists.
 *
 * @returns null if fewer than two months were observed, because a report compares months
 */
export function buildReport(
  database: Database,
  { slug, locale, generatedAtMs }: { slug: string; locale: ServiceLocale; generatedAtMs: number },
): InvestigationReport | null {
  const subject = findSubject(database, slug);
  if (subject === null) return null;
  const series = readTrafficSeries(database, subject.toolIds);
  const [first, last] = [series[0], series.at(-1)];
  if (first === undefined || last === undefined || first === last) return null;

  const fill = fillIn(locale);
  const sources = createSources(fill);
  const context: Context = { database, locale, subject, series, first, last, fill, sources };
  const name = subject.name[locale];
  const [product] = subject.kind === "product" ? subject.products : [];
  const whole = product ?? { name, domain: slug, tool_id: null };
  const traffic = [sources.cite("traffic", whole)];
  const overview = fill(TEXTS[`overview_${subject.kind}`], {
    name,
    products: subject.toolIds.length,
    first: formatMonth(first.month),
    last: formatMonth(last.month),
    from: first.visits,
    to: last.visits,
  });
  const phases = phasesOf(context, traffic);
  const channels = channelsOf(context, traffic);
  const actions = readPromotionActions(database, subject.products);
  const shownActions = actions.slice(-TIMELINE_ACTIONS);
  const timeline = timelineOf(context, shownActions);
  const unresolved = timeline.filter((item) => !hasGrowth(item));
  const strategies = strategiesOf(context, timeline);
  const searches = searchesOf(context);
  const limitations = [fill(TEXTS.limits_tracked), fill(TEXTS.limits_estimates)];
  if (subject.kind === "category") {
    const products = subject.products.map((each) => each.name).join(fill(TEXTS.list_gap));
    limitations.push(fill(TEXTS.limits_category, { products }));
  }

  return {
    version: "1",
    generated_at: new Date(generatedAtMs).toISOString(),
    narrative: {
      title: fill(TEXTS[`title_${subject.kind}`], { name }),
      summary: { text: overview, citations: traffic },
      sections: [
        {
          title: fill(TEXTS.traffic_section),
          text: overview,
          advice: fill(TEXTS.traffic_advice),
          action_ids: [],
          citations: traffic,
        },
        ...strategies,
      ],
      limitations: limitations.join(fill(TEXTS.sentence_gap)),
    },
    summary: {
      actionEvidenceCount: timeline.length,
      channelCount: channels.length,
      contextLeadCount: searches.shown.length,
      sourceCount: sources.list().length,
      unresolvedActionCount: unresolved.length,
    },
    analysis: {
      overview,
      method: fill(TEXTS.method),
      observations: phases.map(({ text, citations }) => ({ text, citations })),
      phases,
      channels,
      openQuestions: unresolved.map(({ title, month }) => fill(TEXTS.unresolved, { title, month })),
    },
    timeline,
    strategies,
    sources: sources.list(),
    context_leads: searches.shown,
    conclusion: fill(TEXTS.conclusion, { name, actions: timeline.length, phases: phases.length }),
    limitations,
    caveat: fill(TEXTS.caveat),
    reliability: {
      actorAttribution: actorAttribution(shownActions.map(({ source }) => source)),
      coverageLevel: coverageLevel(sources.list(), series.length),
      growthCausality: "not_established",
      growthImpact: unresolved.length === timeline.length ? "unclear" : "correlated",
    },
    omitted_action_count: actions.length - timeline.length,
    omitted_context_count: searches.found - searches.shown.length,
  };
}

function phasesOf({ series, fill }: Context, citations: string[]) {
  return trafficPhases(series).map(({ direction, from, to }) => {
    const [start_month, end_month] = [formatMonth(from.month), formatMonth(to.month)];
    const ratio = from.visits === 0 ? 0 : (to.visits - from.visits) / from.visits;
    const change = `${ratio > 0 ? "+" : ""}${percent(ratio)}`;
    const text = fill(TEXTS.phase, { start: start_month, end: end_month, change });
    return { direction, start_month, end_month, start_visits: from.visits, end_visits: to.visits, text, citations };
  });
}

const shareOf = (channel: Channel, month: TrafficMonth): number =>
  month.visits === 0 ? 0 : month[channel] / month.visits;

/** Compares the channels' shares of the visits in the first and the last month. */
function channelsOf({ first, last, fill }: Context, citations: string[]) {
  return CHANNELS.filter((channel) => first[channel] > 0 || last[channel] > 0).map((channel) => ({
    channel,
    title: fill(CHANNEL_NAMES[channel]),
    visits: last[channel],
    share: shareOf(channel, last),
    share_before: shareOf(channel, first),
    citations,
  }));
}

type TimelineItem = ReturnType<typeof timelineOf>[number];

function timelineOf({ database, locale, subject, sources }: Context, actions: readonly PromotionAction[]) {
  const visitsOf = new Map(
    subject.products.map(({ tool_id }) => [tool_id, readTrafficSeries(database, [tool_id])] as const),
  );
  return actions.map(({ product, month, signal, strategy, source }, index) => {
    const visits = visitsOf.get(product.tool_id)?.find((each) => each.month === month)?.visits ?? null;
    const earlier = visitsOf.get(product.tool_id)?.find((each) => each.month === month - 1)?.visits ?? null;
    return {
      id: `action_${index + 1}`,
      month: formatMonth(month),
      kind: signal.signal_type,
      strategy,
      product_id: product.tool_id,
      title: signal.text[locale].title,
      text: signal.text[locale].summary,
      actor: namesActor(source) ? "maker" : "not_established",
      citations: [sources.cite(source, product)],
      change: signal.change,
      visits,
      traffic_change: visits === null || earlier === null ? null : visits - earlier,
    };
  });
}

/** Whether visits rose in the month of the action. The report does not claim that the action caused it. */
const hasGrowth = ({ traffic_change }: TimelineItem): boolean => (traffic_change ?? 0) > 0;

/** Groups the actions by strategy. The strategy with most actions comes first. */
function strategiesOf({ fill }: Context, timeline: readonly TimelineItem[]) {
  const byKind = new Map<StrategyKind, TimelineItem[]>();
  for (const item of timeline) byKind.set(item.strategy, [...(byKind.get(item.strategy) ?? []), item]);
  return [...byKind]
    .map(([kind, items]) => ({
      kind,
      title: fill(STRATEGY_TITLES[kind]),
      text: fill(TEXTS.strategy_text, { count: items.length, grew: items.filter(hasGrowth).length }),
      advice: fill(TEXTS.strategy_advice),
      action_ids: items.map(({ id }) => id),
      citations: [...new Set(items.flatMap(({ citations }) => citations))],
    }))
    .sort((a, b) => b.action_ids.length - a.action_ids.length);
}

/** Finds the keywords that brought most visits to the listed products in the last month. */
function searchesOf({ database, subject, sources, last, fill }: Context) {
  const keywords = database
    .prepare<
      [{ month: number; ids: string }],
      { keyword_id: number; keyword: string; traffic: number; receivers: string }
    >(
      `SELECT k.keyword_id, k.keyword, sum(kp.traffic) AS traffic, json_group_array(kp.tool_id) AS receivers
       FROM keyword_product_month kp JOIN keyword k USING (keyword_id)
       WHERE kp.month = @month AND kp.tool_id IN (SELECT value FROM json_each(@ids))
       GROUP BY k.keyword_id ORDER BY traffic DESC, k.keyword_id`,
    )
    .all({ month: last.month, ids: JSON.stringify(subject.products.map(({ tool_id }) => tool_id)) });
  const shown = keywords.slice(0, CONTEXT_LEADS).map(({ receivers, ...search }) => {
    const ids = JSON.parse(receivers) as number[];
    const citations = subject.products
      .filter(({ tool_id }) => ids.includes(tool_id))
      .map((product) => sources.cite("searches", product));
    return { ...search, title: fill(TEXTS.lead, { keyword: search.keyword }), citations };
  });
  return { shown, found: keywords.length };
}
