import type { ServiceLocale } from "../../api/locale.js";
import { fillText, type Text, type TextValues } from "../market/format-values.js";
import type { StrategyKind } from "../market/signals/signal-table.js";

/** Fills a text in the report's language. */
export type Fill = (text: Text, values?: TextValues) => string;

export const fillIn =
  (locale: ServiceLocale): Fill =>
  (text, values = {}) =>
    fillText(locale, text, values);

export const CHANNEL_NAMES = {
  organic: ["Organic search", "自然搜索"],
  paid: ["Paid traffic", "付费"],
  ai_referral: ["AI assistants", "AI助手"],
  direct: ["Direct visits", "直接访问"],
} as const satisfies Record<string, Text>;

/** The title that the actions of a strategy share. */
export const STRATEGY_TITLES: Readonly<Record<StrategyKind, Text>> = {
  product: ["Product news", "产品发布"],
  pricing: ["Plans and prices", "套餐与价格"],
  advertising: ["Advertising", "广告投放"],
  attention: ["Press, directories, links and assistants", "报道、导航站、外链与AI助手"],
  website: ["Website and positioning", "网站与定位"],
};

/** All other texts of a report. */
export const TEXTS = {
  title_product: ["How {name} was promoted", "{name}的推广历程"],
  title_category: ["How the products of {name} were promoted", "{name}类产品的推广历程"],
  overview_product: [
    "{name} had {from} visits in {first} and {to} in {last}.",
    "{name}在{first}的访问量为{from}，在{last}为{to}。",
  ],
  overview_category: [
    "The {products} products of {name} in the latest ranking together had {from} visits in {first} and {to} in {last}.",
    "最新榜单中{name}类的{products}个产品，{first}的总访问量为{from}，{last}为{to}。",
  ],
  method: [
    "The report compares dated public changes with the monthly traffic of the tracked sample.",
    "将有日期的公开变化与样本的月度流量对照。",
  ],
  phase: ["Visits changed by {change} between {start} and {end}.", "{start}至{end}访问量变化{change}。"],
  traffic_section: ["Where visits come from", "访问从何而来"],
  traffic_advice: [
    "Find the channel that gained the largest share of the visits, and find out why.",
    "找出占比上升最多的渠道，并了解其原因。",
  ],
  strategy_text: [
    "{count} dated {count?change|changes} of this kind. Visits rose in the same month in {grew} of {count} {count?case|cases}.",
    "此类有日期的变化共{count}项，其中{grew}项当月访问量上升。",
  ],
  strategy_advice: [
    "Try such a change on a small scale first, and measure its effect.",
    "先小规模尝试此类变化，并衡量效果。",
  ],
  lead: ["Visits from the search “{keyword}”", "来自搜索词“{keyword}”的访问"],
  unresolved: [
    "Whether this change affected traffic is not known: {title} ({month}).",
    "这一变化是否影响流量尚不明确：{title}（{month}）。",
  ],
  conclusion: [
    "The report lists {actions} dated {actions?change|changes} and {phases} {phases?phase|phases} in the traffic of {name}. It does not establish causes.",
    "报告列出{name}的{actions}项有日期的变化，流量分为{phases}个阶段；因果关系未能确立。",
  ],
  limits_tracked: [
    "The report covers only tracked products and observed months.",
    "仅涵盖被跟踪的产品和已观测的月份。",
  ],
  limits_estimates: ["Visits are estimates from a sample.", "访问量为样本估计值。"],
  limits_category: [
    "Dated changes and searches cover only the largest products: {products}.",
    "有日期的变化与搜索词仅限最大的产品：{products}。",
  ],
  caveat: [
    "If a change comes before growth, that does not prove that it caused the growth.",
    "先后发生并不等于因果关系。",
  ],
  sentence_gap: [" ", ""],
  list_gap: [", ", "、"],
} as const satisfies Record<string, Text>;
