import type { ServiceLocale } from "../../api/locale.js";
import type { PromotionAction } from "./promotion-actions.js";
import type { Channel, TrafficPhase } from "./traffic-series.js";

/** What a report says, in one language; the figures come from the data. */
export interface ReportTexts {
  title(name: string): string;
  overview(name: string, first: string, last: string, from: number, to: number): string;
  method: string;
  action(action: PromotionAction): string;
  phase(phase: TrafficPhase["direction"], from: string, to: string, change: string): string;
  channel: Record<Channel, string>;
  channelShare(channel: string, before: string, now: string): string;
  strategy: Record<StrategyKind, string>;
  unresolved(title: string, month: string): string;
  lead(kind: string): string;
  conclusion(name: string, actions: number, phases: number): string;
  limitations: readonly string[];
  caveat: string;
}

/** What actions can be summed up as. */
export type StrategyKind = "product" | "pricing" | "ai_visibility" | "paid_acquisition";

export const STRATEGY_OF: Record<PromotionAction["kind"], StrategyKind> = {
  feature: "product",
  model: "product",
  api: "product",
  mcp: "ai_visibility",
  plan: "pricing",
  price: "pricing",
  ai_source: "ai_visibility",
  search_ads: "paid_acquisition",
};

const en: ReportTexts = {
  title: (name) => `How ${name} was promoted`,
  overview: (name, first, last, from, to) =>
    `${name} had ${from.toLocaleString("en-US")} visits in ${first} and ${to.toLocaleString("en-US")} in ${last}.`,
  method: "Dated public changes were put beside the monthly traffic of the tracked sample.",
  action: ({ kind, name_en }) => {
    const said: Record<PromotionAction["kind"], string> = {
      feature: `Introduced the feature ${name_en}`,
      model: `Introduced the model ${name_en}`,
      api: `Offered an API: ${name_en}`,
      mcp: `Offered MCP support: ${name_en}`,
      plan: `Introduced the plan ${name_en}`,
      price: `Changed the terms of the plan ${name_en}`,
      ai_source: `Received first visits from ${name_en}`,
      search_ads: "Started search ads",
    };
    return said[kind];
  },
  phase: (direction, from, to, change) => {
    const said = { up: "grew", down: "shrank", flat: "stayed level" };
    return `Traffic ${said[direction]} from ${from} to ${to} (${change}).`;
  },
  channel: { organic: "Organic search", paid: "Paid", ai_referral: "AI assistants", direct: "Direct" },
  channelShare: (channel, before, now) => `${channel}: ${before} of visits at first, ${now} at last.`,
  strategy: {
    product: "Product releases",
    pricing: "Plans and prices",
    ai_visibility: "Visibility in AI assistants",
    paid_acquisition: "Paid acquisition",
  },
  unresolved: (title, month) => `Whether this moved traffic is open: ${title} (${month}).`,
  lead: (kind) => `Background on: ${kind}`,
  conclusion: (name, actions, phases) =>
    `${name} shows ${actions} dated changes over ${phases} phases of traffic; what caused what is not established.`,
  limitations: ["Only tracked products and months are looked at.", "Visits are estimates of a sample."],
  caveat: "That one thing came after another does not show that it came from it.",
};

const zh: ReportTexts = {
  title: (name) => `${name} 的推广历程`,
  overview: (name, first, last, from, to) =>
    `${name} 在 ${first} 的访问量为 ${from.toLocaleString("en-US")}，在 ${last} 为 ${to.toLocaleString("en-US")}。`,
  method: "将有日期的公开变化与样本的月度流量对照。",
  action: ({ kind, name_zh }) => {
    const said: Record<PromotionAction["kind"], string> = {
      feature: `推出功能：${name_zh}`,
      model: `推出模型：${name_zh}`,
      api: `开放 API：${name_zh}`,
      mcp: `支持 MCP：${name_zh}`,
      plan: `推出套餐：${name_zh}`,
      price: `调整套餐：${name_zh}`,
      ai_source: `首次获得来自 ${name_zh} 的访问`,
      search_ads: "开始投放搜索广告",
    };
    return said[kind];
  },
  phase: (direction, from, to, change) => {
    const said = { up: "上升", down: "下降", flat: "持平" };
    return `${from} 至 ${to} 流量${said[direction]}（${change}）。`;
  },
  channel: { organic: "自然搜索", paid: "付费", ai_referral: "AI 助手", direct: "直接访问" },
  channelShare: (channel, before, now) => `${channel}：起初占访问量的 ${before}，最近占 ${now}。`,
  strategy: {
    product: "产品发布",
    pricing: "套餐与价格",
    ai_visibility: "AI 助手中的可见度",
    paid_acquisition: "付费获客",
  },
  unresolved: (title, month) => `这一变化是否影响流量尚不明确：${title}（${month}）。`,
  lead: (kind) => `背景资料：${kind}`,
  conclusion: (name, actions, phases) =>
    `${name} 有 ${actions} 项有日期的变化，流量分为 ${phases} 个阶段；因果关系未能确立。`,
  limitations: ["仅涵盖被跟踪的产品和月份。", "访问量为样本估计值。"],
  caveat: "先后发生并不等于因果关系。",
};

export const REPORT_TEXTS: Record<ServiceLocale, ReportTexts> = { en, "zh-CN": zh };
