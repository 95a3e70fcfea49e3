import type { ServiceLocale } from "../../api/locale.js";
import type { InvestigationReport } from "../../api/report.js";
import type { Database } from "../database/database.js";
import { percent } from "../market/format-values.js";
import { formatMonth } from "../time/month.js";
import { ACTIONS, readPromotionActions, type PromotionAction } from "./promotion-actions.js";
import { actorAttribution, coverageLevel, createSources, namesActor } from "./report-sources.js";
import { findSubject, type ReportProduct, type ReportSubject } from "./report-subject.js";
import {
  CHANNEL_TEXTS,
  PHASE_TEXTS,
  sayIn,
  STRATEGY_TEXTS,
  TEXTS,
  type Say,
  type StrategyKind,
} from "./report-texts.js";
import { CHANNELS, readTrafficSeries, trafficPhases, type TrafficMonth } from "./traffic-series.js";

/** The timeline shows so many actions; older ones are counted as omitted. */
const TIMELINE_ACTIONS = 30;
/** The report lists so many searches; further ones are counted as omitted. */
const CONTEXT_LEADS = 5;
/** The text of a strategy names so many of its latest actions. */
const LATEST_ACTIONS = 3;

/** What the parts of one report share. */
interface Context {
  database: Database;
  subject: ReportSubject;
  series: readonly TrafficMonth[];
  first: TrafficMonth;
  last: TrafficMonth;
  say: Say;
  sources: ReturnType<typeof createSources>;
}

/**
 * The report of a finished investigation (service document, Report), from what was observed of its product. Each claim cites
 * sources of the list, each source is cited, and the counters count what is listed.
 *
 * @returns null when fewer than two months were observed: there is nothing to compare
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

  const say = sayIn(locale);
  const sources = createSources(say);
  const context: Context = { database, subject, series, first, last, say, sources };
  const name = subject.name[locale];
  const [product] = subject.kind === "product" ? subject.products : [];
  const whole = product === undefined ? { name, address: slug, tool_id: null } : cited(product);
  const traffic = [sources.cite("traffic", whole, last.month)];
  const overview = say(TEXTS[`overview_${subject.kind}`], {
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
  const timeline = timelineOf(context, actions.slice(-TIMELINE_ACTIONS));
  const unresolved = timeline.filter((item) => !cameWithGrowth(item));
  const strategies = strategiesOf(context, timeline);
  const searches = searchesOf(context);
  const limitations = [say(TEXTS.limits_tracked), say(TEXTS.limits_estimates)];
  if (subject.kind === "category") {
    const products = subject.products.map((each) => each.name).join(say(TEXTS.list_gap));
    limitations.push(say(TEXTS.limits_category, { products }));
  }

  return {
    version: "1",
    generated_at: new Date(generatedAtMs).toISOString(),
    narrative: {
      title: say(TEXTS[`title_${subject.kind}`], { name }),
      summary: { text: overview, citations: traffic },
      sections: [
        trafficSection(context, overview, channels),
        ...strategies.map(({ title, text, advice, action_ids, citations }) => ({
          title,
          text,
          advice,
          action_ids,
          citations,
        })),
        ...searchSection(context, searches.shown),
      ],
      limitations: limitations.join(say(TEXTS.sentence_gap)),
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
      method: say(TEXTS.method),
      observations: phases.map(({ text, citations }) => ({ text, citations })),
      phases,
      channels,
      openQuestions: unresolved.map(({ title, month }) => say(TEXTS.unresolved, { title, month })),
    },
    timeline,
    strategies,
    sources: sources.list(),
    context_leads: searches.shown,
    conclusion: say(TEXTS.conclusion, { name, actions: timeline.length, phases: phases.length }),
    limitations,
    caveat: say(TEXTS.caveat),
    reliability: {
      actorAttribution: actorAttribution(timeline.map(({ kind }) => ACTIONS[kind].seenAt)),
      coverageLevel: coverageLevel(sources.list(), series.length),
      growthCausality: "not_established",
      growthImpact: unresolved.length === timeline.length ? "unclear" : "correlated",
    },
    omitted_action_count: actions.length - timeline.length,
    omitted_context_count: searches.found - searches.shown.length,
  };
}

const cited = ({ name, domain, tool_id }: ReportProduct) => ({ name, address: domain, tool_id });

function phasesOf({ series, say }: Context, citations: string[]) {
  return trafficPhases(series).map(({ direction, from, to }) => {
    const [start_month, end_month] = [formatMonth(from.month), formatMonth(to.month)];
    const ratio = from.visits === 0 ? 0 : (to.visits - from.visits) / from.visits;
    const change = `${ratio > 0 ? "+" : ""}${percent(ratio)}`;
    const text = say(PHASE_TEXTS[direction], { start: start_month, end: end_month, change });
    return { direction, start_month, end_month, start_visits: from.visits, end_visits: to.visits, text, citations };
  });
}

/** The channels of the visits, with their shares in the first and the last month. */
function channelsOf({ first, last, say }: Context, citations: string[]) {
  return CHANNELS.filter((channel) => first[channel] > 0 || last[channel] > 0).map((channel) => {
    const [before, share] = [first, last].map((month) => (month.visits === 0 ? 0 : month[channel] / month.visits)) as [
      number,
      number,
    ];
    const text = say(TEXTS.channel_share, {
      channel: say(CHANNEL_TEXTS[channel].name),
      before: percent(before),
      now: percent(share),
      first: formatMonth(first.month),
      last: formatMonth(last.month),
    });
    return { channel, visits: last[channel], share, share_before: before, text, citations };
  });
}

