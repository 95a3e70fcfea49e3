import { formatMonth } from "../time/month.js";
import type { PromotionAction } from "./promotion-actions.js";
import { namesActor, type Sources } from "./report-sources.js";
import type { ReportSubject } from "./report-subject.js";
import { STRATEGY_OF, type ReportTexts, type StrategyKind } from "./report-texts.js";
import type { TrafficMonth } from "./traffic-series.js";

export type TimelineItem = {
  id: string;
  month: string;
  kind: PromotionAction["kind"];
  product_id: number;
  title: string;
  text: string;
  actor: "maker" | "not_established";
  citations: string[];
  /** Of what is counted: how much there was in the month before and in this one. */
  change: { before: number | null; after: number } | null;
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
  }: { subject: ReportSubject; sources: Sources; series: TrafficMonth[]; texts: ReportTexts },
): TimelineItem {
  const now = series.find(({ month }) => month === action.month);
  const before = series.find(({ month }) => month === action.month - 1);
  const visits = now?.visits ?? null;
  const traffic_change = now === undefined || before === undefined ? null : now.visits - before.visits;
  const title = texts.action(action);
  // Two products of a category may do the same in one month.
  const product =
    subject.kind === "product" ? undefined : subject.products.find((each) => each.tool_id === action.tool_id);
  return {
    id: `action_${index + 1}`,
    month: formatMonth(action.month),
    kind: action.kind,
    product_id: action.tool_id,
    title: product === undefined ? title : texts.ofProduct(product.name, title),
    text: texts.visitsThen(visits, traffic_change),
    actor: namesActor(action.kind) ? "maker" : "not_established",
    citations: [sources.citeAction(action)],
    change: action.after === null ? null : { before: action.before, after: action.after },
    visits,
    traffic_change,
  };
}

/** What came with more visits than the month before had; that it caused them is not said. */
export const cameWithGrowth = ({ traffic_change }: TimelineItem): boolean =>
  traffic_change !== null && traffic_change > 0;

export type Strategy = {
  kind: StrategyKind;
  title: string;
  text: string;
  advice: string;
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
      text: texts.strategyText(items, items.filter(cameWithGrowth).length),
      advice: texts.strategyAdvice(kind, bestOf(items)),
      action_ids: items.map(({ id }) => id),
      citations: [...new Set(items.flatMap(({ citations }) => citations))],
    }))
    .sort((a, b) => b.action_ids.length - a.action_ids.length);
}

/** The action whose month gained most visits; null when none came with growth. */
function bestOf(items: readonly TimelineItem[]): TimelineItem | null {
  const gain = ({ traffic_change }: TimelineItem): number => traffic_change ?? 0;
  const best = items.filter(cameWithGrowth).sort((a, b) => gain(b) - gain(a))[0];
  return best ?? null;
}
