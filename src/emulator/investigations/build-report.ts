import type { Database } from "../database/database.js";
import type { ServiceLocale } from "../../api/locale.js";
import type { InvestigationReport } from "../../api/report.js";
import { formatMonth } from "../time/month.js";
import { readContextLeads } from "./context-leads.js";
import { readPromotionActions } from "./promotion-actions.js";
import { sectionsOf, type ReportChannel } from "./report-sections.js";
import { actorAttribution, coverageLevel, createSources } from "./report-sources.js";
import { findSubject } from "./report-subject.js";
import { REPORT_TEXTS, type ReportTexts } from "./report-texts.js";
import { cameWithGrowth, strategiesOf, timelineItem } from "./report-timeline.js";
import { CHANNELS, readTrafficSeries, trafficPhases, type Channel, type TrafficMonth } from "./traffic-series.js";

/** How many actions the timeline shows; older ones are counted as omitted. */
const TIMELINE_ACTIONS = 30;

/**
 * The report of a finished investigation (service document, Report), out of what was observed of its product. What is
 * said cites sources of the list, each of which is cited, and the counters count what is listed.
 *
 * @returns null when fewer than two months were observed: there is nothing to compare
 */
export function buildReport(
  database: Database,
  { slug, locale, generatedAtMs }: { slug: string; locale: ServiceLocale; generatedAtMs: number },
): InvestigationReport | null {
  const subject = findSubject(database, slug);
  if (subject === null) return null;
  const toolIds = subject.products.map(({ tool_id }) => tool_id);
  const series = readTrafficSeries(database, toolIds);
  const [first, last] = [series[0], series.at(-1)];
  if (first === undefined || last === undefined || first === last) return null;

  const texts = REPORT_TEXTS[locale];
  const name = subject.name[locale];
  const actions = readPromotionActions(database, toolIds);
  const shown = actions.slice(-TIMELINE_ACTIONS);
  const sources = createSources(subject, texts);
  const traffic = toolIds.map((toolId) => sources.cite("traffic", toolId, last.month));
  const timeline = shown.map((action, index) => timelineItem(action, index, { subject, sources, series, texts }));
  const unresolved = timeline.filter((item) => !cameWithGrowth(item));
  const phases = trafficPhases(series).map(({ direction, from, to }) => ({
    direction,
    start_month: formatMonth(from.month),
    end_month: formatMonth(to.month),
    start_visits: from.visits,
    end_visits: to.visits,
    text: texts.phase(direction, formatMonth(from.month), formatMonth(to.month), changeOf(from.visits, to.visits)),
    citations: traffic,
  }));
  const channels = channelsOf(first, last, traffic, texts);
  const leads = readContextLeads(database, toolIds, { month: last.month, sources, texts });
  const strategies = strategiesOf(timeline, texts);
  const overview = texts.overview(name, formatMonth(first.month), formatMonth(last.month), first.visits, last.visits);

  return {
    version: "1",
    generated_at: new Date(generatedAtMs).toISOString(),
    narrative: {
      title: texts.title(name),
      summary: { text: overview, citations: traffic },
      sections: sectionsOf({ overview, channels, strategies, leads: leads.shown }, texts),
      limitations: texts.limitations.join(texts.betweenSentences),
    },
    summary: {
      actionEvidenceCount: timeline.length,
      channelCount: channels.length,
      contextLeadCount: leads.shown.length,
      sourceCount: sources.list.length,
      unresolvedActionCount: unresolved.length,
    },
    analysis: {
      overview,
      method: texts.method,
      observations: phases.map(({ text, citations }) => ({ text, citations })),
      phases,
      channels,
      openQuestions: unresolved.map(({ title, month }) => texts.unresolved(title, month)),
    },
    timeline,
    strategies,
    sources: [...sources.list],
    context_leads: leads.shown,
    conclusion: texts.conclusion(name, timeline.length, phases.length),
    limitations: [...texts.limitations],
    caveat: texts.caveat,
    reliability: {
      actorAttribution: actorAttribution(timeline.map(({ kind }) => kind)),
      coverageLevel: coverageLevel(sources.list, series.length),
      growthCausality: "not_established",
      growthImpact: unresolved.length === timeline.length ? "unclear" : "correlated",
    },
    omitted_action_count: actions.length - shown.length,
    omitted_context_count: leads.found - leads.shown.length,
  };
}

/** The channels that visits came by, with their shares in the first and the last month. */
function channelsOf(first: TrafficMonth, last: TrafficMonth, citations: string[], texts: ReportTexts): ReportChannel[] {
  return CHANNELS.filter((channel) => first[channel] > 0 || last[channel] > 0).map((channel) => {
    const before = shareOf(first, channel);
    const now = shareOf(last, channel);
    const text = texts.channelShare(texts.channel[channel], percent(before), percent(now));
    return { channel, visits: last[channel], share: now, share_before: before, text, citations };
  });
}

function shareOf(month: TrafficMonth, channel: Channel): number {
  return month.visits === 0 ? 0 : month[channel] / month.visits;
}

function changeOf(from: number, to: number): string {
  return from === 0 ? "0%" : `${to >= from ? "+" : ""}${percent((to - from) / from)}`;
}

function percent(ratio: number): string {
  return `${Math.round(ratio * 1000) / 10}%`;
}
