import type { DefaultSignal } from "./default-signal.js";

const MONTHS_EN = "Two consecutive monthly samples from the same source and method.";
const MONTHS_ZH = "同一来源、同一方法的连续两个月样本。";
const RANKING_EN = "Ranking of the tracked products of its primary market by monthly visits.";
const RANKING_ZH = "按月访问量对其主要市场中受跟踪产品的排名。";
const TERMS_EN = "The same terms, in both monthly samples.";
const TERMS_ZH = "两个月样本中均出现的相同关键词。";

/** Signals about visits, ranks, shares and searches. */
export const DEFAULT_TRAFFIC_SIGNALS = {
  traffic_breakout: {
    change: { direction: "up", before: 184_000, after: 421_000, unit: "visits" },
    days: "month",
    text: {
      en: [
        "{name}'s monthly visits broke out",
        "Visits to {name} rose from {before} to {after} in a month.",
        MONTHS_EN,
      ],
      "zh-CN": ["{name} 月访问量大幅上升", "{name} 的月访问量从 {before} 升至 {after}。", MONTHS_ZH],
    },
  },
  traffic_acceleration: {
    change: { direction: "up", before: 21_400, after: 46_900, unit: "visits_added" },
    days: "month",
    text: {
      en: ["{name} grows faster each month", "{name} added {after} visits, after {before} a month earlier.", MONTHS_EN],
      "zh-CN": ["{name} 增长加速", "{name} 本月新增 {after} 次访问，上月新增 {before} 次。", MONTHS_ZH],
    },
  },
  traffic_deceleration: {
    change: { direction: "down", before: 61_000, after: 24_500, unit: "visits_added" },
    days: "month",
    text: {
      en: [
        "{name} keeps growing, but by less",
        "{name} added {after} visits, after {before} a month earlier.",
        MONTHS_EN,
      ],
      "zh-CN": ["{name} 增长放缓", "{name} 仍在增长：本月新增 {after} 次访问，上月为 {before} 次。", MONTHS_ZH],
    },
  },
  entered_category_top_10: {
    change: { direction: "up", before: 14, after: 9, unit: "rank" },
    days: "month",
    text: {
      en: ["{name} entered the top 10 of its market", "{name} moved from rank {before} to rank {after}.", RANKING_EN],
      "zh-CN": ["{name} 进入所属市场前 10", "{name} 的排名从第 {before} 位升至第 {after} 位。", RANKING_ZH],
    },
  },
  entered_category_top_20: {
    change: { direction: "up", before: 27, after: 18, unit: "rank" },
    days: "month",
    text: {
      en: ["{name} entered the top 20 of its market", "{name} moved from rank {before} to rank {after}.", RANKING_EN],
      "zh-CN": ["{name} 进入所属市场前 20", "{name} 的排名从第 {before} 位升至第 {after} 位。", RANKING_ZH],
    },
  },
  dropped_out_of_category_top_10: {
    change: { direction: "down", before: 8, after: 13, unit: "rank" },
    days: "month",
    text: {
      en: ["{name} left the top 10 of its market", "{name} slipped from rank {before} to rank {after}.", RANKING_EN],
      "zh-CN": ["{name} 跌出所属市场前 10", "{name} 的排名从第 {before} 位降至第 {after} 位。", RANKING_ZH],
    },
  },
  market_share_shift: {
    change: { direction: "up", before: 0.064, after: 0.092, unit: "share" },
    days: "month",
    text: {
      en: [
        "{name}'s share of its market moved",
        "{name} received {after} of its market's visits, not {before}.",
        RANKING_EN,
      ],
      "zh-CN": ["{name} 的市场份额发生变化", "{name} 在主要市场的流量份额从 {before} 变为 {after}。", RANKING_ZH],
    },
  },
  ai_referral_breakout: {
    change: { direction: "up", before: 3900, after: 17_200, unit: "visits" },
    days: "month",
    text: {
      en: [
        "AI assistants send {name} many more visits",
        "Visits to {name} from AI assistants rose from {before} to {after}.",
        MONTHS_EN,
      ],
      "zh-CN": ["AI 助手为 {name} 带来的访问激增", "来自 AI 助手的访问从 {before} 升至 {after}。", MONTHS_ZH],
    },
  },
  ai_traffic_share_shift: {
    change: { direction: "up", before: 0.061, after: 0.137, unit: "share" },
    days: "month",
    text: {
      en: [
        "More of {name}'s traffic comes from AI assistants",
        "Their share of the visits to {name} went from {before} to {after}.",
        MONTHS_EN,
      ],
      "zh-CN": ["{name} 的 AI 流量占比变化", "来自 AI 助手的流量占比从 {before} 变为 {after}。", MONTHS_ZH],
    },
  },
  new_ai_referral_source: {
    change: { direction: "up", before: 0, after: 640, unit: "visits" },
    days: "month",
    text: {
      en: [
        "A new AI platform sends visits to {name}",
        "{name} received {after} visits from an AI platform that had sent it none.",
        "No visit from that platform in the months before.",
      ],
      "zh-CN": [
        "新的 AI 平台开始为 {name} 带来流量",
        "{name} 从一个此前没有流量的 AI 平台获得 {after} 次访问。",
        "此前数月该平台没有带来任何访问。",
      ],
    },
  },
  ai_referral_sources_diversified: {
    change: { direction: "up", before: 3, after: 6, unit: "platforms" },
    days: "month",
    text: {
      en: ["{after} AI platforms now send visits to {name}", "A month earlier there were {before} of them.", MONTHS_EN],
      "zh-CN": ["现有 {after} 个 AI 平台为 {name} 带来流量", "一个月前为 {before} 个。", MONTHS_ZH],
    },
  },
  organic_keyword_breakout: {
    change: { direction: "up", before: 2100, after: 8300, unit: "visits" },
    days: "month",
    text: {
      en: [
        "One keyword brings {name} far more visits",
        "Estimated visits from the same non-brand keyword rose from {before} to {after}.",
        TERMS_EN,
      ],
      "zh-CN": ["某关键词为 {name} 带来的访问激增", "同一非品牌词的预估访问从 {before} 升至 {after}。", TERMS_ZH],
    },
  },
  brand_search_growth: {
    change: { direction: "up", before: 40_500, after: 60_500, unit: "searches" },
    days: "month",
    text: {
      en: [
        "More people search for {name} by name",
        "Branded searches rose from {before} to {after} a month.",
        TERMS_EN,
      ],
      "zh-CN": ["{name} 的品牌搜索量上升", "品牌词月搜索量从 {before} 升至 {after}。", TERMS_ZH],
    },
  },
} as const satisfies Record<string, DefaultSignal>;
