import { count } from "../market/format-values.js";
import type { ActionKind, PromotionAction } from "./promotion-actions.js";
import type { ReportTexts } from "./report-texts.js";
import type { Channel } from "./traffic-series.js";

/** What came to what there was before. */
const added = ({ before, after }: PromotionAction): string => count((after ?? 0) - (before ?? 0));

const ACTIONS: Record<ActionKind, (action: PromotionAction) => string> = {
  launch: ({ name_zh }) => `宣布 ${name_zh} 正式上线`,
  feature: ({ name_zh }) => `推出功能：${name_zh}`,
  model: ({ name_zh }) => `推出模型：${name_zh}`,
  api: ({ name_zh }) => `开放 API：${name_zh}`,
  mcp: ({ name_zh }) => `支持 MCP：${name_zh}`,
  plan: ({ name_zh }) => `推出套餐：${name_zh}`,
  price: ({ name_zh }) => `调整套餐：${name_zh}`,
  ai_source: ({ name_zh }) => `首次获得来自 ${name_zh} 的访问`,
  search_ads: () => "开始投放搜索广告",
  creatives: ({ before, after }) => `广告素材由 ${count(before ?? 0)} 种增至 ${count(after ?? 0)} 种`,
  articles: ({ after }) => `获得 ${count(after ?? 0)} 篇报道或评测`,
  directories: (action) => `新登上 ${added(action)} 个 AI 导航站`,
  links: (action) => `新增 ${added(action)} 个外链网站`,
  pages: (action) => `站点地图新增 ${added(action)} 个页面`,
  positioning: () => "更换首页标语",
};

const CHANNEL: Record<Channel, string> = {
  organic: "自然搜索",
  paid: "付费",
  ai_referral: "AI 助手",
  direct: "直接访问",
};

const BUILD_ON: Record<Channel, string> = {
  organic: "保持已有排名的页面更新，并针对下文的搜索词补充页面。",
  paid: "增加投放之前，先比较每次付费访问的成本与收益。",
  ai_referral: "了解 AI 助手在回答哪些问题时提到该产品，并为这些问题撰写页面。",
  direct: "用户直接前来：让他们常用的内容更容易找到。",
};

export const REPORT_TEXTS_ZH: ReportTexts = {
  title: (name) => `${name} 的推广历程`,
  overview: (name, first, last, from, to) =>
    `${name} 在 ${first} 的访问量为 ${count(from)}，在 ${last} 为 ${count(to)}。`,
  betweenSentences: "",
  method: "将有日期的公开变化与样本的月度流量对照。",
  action: (action) => ACTIONS[action.kind](action),
  ofProduct: (product, title) => `${product}：${title}`,
  visitsThen: (visits, change) => {
    if (visits === null) return "当月未观测到访问量。";
    if (change === null) return `当月访问 ${count(visits)} 次，上个月没有观测。`;
    if (change === 0) return `当月访问 ${count(visits)} 次，与上个月持平。`;
    return `当月访问 ${count(visits)} 次，比上个月${change > 0 ? "多" : "少"} ${count(Math.abs(change))} 次。`;
  },
  source: (kind, product) => {
    const said = {
      announcements: "官方公告",
      changelog: "更新日志",
      pricing: "价格页",
      docs: "文档",
      homepage: "首页",
      sitemap: "站点地图",
      ads: "广告库记录",
      media: "报道与评测",
      directories: "AI 导航站收录",
      links: "外链索引",
      traffic: "月度流量样本",
      searches: "搜索关键词样本",
    };
    return `${product}：${said[kind]}`;
  },
  phase: (direction, from, to, change) => {
    const said = { up: "上升", down: "下降", flat: "持平" };
    return `${from} 至 ${to} 流量${said[direction]}（${change}）。`;
  },
  channel: CHANNEL,
  channelShare: (channel, before, now) => `${channel}：起初占访问量的 ${before}，最近占 ${now}。`,
  trafficSection: "访问从何而来",
  channelAdvice: (channel, isGain) => (isGain ? BUILD_ON[channel] : "没有渠道的占比上升：可寻找尚未使用的渠道。"),
  strategy: {
    product: "产品发布",
    pricing: "套餐与价格",
    ai_visibility: "AI 助手中的可见度",
    paid_acquisition: "付费获客",
    earned_attention: "报道、导航站与外链",
    website: "网站与定位",
  },
  strategyText: (items, grew) => {
    const latest = items.slice(-3).map(({ title, month }) => `${title}（${month}）`);
    return `此类有日期的变化共 ${count(items.length)} 项，最近的有：${latest.join("；")}。其中 ${count(grew)} 项当月访问量上升。`;
  },
  strategyAdvice: (kind, best) => {
    if (best === null) return "这些变化当月访问量均未上升：照做之前，先小规模尝试并衡量效果。";
    const next = {
      product: "下次发布可沿用同样的公告渠道",
      pricing: "此类调整可先对新用户测试",
      ai_visibility: "查看哪些 AI 助手尚未带来访问",
      paid_acquisition: "以固定预算重复，没有带来访问的就停止",
      earned_attention: "把下一条消息提供给同样的媒体与站点",
      website: "逐步增加页面，并观察哪些页面有人访问",
    };
    return `先看访问量增加最多的一项“${best.title}”（${best.month}，比上个月多 ${count(best.traffic_change ?? 0)} 次）：${next[kind]}。`;
  },
  searchSection: "人们搜索什么",
  searchText: (leads) => {
    const said = leads.map(({ keyword, traffic }) => `“${keyword}”（${count(traffic)} 次）`);
    return `最近一个月带来访问最多的搜索词：${said.join("、")}。`;
  },
  searchAdvice: (keyword) => `查看“${keyword}”指向哪些页面，以及还有谁获得它的流量。`,
  unresolved: (title, month) => `这一变化是否影响流量尚不明确：${title}（${month}）。`,
  lead: (keyword) => `来自搜索词“${keyword}”的访问`,
  conclusion: (name, actions, phases) =>
    `${name} 有 ${count(actions)} 项有日期的变化，流量分为 ${count(phases)} 个阶段；因果关系未能确立。`,
  limitations: ["仅涵盖被跟踪的产品和月份。", "访问量为样本估计值。"],
  caveat: "先后发生并不等于因果关系。",
};
