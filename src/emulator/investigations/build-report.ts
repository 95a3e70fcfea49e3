import type { ServiceLocale } from "../../api/locale.js";
import type { InvestigationReport } from "../../api/report.js";
import type { Database } from "../database/database.js";
import { monthAndYear, percent, type TextValues } from "../market/format-values.js";
import type { StrategyKind } from "../market/signals/signal-table.js";
import { formatMonth } from "../time/month.js";
import { readPromotionActions, type PromotionAction } from "./promotion-actions.js";
import { actorAttribution, coverageLevel, createSources, namesActor } from "./report-sources.js";
import { findSubject, type ReportSubject } from "./report-subject.js";
import { ADVICE, CHANNEL_NAMES, fillIn, STRATEGY_TITLES, TEXTS, type Fill } from "./report-texts.js";
import {
  CHANNELS,
  phaseBetween,
  readTrafficSeries,
  trafficPhases,
  type Channel,
  type TrafficMonth,
  type TrafficPhase,
} from "./traffic-series.js";

/** The highest number of actions in the timeline. Older actions are counted as omitted. */
const TIMELINE_ACTIONS = 20;
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
  const names = {
    name,
    whole: fill(TEXTS[`whole_${subject.kind}`], { name, products: subject.toolIds.length }),
    leaders: fill(TEXTS[`leaders_${subject.kind}`], { name }),
    products: subject.products.map((each) => each.name).join(fill(TEXTS.list_gap)),
  };
  const [product] = subject.kind === "product" ? subject.products : [];
  const traffic = [sources.cite("traffic", product ?? { name, domain: slug, tool_id: null })];
  const channels = channelsOf(context, traffic);
  const actions = readPromotionActions(database, subject.products);
  const shownActions = actions.slice(-TIMELINE_ACTIONS);
  const timeline = timelineOf(context, shownActions);
  const unresolved = shownActions.filter((_, place) => !hasGrowth(timeline[place]));
  const phases = trafficPhases(series);
  const strategies = strategiesOf(context, timeline, names);
  const searches = searchesOf(context);

  return {
    version: "1",
    generated_at: new Date(generatedAtMs).toISOString(),
    narrative: {
      title: fill(TEXTS[`title_${subject.kind}`], names),
      summary: {
        text: fill(TEXTS.timeline, { ...names, actions: timeline.length || { en: "no", zh: "0" } }),
        citations: [...traffic, ...citationsOf(timeline)],
      },
      sections: [
        ...channels.slice(0, 1).map((gained) => ({
          title: fill(TEXTS.traffic_section),
          text: gainedText(context, gained),
          advice: fill(ADVICE[gained.channel], names),
          action_ids: [],
          citations: traffic,
        })),
        ...strategies,
      ],
      limitations: fill(TEXTS[`limits_${subject.kind}`], names),
    },
    summary: {
      actionEvidenceCount: timeline.length,
      channelCount: channels.length,
      contextLeadCount: searches.shown.length,
      sourceCount: sources.list().length,
      unresolvedActionCount: unresolved.length,
    },
    analysis: {
      overview: movedText(fill, fill(TEXTS.visits_of, names), phaseBetween(first, last)),
      method: fill(TEXTS.method),
      observations: phases.map((phase) => ({ text: movedText(fill, fill(TEXTS.visits), phase), citations: traffic })),
      phases: phases.map(({ from, to, direction }) => ({
        direction,
        start_month: formatMonth(from.month),
        end_month: formatMonth(to.month),
        start_visits: from.visits,
        end_visits: to.visits,
        citations: traffic,
      })),
      channels,
      openQuestions: unresolved.map(({ signal, month }) =>
        fill(TEXTS.unresolved, { title: signal.text[locale].title, month: monthAndYear(month) }),
      ),
    },
    timeline,
    strategies: strategies.map(({ kind, action_ids, citations }) => ({ kind, action_ids, citations })),
    sources: sources.list(),
    context_leads: searches.shown,
    conclusion: strategies.length > 1 ? coincidedText(fill, timeline) : fill(TEXTS.unexplained, names),
    limitations: [fill(TEXTS.limits_estimates), fill(TEXTS.limits_months)],
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

/** Says how visits moved in a phase. */
function movedText(fill: Fill, visits: string, phase: TrafficPhase): string {
  const { from, to, direction, ratio } = phase;
  return fill(TEXTS[`moved_${direction}`], {
    visits,
    rate: percent(Math.abs(ratio)),
    from: from.visits,
    start: monthAndYear(from.month),
    to: to.visits,
    end: monthAndYear(to.month),
  });
}

const shareOf = (channel: Channel, month: TrafficMonth): number =>
  month.visits === 0 ? 0 : Math.round((month[channel] / month.visits) * 10_000) / 10_000;

/** Compares the channels' shares of the visits in the first and the last month. The channel that gained most comes first. */
function channelsOf({ first, last, fill }: Context, citations: string[]) {
  return CHANNELS.filter((channel) => first[channel] > 0 || last[channel] > 0)
    .map((channel) => ({
      channel,
      title: fill(CHANNEL_NAMES[channel]),
      visits: last[channel],
      share: shareOf(channel, last),
      share_before: shareOf(channel, first),
      citations,
    }))
    .sort((a, b) => b.share - b.share_before - (a.share - a.share_before));
}

function gainedText({ fill, first, last }: Context, gained: ReturnType<typeof channelsOf>[number]): string {
  const [start, end] = [monthAndYear(first.month), monthAndYear(last.month)];
  const [before, after] = [percent(gained.share_before), percent(gained.share)];
  return fill(TEXTS.traffic_text, { channel: gained.title, before, start, after, end });
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
const hasGrowth = (item: TimelineItem | undefined): boolean => (item?.traffic_change ?? 0) > 0;

const citationsOf = (timeline: readonly TimelineItem[]): string[] => [
  ...new Set(timeline.flatMap(({ citations }) => citations)),
];

/** Says how many of the actions coincided with a rise in visits. */
function coincidedText(fill: Fill, timeline: readonly TimelineItem[]): string {
  const grew = timeline.filter(hasGrowth).length;
  const often = grew === 0 ? "never" : grew === timeline.length ? "always" : "sometimes";
  return fill(TEXTS[`coincided_${often}`], { actions: timeline.length, grew });
}

/** Groups the actions by strategy. The strategy with most actions comes first. */
function strategiesOf({ fill }: Context, timeline: readonly TimelineItem[], names: TextValues) {
  const byKind = new Map<StrategyKind, TimelineItem[]>();
  for (const item of timeline) byKind.set(item.strategy, [...(byKind.get(item.strategy) ?? []), item]);
  return [...byKind]
    .map(([kind, items]) => ({
      kind,
      title: fill(STRATEGY_TITLES[kind]),
      text: coincidedText(fill, items),
      advice: fill(ADVICE[kind], names),
      action_ids: items.map(({ id }) => id),
      citations: citationsOf(items),
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
