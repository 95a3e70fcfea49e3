import { formatMonth } from "../month.js";
import type { PromotionAction } from "./promotion-actions.js";
import type { ReportSubject } from "./report-subject.js";
import { STRATEGY_OF, type ReportTexts, type StrategyKind } from "./report-texts.js";
import type { TrafficMonth } from "./traffic-series.js";

export type Source = {
  id: string;
  url: string;
  title: string;
};

const PAGE_OF: Record<StrategyKind, string> = {
  product: "changelog",
  pricing: "pricing",
  ai_visibility: "integrations",
  paid_acquisition: "",
};

/** The public pages that the actions were seen on, each once. */
export function sourcesOf(actions: readonly PromotionAction[], subject: ReportSubject): Source[] {
  const urls = new Map<string, string>();
  for (const action of actions) {
    const product = productOf(action, subject);
    urls.set(sourceUrl(action, product.domain), product.name);
  }
  return [...urls].map(([url, title], index) => ({ id: `source_${index + 1}`, url, title }));
}

function sourceUrl({ kind }: PromotionAction, domain: string): string {
  return `https://${domain}/${PAGE_OF[STRATEGY_OF[kind]]}`;
}

function productOf({ tool_id }: PromotionAction, subject: ReportSubject): ReportSubject["products"][number] {
  const product = subject.products.find((each) => each.tool_id === tool_id);
  if (product === undefined) throw new Error("An action is of a product that was not asked for.");
  return product;
}

export type TimelineItem = {
  id: string;
  month: string;
  kind: PromotionAction["kind"];
  product_id: number;
  title: string;
  citations: string[];
  /** Visits in the action's month, over all products that are looked at; null where it was not observed. */
  visits: number | null;
  /** Against the month before. */
  traffic_change: number | null;
};

export function timelineItem(
  action: PromotionAction,
  index: number,
  {
    subject,
    sources,
    series,
    texts,
  }: { subject: ReportSubject; sources: Source[]; series: TrafficMonth[]; texts: ReportTexts },
): TimelineItem {
  const now = series.find(({ month }) => month === action.month);
  const before = series.find(({ month }) => month === action.month - 1);
  const url = sourceUrl(action, productOf(action, subject).domain);
  return {
    id: `action_${index + 1}`,
    month: formatMonth(action.month),
    kind: action.kind,
    product_id: action.tool_id,
    title: texts.action(action),
    citations: sources.filter((source) => source.url === url).map(({ id }) => id),
    visits: now?.visits ?? null,
    traffic_change: now === undefined || before === undefined ? null : now.visits - before.visits,
  };
}

export type Strategy = {
  kind: StrategyKind;
  title: string;
  action_ids: string[];
  citations: string[];
};

/** The actions of one kind together, those of which there are most first. */
export function strategiesOf(timeline: readonly TimelineItem[], texts: ReportTexts): Strategy[] {
  const strategies = new Map<StrategyKind, TimelineItem[]>();
  for (const item of timeline) {
    const kind = STRATEGY_OF[item.kind];
    strategies.set(kind, [...(strategies.get(kind) ?? []), item]);
  }
  return [...strategies]
    .map(([kind, items]) => ({
      kind,
      title: texts.strategy[kind],
      action_ids: items.map(({ id }) => id),
      citations: [...new Set(items.flatMap(({ citations }) => citations))],
    }))
    .sort((a, b) => b.action_ids.length - a.action_ids.length);
}
