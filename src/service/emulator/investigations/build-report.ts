import { SIGNAL_TYPES } from "../../../kit/senders/signals/signal-types.js";
import type { InvestigationReport } from "../../contract/investigation.js";
import type { ServiceLocale } from "../../contract/shared-schemas.js";
import type { Database } from "../database/database.js";
import {
  fillText,
  monthAndYear,
  percent,
  type Text,
  type TextValues,
} from "../market/format-values.js";
import { visits } from "../market/market-schema.js";
import { signalsAbout } from "../market/signals/derive-signals.js";
import { SIGNALS, type SourceKind } from "../market/signals/signal-table.js";
import { dateTime, formatMonth, monthOf, type MonthIndex } from "../time/emulator-clock.js";
import { findSubject, type ReportProduct, PLACES, STRATEGIES, TEXTS } from "./report-subject.js";

/** The highest number of actions in the timeline. Older actions are counted as omitted. */
const TIMELINE_ACTIONS = 20;
/** The highest number of searches in the report. Further searches are counted as omitted. */
const CONTEXT_LEADS = 5;
/** A smaller change of the visits counts as flat. */
const FLAT_BELOW = 0.05;

type Fill = (text: Text, values?: TextValues) => string;
/** The channels of visits. */
const CHANNELS = ["organic", "paid", "ai_referral", "direct"] as const;
type TrafficMonth = Record<(typeof CHANNELS)[number] | "visits", number> & { month: MonthIndex };

/**
 * Builds the report of a finished investigation from the observed data (service document, Report).
 * Each claim cites listed sources, each source is cited, and the counters match the lists.
 *
 * @returns null if fewer than two months were observed, because a report compares months
 */
export function buildReport(
  database: Database,
  { slug, locale, generatedAtMs }: { slug: string; locale: ServiceLocale; generatedAtMs: number },
): InvestigationReport | null {
  const subject = findSubject(database, slug);
  if (subject === null) return null;
  const series = readTraffic(database, subject.toolIds);
  const [first, last] = [series[0], series.at(-1)];
  if (first === undefined || last === undefined || first === last) return null;

  const fill: Fill = (text, values = {}) => fillText(locale, text, values);
  const sources = createSources(fill);
  const name = subject.name[locale];
  const traffic = [sources.cite("traffic", { name, domain: subject.domain })];
  const whole = fill(TEXTS[`whole_${subject.kind}`], { name, products: subject.toolIds.length });
  const phase = phaseOf(first, last);
  const overview = fill(TEXTS[phase.direction], { whole, ...phase.texts });
  const channels = CHANNELS.map((channel) => ({
    channel,
    visits: last[channel],
    citations: traffic,
  }));
  const { timeline, found } = readTimeline(database, subject.products, sources, locale);
  const strategies = strategiesOf(timeline, fill);
  const coincided = fill(TEXTS.coincided, {
    actions: timeline.length,
    grew: timeline.filter(hasGrowth).length,
  });
  const unresolved = timeline.filter((item) => !hasGrowth(item));
  const searches = readSearches(database, last.month, subject.products, sources, fill);

  return {
    version: "1",
    generated_at: dateTime(generatedAtMs),
    narrative: {
      title: fill(TEXTS.title, { whole }),
      summary: { text: overview, citations: traffic },
      sections: strategies,
      limitations: fill(TEXTS.limits_changes),
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
      observations: [],
      phases: [{ ...phase.figures, citations: traffic }],
      channels,
      openQuestions: unresolved.map(({ title, at }) =>
        fill(TEXTS.unresolved, { title, month: monthAndYear(at) }),
      ),
    },
    timeline: timeline.map(({ at: _at, source: _source, ...item }) => item),
    strategies,
    sources: sources.list(),
    context_leads: searches.shown,
    conclusion: coincided,
    limitations: [fill(TEXTS.limits_changes)],
    caveat: fill(TEXTS.caveat),
    reliability: {
      actorAttribution: attributionOf(timeline.map(({ source }) => source)),
      coverageLevel:
        series.length < 3
          ? "low"
          : series.length < 12 || timeline.length === 0
            ? "partial"
            : "high",
      growthCausality: "not_established",
      growthImpact: unresolved.length === timeline.length ? "unclear" : "correlated",
    },
    omitted_action_count: found - timeline.length,
    omitted_context_count: searches.found - searches.shown.length,
  };
}

/** Reads the total visits of these products in each observed month, the oldest first. */
function readTraffic(database: Database, toolIds: readonly number[]): TrafficMonth[] {
  return database.rows<TrafficMonth>(
    `SELECT month, sum(organic) AS organic, sum(paid) AS paid, sum(ai_referral) AS ai_referral, sum(direct) AS direct,
         sum(${visits("m")}) AS visits
       FROM observed_month CROSS JOIN json_each(?) chosen CROSS JOIN product_month m USING (month)
       WHERE tool_id = chosen.value GROUP BY month ORDER BY month`,
    JSON.stringify(toolIds),
  );
}

/** The sources of a report. The first citation of a source adds it to the list. */
function createSources(fill: Fill) {
  const byUrl = new Map<string, { id: string; kind: SourceKind; url: string; title: string }>();
  return {
    list: () => [...byUrl.values()],
    /** @returns the source's id */
    cite(kind: SourceKind, { name, domain }: Pick<ReportProduct, "name" | "domain">): string {
      const [host, title] = PLACES[kind];
      const url = `https://${host}${domain}`;
      const source = byUrl.get(url) ?? {
        id: `source_${byUrl.size + 1}`,
        kind,
        url,
        title: fill(title, { name }),
      };
      byUrl.set(url, source);
      return source.id;
    },
  };
}

