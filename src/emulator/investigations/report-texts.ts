import type { ServiceLocale } from "../../api/locale.js";
import { fillText, type Text, type TextValues } from "../market/format-values.js";
import type { StrategyKind } from "../market/signals/signal-table.js";
import type { Channel } from "./traffic-series.js";

/** Fills a text in the report's language. */
export type Fill = (text: Text, values?: TextValues) => string;

export const fillIn =
  (locale: ServiceLocale): Fill =>
  (text, values = {}) =>
    fillText(locale, text, values);

export const CHANNEL_NAMES: Readonly<Record<Channel, Text>> = {
  organic: ["Organic search", "自然搜索"],
  paid: ["Paid traffic", "付费流量"],
  ai_referral: ["AI assistants", "AI助手"],
  direct: ["Direct visits", "直接访问"],
};

/** The title that the actions of a strategy share. */
export const STRATEGY_TITLES: Readonly<Record<StrategyKind, Text>> = {
  product: ["Product news", "产品发布"],
  pricing: ["Plans and prices", "套餐与价格"],
  advertising: ["Advertising", "广告投放"],
  attention: ["Press, directories, links and AI assistants", "报道、导航站、外链与AI助手"],
  website: ["Website and positioning", "网站与定位"],
};

/** The advice for the channel that gained most, and for each strategy. `{leaders}` is the product, or the category's largest ones. */
export const ADVICE: Readonly<Record<Channel | StrategyKind, Text>> = {
  organic: ["See which searches lead to {leaders}.", "查看哪些搜索词通向{leaders}。"],
  paid: ["Work out what {leaders} may pay for a visit.", "估算{leaders}每次访问的广告成本。"],
  ai_referral: ["Ask AI assistants about {leaders} and check their sources.", "向AI助手询问{leaders}，看其引用来源。"],
  direct: ["Find out where people first hear of {leaders}.", "了解用户最初从哪里得知{leaders}。"],
  product: ["Before you follow {leaders}, ask your users what they miss.", "跟进{leaders}之前，先了解用户缺什么。"],
  pricing: ["Compare the plans of {leaders} with your own.", "将{leaders}的套餐与自己的比较。"],
  advertising: ["Test a message from the ads for {leaders} on a small budget.", "以小预算测试{leaders}的广告卖点。"],
  attention: ["Send your news to the sites that mention {leaders}.", "向提到{leaders}的网站提供自己的消息。"],
  website: ["Look for topics that only the pages of {leaders} cover.", "找出只有{leaders}的页面涉及的主题。"],
};

/** All other texts of a report. `{whole}` is the product, or all ranked products of the category. */
export const TEXTS = {
  title_product: ["How {name} was promoted", "{name}的推广历程"],
  title_category: ["How the products in {name} were promoted", "{name}类产品的推广历程"],
  whole_product: ["{name}", "{name}"],
  whole_category: ["the {products} products ranked in {name}", "{name}类榜单上{products}个产品"],
  leaders_product: ["{name}", "{name}"],
  leaders_category: ["the largest products in {name}", "{name}类头部产品"],
  visits: ["Visits", "访问量"],
  visits_of: ["Visits to {whole}", "{whole}的访问量"],
  moved_up: [
    "{visits} rose {rate}, from {from} in {start} to {to} in {end}.",
    "{visits}由{start}的{from}次增至{end}的{to}次，增长{rate}。",
  ],
  moved_down: [
    "{visits} fell {rate}, from {from} in {start} to {to} in {end}.",
    "{visits}由{start}的{from}次降至{end}的{to}次，下降{rate}。",
  ],
  moved_flat: [
    "{visits} hardly changed: {from} in {start}, {to} in {end}.",
    "{visits}基本持平：{start}为{from}次，{end}为{to}次。",
  ],
  timeline: [
    "The timeline lists {actions} {actions?change|changes} at {leaders}.",
    "{leaders}的时间线列出{actions}项变化。",
  ],
  coincided_never: ["No change coincided with a rise in visits.", "没有一项变化与访问量上升同月出现。"],
  coincided_sometimes: [
    "{grew} of {actions} changes coincided with a rise in visits.",
    "{actions}项变化中，有{grew}项与访问量上升同月出现。",
  ],
  coincided_always: [
    "{actions} {actions?change, which|changes, all of which} coincided with a rise in visits.",
    "变化共{actions}项，{actions?与|均与}访问量上升同月出现。",
  ],
  method: ["Dated public changes are compared with monthly visits.", "将日期明确的公开变化与月度访问量对照。"],
  traffic_section: ["Where visits come from", "访问来源"],
  traffic_text: [
    "{channel} gained most: {before} of the visits in {start}, {after} in {end}.",
    "{channel}占比上升最多：{start}为{before}，{end}为{after}。",
  ],
  lead: ['Visits from searches for "{keyword}"', "来自搜索词“{keyword}”的访问"],
  unresolved: ["{title} ({month}): did it affect visits?", "{title}（{month}）：是否影响了访问量？"],
  unexplained: ["What moved the traffic of {whole} is not known.", "{whole}流量变化的原因尚不明确。"],
  limits_product: ["Only public changes with a known date are listed.", "仅列出日期明确的公开变化。"],
  limits_category: [
    "Changes and searches cover only the largest products: {products}.",
    "变化与搜索词仅涵盖规模最大的产品：{products}。",
  ],
  limits_estimates: ["Visits are estimates from a sample.", "访问量为样本估计值。"],
  limits_months: ["Months that were not observed are left out.", "未观测的月份不计入。"],
  caveat: ["A rise in the same month does not prove that the change caused it.", "同月出现不等于因果关系。"],
  list_gap: [", ", "、"],
} as const satisfies Record<string, Text>;
