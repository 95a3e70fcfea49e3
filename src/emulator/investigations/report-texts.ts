import type { ServiceLocale } from "../../api/locale.js";
import { fillText, type TextValues } from "../market/format-values.js";

/** A text of a report in both languages, with placeholders. */
export type Text = readonly [en: string, zh: string];

/** Says a text in the report's language. */
export type Say = (text: Text, values?: TextValues) => string;

export const sayIn =
  (locale: ServiceLocale): Say =>
  ([english, chinese], values = {}) =>
    locale === "en" ? fillText("en", english, values) : fillText("zh", chinese, values);

/** Each channel's name, and the advice where it gained most share. */
export const CHANNEL_TEXTS = {
  organic: {
    name: ["Organic search", "自然搜索"],
    advice: [
      "Keep the pages that rank up to date, and add pages for the searches below.",
      "保持已有排名的页面更新，并针对下文的搜索词补充页面。",
    ],
  },
  paid: {
    name: ["Paid traffic", "付费"],
    advice: [
      "Before spending more, compare the cost of a paid visit with what it earns.",
      "增加投放之前，先比较每次付费访问的成本与收益。",
    ],
  },
  ai_referral: {
    name: ["AI assistants", "AI助手"],
    advice: [
      "Find out which questions lead assistants here, and answer those questions on pages of your own.",
      "了解哪些问题会让AI助手提到这里，并为这些问题撰写页面。",
    ],
  },
  direct: {
    name: ["Direct visits", "直接访问"],
    advice: [
      "Visitors come by name: make what they return for easy to find.",
      "用户直接前来：让他们常用的内容更容易找到。",
    ],
  },
} as const satisfies Record<string, { name: Text; advice: Text }>;

/** What actions are summed up as: the title, and the advice for the action with the most growth. */
export const STRATEGY_TEXTS = {
  product: {
    title: ["Product news", "产品发布"],
    next: ["Announce the next release in the same places.", "下次发布可沿用同样的公告渠道。"],
  },
  pricing: {
    title: ["Plans and prices", "套餐与价格"],
    next: ["Test such a change with new customers first.", "此类调整可先对新用户测试。"],
  },
  ai_visibility: {
    title: ["Visibility in AI assistants", "AI助手中的可见度"],
    next: ["Check which assistants send no visits yet.", "查看哪些AI助手尚未带来访问。"],
  },
  paid_acquisition: {
    title: ["Paid acquisition", "付费获客"],
    next: [
      "Repeat it with a fixed budget, and stop where visits do not follow.",
      "以固定预算重复，没有带来访问的就停止。",
    ],
  },
  earned_attention: {
    title: ["Press, directories and links", "报道、导航站与外链"],
    next: ["Offer your next news to the same places.", "把下一条消息提供给同样的媒体与站点。"],
  },
  website: {
    title: ["Website and positioning", "网站与定位"],
    next: ["Add pages step by step, and see which ones are visited.", "逐步增加页面，并观察哪些页面有人访问。"],
  },
} as const satisfies Record<string, { title: Text; next: Text }>;
export type StrategyKind = keyof typeof STRATEGY_TEXTS;

/** The text of a phase of traffic, by its direction. */
export const PHASE_TEXTS = {
  up: ["Visits rose from {start} to {end} ({change}).", "{start}至{end}流量上升（{change}）。"],
  down: ["Visits fell from {start} to {end} ({change}).", "{start}至{end}流量下降（{change}）。"],
  flat: [
    "Visits changed little from month to month between {start} and {end} ({change} in all).",
    "{start}至{end}流量逐月变化不大（共{change}）。",
  ],
} as const satisfies Record<string, Text>;

/** The other texts of a report. */
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
    "Dated public changes are compared with the monthly traffic of the tracked sample.",
    "将有日期的公开变化与样本的月度流量对照。",
  ],
  of_product: ["{product}: {text}", "{product}：{text}"],
  visits_unknown: ["Its visits in this month were not observed.", "当月未观测到访问量。"],
  visits_first: [
    "It had {visits} visits in this month; the month before was not observed.",
    "当月访问{visits}次，上个月没有观测。",
  ],
  visits_more: [
    "It had {visits} visits in this month, {change} more than in the month before.",
    "当月访问{visits}次，比上个月多{change}次。",
  ],
  visits_fewer: [
    "It had {visits} visits in this month, {change} fewer than in the month before.",
    "当月访问{visits}次，比上个月少{change}次。",
  ],
  visits_same: [
    "It had {visits} visits in this month, as many as in the month before.",
    "当月访问{visits}次，与上个月持平。",
  ],
  channel_share: [
    "{channel}: {before} of the visits in {first}, {now} in {last}.",
    "{channel}：{first}占访问量的{before}，{last}占{now}。",
  ],
  traffic_section: ["Where visits come from", "访问从何而来"],
  no_channel_gained: [
    "No channel gained share: look for one that is not used yet.",
    "没有渠道的占比上升：可寻找尚未使用的渠道。",
  ],
  strategy_text: [
    "{count} dated {count?change|changes} of this kind. Latest: {latest}. Visits rose in the same month in {grew} of {count} {count?case|cases}.",
    "此类有日期的变化共{count}项，最近的有：{latest}。其中{grew}项当月访问量上升。",
  ],
  strategy_item: ["{title} ({month})", "{title}（{month}）"],
  strategy_open: [
    "Visits rose in none of these months. Try such a change on a small scale first, and measure it.",
    "这些变化当月访问量均未上升：照做之前，先小规模尝试并衡量效果。",
  ],
  strategy_best: [
    "The largest rise, by {gain} {gain?visit|visits}, came in the month of this change: {title} ({month}). {next}",
    "当月访问量增加最多（{gain}次）的一项：{title}（{month}）。{next}",
  ],
  search_section: ["What people search for", "人们搜索什么"],
  search_text: [
    "Searches that brought the most visits in the latest month: {searches}.",
    "最近一个月带来访问最多的搜索词：{searches}。",
  ],
  search_item: ["“{keyword}” ({traffic})", "“{keyword}”（{traffic}次）"],
  search_advice: [
    "Check which pages “{keyword}” leads to, and which other products receive its visits.",
    "查看“{keyword}”指向哪些页面，以及还有哪些产品获得它的流量。",
  ],
  lead: ["Visits from the search “{keyword}”", "来自搜索词“{keyword}”的访问"],
  unresolved: [
    "It is open whether this change moved traffic: {title} ({month}).",
    "这一变化是否影响流量尚不明确：{title}（{month}）。",
  ],
  conclusion: [
    "The report lists {actions} dated {actions?change|changes} and {phases} {phases?phase|phases} in the traffic of {name}. What caused what is not established.",
    "报告列出{name}的{actions}项有日期的变化，流量分为{phases}个阶段；因果关系未能确立。",
  ],
  limits_tracked: [
    "The report covers only tracked products and observed months.",
    "仅涵盖被跟踪的产品和已观测的月份。",
  ],
  limits_estimates: ["Visits are estimates from a sample.", "访问量为样本估计值。"],
  limits_category: [
    "Dated changes and searches are only those of the largest products: {products}.",
    "有日期的变化与搜索词仅限最大的产品：{products}。",
  ],
  caveat: ["One event after another does not prove that the first caused the second.", "先后发生并不等于因果关系。"],
  sentence_gap: [" ", ""],
  list_gap: [", ", "、"],
  item_gap: ["; ", "；"],
} as const satisfies Record<string, Text>;