type Sources = ReturnType<typeof createSources>;

/** How the visits moved between two months. */
function phaseOf(from: TrafficMonth, to: TrafficMonth) {
  const ratio = from.visits === 0 ? 0 : (to.visits - from.visits) / from.visits;
  const direction = Math.abs(ratio) < FLAT_BELOW ? "flat" : ratio > 0 ? "up" : "down";
  const [start, end] = [monthAndYear(from.month), monthAndYear(to.month)];
  const months = { start_month: formatMonth(from.month), end_month: formatMonth(to.month) };
  return {
    direction,
    texts: { rate: percent(Math.abs(ratio)), from: from.visits, start, to: to.visits, end },
    figures: { direction, ...months, start_visits: from.visits, end_visits: to.visits },
  } as const;
}

/**
 * Whether a source names the actor. A directory, a link or an article does not name its initiator.
 */
const namesActor = (source: SourceKind): boolean => source === "site" || source === "ads";

/**
 * Whether the actors of all, some or none of the actions are known (service document, Report:
 * reliability).
 */
function attributionOf(sources: readonly SourceKind[]): string {
  if (!sources.some(namesActor)) return "not_established";
  return sources.every(namesActor) ? "observed" : "partial";
}

/**
 * Reads the signals that are actions of a promotion, by the maker or by others, the oldest first.
 */
function readTimeline(
  database: Database,
  products: readonly ReportProduct[],
  sources: Sources,
  locale: ServiceLocale,
) {
  const visitsOf = (month: MonthIndex, toolId: number): number | null =>
    database.value<number>(
      `SELECT ${visits("m")} FROM product_month m WHERE month = ? AND tool_id = ?`,
      month,
      toolId,
    ) ?? null;
  const byId = new Map(products.map((product) => [product.tool_id, product]));
  const types = SIGNAL_TYPES.filter((type) => SIGNALS[type].strategy !== null);
  const actions = signalsAbout(database, [...byId.keys()], types);
  const timeline = actions.slice(-TIMELINE_ACTIONS).flatMap((signal, index) => {
    const { signal_type, tool_id: product_id, change, period, text } = signal;
    const product = byId.get(product_id);
    const { strategy, source } = SIGNALS[signal_type];
    if (product === undefined || strategy === null) return [];
    const at = monthOf(Date.parse(period.start));
    const [now, before] = [visitsOf(at, product_id), visitsOf(at - 1, product_id)];
    const { title, summary } = text[locale];
    const actor = namesActor(source) ? "maker" : "not_established";
    const citations = [sources.cite(source, product)];
    const traffic_change = now === null || before === null ? null : now - before;
    const id = `action_${index + 1}`;
    const item = { id, month: formatMonth(at), kind: signal_type, strategy, product_id };
    const found = { title, text: summary, actor, citations, change, visits: now, traffic_change };
    return [{ ...item, ...found, at, source }];
  });
  return { timeline, found: actions.length };
}

type TimelineItem = ReturnType<typeof readTimeline>["timeline"][number];

/**
 * Whether visits rose in the month of the action. The report does not claim that the action caused
 * it.
 */
const hasGrowth = ({ traffic_change }: TimelineItem): boolean => (traffic_change ?? 0) > 0;

/** Groups the actions by strategy. */
function strategiesOf(timeline: readonly TimelineItem[], fill: Fill) {
  return [...new Set(timeline.map(({ strategy }) => strategy))].map((kind) => {
    const items = timeline.filter(({ strategy }) => strategy === kind);
    const citations = [...new Set(items.flatMap((item) => item.citations))];
    return {
      kind,
      title: fill(STRATEGIES[kind]),
      action_ids: items.map(({ id }) => id),
      citations,
    };
  });
}

/** Finds the keywords that brought most visits to these products in a month. */
function readSearches(
  database: Database,
  month: MonthIndex,
  products: readonly ReportProduct[],
  sources: Sources,
  fill: Fill,
) {
  const keywords = database.rows<{
    keyword_id: number;
    keyword: string;
    traffic: number;
    receivers: string;
  }>(
    `SELECT k.keyword_id, k.keyword, sum(kp.traffic) AS traffic, json_group_array(kp.tool_id) AS receivers
       FROM keyword_product_month kp JOIN keyword k USING (keyword_id)
       WHERE kp.month = ? AND kp.tool_id IN (SELECT value FROM json_each(?))
       GROUP BY k.keyword_id ORDER BY traffic DESC, k.keyword_id`,
    month,
    JSON.stringify(products.map(({ tool_id }) => tool_id)),
  );
  const shown = keywords.slice(0, CONTEXT_LEADS).map(({ receivers, ...search }) => {
    const ids = JSON.parse(receivers) as number[];
    const cited = products.filter(({ tool_id }) => ids.includes(tool_id));
    const citations = cited.map((product) => sources.cite("searches", product));
    return { ...search, title: fill(TEXTS.lead, { keyword: search.keyword }), citations };
  });
  return { shown, found: keywords.length };
}
