import type { ServiceLocale } from "../../api/locale.js";
import type { ContextLead } from "./context-leads.js";
import type { ActionKind, PromotionAction } from "./promotion-actions.js";
import type { SourceKind } from "./report-sources.js";
import { REPORT_TEXTS_EN } from "./report-texts-en.js";
import { REPORT_TEXTS_ZH } from "./report-texts-zh.js";
import type { TimelineItem } from "./report-timeline.js";
import type { Channel, TrafficPhase } from "./traffic-series.js";

/** What a report says, in one language; the figures come from the data. */
export interface ReportTexts {
  title(name: string): string;
  overview(name: string, first: string, last: string, from: number, to: number): string;
  /** What stands between two sentences. */
  betweenSentences: string;
  method: string;
  action(action: PromotionAction): string;
  /** An action's title with who it is about. */
  ofProduct(product: string, title: string): string;
  /** @param change null: the month before was not observed */
  visitsThen(visits: number | null, change: number | null): string;
  source(kind: SourceKind, product: string): string;
  phase(phase: TrafficPhase["direction"], from: string, to: string, change: string): string;
  channel: Record<Channel, string>;
  channelShare(channel: string, before: string, now: string): string;
  trafficSection: string;
  channelAdvice(channel: Channel, isGain: boolean): string;
  strategy: Record<StrategyKind, string>;
  /** @param grew how many of the items came with more visits */
  strategyText(items: readonly TimelineItem[], grew: number): string;
  /** @param best the item that came with most visits; null: none came with more */
  strategyAdvice(kind: StrategyKind, best: TimelineItem | null): string;
  searchSection: string;
  searchText(leads: readonly ContextLead[]): string;
  searchAdvice(keyword: string): string;
  unresolved(title: string, month: string): string;
  lead(keyword: string): string;
  conclusion(name: string, actions: number, phases: number): string;
  limitations: readonly string[];
  caveat: string;
}

/** What actions can be summed up as. */
export type StrategyKind =
  "product" | "pricing" | "ai_visibility" | "paid_acquisition" | "earned_attention" | "website";

export const STRATEGY_OF: Record<ActionKind, StrategyKind> = {
  launch: "product",
  feature: "product",
  model: "product",
  api: "product",
  mcp: "ai_visibility",
  plan: "pricing",
  price: "pricing",
  ai_source: "ai_visibility",
  search_ads: "paid_acquisition",
  creatives: "paid_acquisition",
  articles: "earned_attention",
  directories: "earned_attention",
  links: "earned_attention",
  pages: "website",
  positioning: "website",
};

export const REPORT_TEXTS: Record<ServiceLocale, ReportTexts> = { en: REPORT_TEXTS_EN, "zh-CN": REPORT_TEXTS_ZH };
