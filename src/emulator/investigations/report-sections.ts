import type { ContextLead } from "./context-leads.js";
import type { ReportTexts } from "./report-texts.js";
import type { Strategy } from "./report-timeline.js";
import type { Channel } from "./traffic-series.js";

/** A part of the narrative: what was seen, what to make of it, and where it was seen. */
export type Section = {
  title: string;
  text: string;
  advice: string;
  action_ids: string[];
  citations: string[];
};

export type ReportChannel = {
  channel: Channel;
  visits: number;
  share: number;
  share_before: number;
  text: string;
  citations: string[];
};

/** Traffic first, then what was done, what there is most of first, then what people search for. */
export function sectionsOf(
  {
    overview,
    channels,
    strategies,
    leads,
  }: {
    overview: string;
    channels: readonly ReportChannel[];
    strategies: readonly Strategy[];
    leads: readonly ContextLead[];
  },
  texts: ReportTexts,
): Section[] {
  const sections: Section[] = [];
  const [gained] = [...channels].sort((a, b) => b.share - b.share_before - (a.share - a.share_before));
  if (gained !== undefined) {
    sections.push({
      title: texts.trafficSection,
      text: `${overview}${texts.betweenSentences}${gained.text}`,
      advice: texts.channelAdvice(gained.channel, gained.share > gained.share_before),
      action_ids: [],
      citations: gained.citations,
    });
  }
  for (const { title, text, advice, action_ids, citations } of strategies) {
    sections.push({ title, text, advice, action_ids, citations });
  }
  const [first] = leads;
  if (first !== undefined) {
    sections.push({
      title: texts.searchSection,
      text: texts.searchText(leads),
      advice: texts.searchAdvice(first.keyword),
      action_ids: [],
      citations: [...new Set(leads.flatMap(({ citations }) => citations))],
    });
  }
  return sections;
}
