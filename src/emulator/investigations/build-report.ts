import type { Database } from "../database/database.js";
import type { ServiceLocale } from "../../api/locale.js";
import type { InvestigationReport } from "../../api/report.js";
import { formatMonth } from "../month.js";
import { readContextLeads } from "./context-leads.js";
import { readPromotionActions } from "./promotion-actions.js";
import { findSubject } from "./report-subject.js";
import { REPORT_TEXTS, type ReportTexts } from "./report-texts.js";
import { sourcesOf, strategiesOf, timelineItem } from "./report-timeline.js";
import { CHANNELS, readTrafficSeries, trafficPhases, type Channel, type TrafficMonth } from "./traffic-series.js";

/** How many actions the timeline shows; older ones are counted as omitted. */
const TIMELINE_ACTIONS = 30;

/**
 * The report of a finished investigation (service document, Report), out of what was observed of its product. Every item
 * of the timeline cites a source of the list, and the counters count what is listed.
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
  const sources = sourcesOf(shown, subject);
  const timeline = shown.map((action, index) => timelineItem(action, index, { subject, sources, series, texts }));
  const unresolved = timeline.filter(({ traffic_change }) => traffic_change === null || traffic_change <= 0);
  const phases = trafficPhases(series).map(({ direction, from, to }) => ({
    direction,
    start_month: formatMonth(from.month),
    end_month: formatMonth(to.month),
    start_visits: from.visits,
    end_visits: to.visits,
    text: texts.phase(direction, formatMonth(from.month), formatMonth(to.month), changeOf(from.visits, to.visits)),
  }));
  const channels = channelsOf(first, last, texts);
  const leads = readContextLeads(database, toolIds, last.month, texts);
  const strategies = strategiesOf(timeline, texts);
  const overview = texts.overview(name, formatMonth(first.month), formatMonth(last.month), first.visits, last.visits);

  return {
    version: "1",
    generated_at: new Date(generatedAtMs).toISOString(),
    narrative: {
      title: texts.title(name),
      summary: { text: overview, citations: sources.map(({ id }) => id) },
      sections: strategies.map(({ title, action_ids, citations }) => ({ title, action_ids, citations })),
      limitations: texts.limitations.join(" "),
    },
    summary: {
      actionEvidenceCount: timeline.length,
      channelCount: channels.length,
      contextLeadCount: leads.shown.length,
      sourceCount: sources.length,
      unresolvedActionCount: unresolved.length,
    },
    analysis: {
      overview,
      method: texts.method,
      observations: phases.map(({ text }) => text),
      phases,
      channels,
      openQuestions: unresolved.map(({ title, month }) => texts.unresolved(title, month)),
    },
    timeline,
    strategies,
    sources,
    context_leads: leads.shown,
    conclusion: texts.conclusion(name, timeline.length, phases.length),
    limitations: [...texts.limitations],
    caveat: texts.caveat,
    reliability: {
      actorAttribution: "observed",
      coverageLevel: series.length >= 12 ? "high" : "partial",
      growthCausality: "not_established",
      growthImpact: unresolved.length === timeline.length ? "unclear" : "correlated",
    },
    omitted_action_count: actions.length - shown.length,
    omitted_context_count: leads.found - leads.shown.length,
  };
}

/** The channels that visits came by, with their shares in the first and the last month. */
function channelsOf(first: TrafficMonth, last: TrafficMonth, texts: ReportTexts): Record<string, unknown>[] {
  return CHANNELS.filter((channel) => first[channel] > 0 || last[channel] > 0).map((channel) => {
    const before = shareOf(first, channel);
    const now = shareOf(last, channel);
    const text = texts.channelShare(texts.channel[channel], percent(before), percent(now));
    return { channel, visits: last[channel], share: now, share_before: before, text };
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