type TimelineItem = ReturnType<typeof timelineOf>[number];

function timelineOf({ database, subject, sources, say }: Context, actions: readonly PromotionAction[]) {
  const visitsOf = new Map(
    subject.products.map(({ tool_id }) => [
      tool_id,
      new Map(readTrafficSeries(database, [tool_id]).map(({ month, visits }) => [month, visits])),
    ]),
  );
  return actions.flatMap((action, index) => {
    const { kind, tool_id, month, before, after, item_en, item_zh } = action;
    const product = subject.products.find((each) => each.tool_id === tool_id);
    if (product === undefined) return [];
    const visits = visitsOf.get(tool_id)?.get(month) ?? null;
    const earlier = visitsOf.get(tool_id)?.get(month - 1) ?? null;
    const trafficChange = visits === null || earlier === null ? null : visits - earlier;
    const figures = { before: before ?? 0, after: after ?? 0, added: (after ?? 0) - (before ?? 0) };
    const text = say(ACTIONS[kind].title, { item_en, item_zh, ...figures });
    return {
      id: `action_${index + 1}`,
      month: formatMonth(month),
      kind,
      product_id: tool_id,
      // Two products of a category may do the same in one month.
      title: subject.kind === "product" ? text : say(TEXTS.of_product, { product: product.name, text }),
      text: visitsText(say, visits, trafficChange),
      actor: namesActor(ACTIONS[kind].seenAt) ? "maker" : "not_established",
      citations: [sources.cite(ACTIONS[kind].seenAt, cited(product), month)],
      change: after === null ? null : { before, after },
      visits,
      traffic_change: trafficChange,
    };
  });
}

function visitsText(say: Say, visits: number | null, change: number | null): string {
  if (visits === null) return say(TEXTS.visits_unknown);
  if (change === null) return say(TEXTS.visits_first, { visits });
  const text = change > 0 ? TEXTS.visits_more : change < 0 ? TEXTS.visits_fewer : TEXTS.visits_same;
  return say(text, { visits, change: Math.abs(change) });
}

/** Whether visits rose in the action's month; the report does not say that the action caused it. */
const cameWithGrowth = ({ traffic_change }: TimelineItem): boolean => (traffic_change ?? 0) > 0;

/** The actions of one kind together; the kind with the most actions comes first. */
function strategiesOf({ say }: Context, timeline: readonly TimelineItem[]) {
  const byKind = new Map<StrategyKind, TimelineItem[]>();
  for (const item of timeline) {
    const { strategy } = ACTIONS[item.kind];
    byKind.set(strategy, [...(byKind.get(strategy) ?? []), item]);
  }
  return [...byKind]
    .map(([kind, items]) => {
      const grown = items.filter(cameWithGrowth).sort((a, b) => (b.traffic_change ?? 0) - (a.traffic_change ?? 0));
      const latest = items.slice(-LATEST_ACTIONS).map(({ title, month }) => say(TEXTS.strategy_item, { title, month }));
      const [best] = grown;
      return {
        kind,
        title: say(STRATEGY_TEXTS[kind].title),
        text: say(TEXTS.strategy_text, {
          count: items.length,
          latest: latest.join(say(TEXTS.item_gap)),
          grew: grown.length,
        }),
        advice:
          best === undefined
            ? say(TEXTS.strategy_open)
            : say(TEXTS.strategy_best, {
                title: best.title,
                month: best.month,
                gain: best.traffic_change,
                next: say(STRATEGY_TEXTS[kind].next),
              }),
        action_ids: items.map(({ id }) => id),
        citations: [...new Set(items.flatMap(({ citations }) => citations))],
      };
    })
    .sort((a, b) => b.action_ids.length - a.action_ids.length);
}

type Search = ReturnType<typeof searchesOf>["shown"][number];

/** The keywords that brought the listed products most visits in the last month. */
function searchesOf({ database, subject, sources, last, say }: Context) {
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
      .map((product) => sources.cite("searches", cited(product), last.month));
    return { ...search, title: say(TEXTS.lead, { keyword: search.keyword }), citations };
  });
  return { shown, found: keywords.length };
}

/** What gained share, and what to make of it. */
function trafficSection({ say }: Context, overview: string, channels: ReturnType<typeof channelsOf>) {
  const [gained] = [...channels].sort((a, b) => b.share - b.share_before - (a.share - a.share_before));
  const isGain = gained !== undefined && gained.share > gained.share_before;
  return {
    title: say(TEXTS.traffic_section),
    text: gained === undefined ? overview : `${overview}${say(TEXTS.sentence_gap)}${gained.text}`,
    advice: isGain ? say(CHANNEL_TEXTS[gained.channel].advice) : say(TEXTS.no_channel_gained),
    action_ids: [],
    citations: gained?.citations ?? [],
  };
}

function searchSection({ say }: Context, searches: readonly Search[]) {
  const [first] = searches;
  if (first === undefined) return [];
  const listed = searches.map(({ keyword, traffic }) => say(TEXTS.search_item, { keyword, traffic }));
  return [
    {
      title: say(TEXTS.search_section),
      text: say(TEXTS.search_text, { searches: listed.join(say(TEXTS.list_gap)) }),
      advice: say(TEXTS.search_advice, { keyword: first.keyword }),
      action_ids: [],
      citations: [...new Set(searches.flatMap(({ citations }) => citations))],
    },
  ];
}
