import type { DefaultSignal } from "./default-signal.js";

const PRICING_EN = "Two captures of the pricing page from the same region.";
const PRICING_ZH = "同一地区两次抓取的定价页面。";
const OFFICIAL_EN = "A post on the official site and the changelog.";
const OFFICIAL_ZH = "官方网站公告及更新日志。";

/** Signals about prices, plans and what a product offers. */
export const DEFAULT_OFFER_SIGNALS = {
  price_increased: {
    change: { direction: "up", before: 24, after: 29, unit: "usd_per_month" },
    days: 2,
    text: {
      en: ["{name} raised a price", "The same plan of {name} costs ${after} a month now, not ${before}.", PRICING_EN],
      "zh-CN": ["{name} 涨价", "{name} 的同一套餐月费从 {before} 美元升至 {after} 美元。", PRICING_ZH],
    },
  },
  price_decreased: {
    change: { direction: "down", before: 49, after: 39, unit: "usd_per_month" },
    days: 2,
    text: {
      en: ["{name} cut a price", "The same plan of {name} costs ${after} a month now, not ${before}.", PRICING_EN],
      "zh-CN": ["{name} 降价", "{name} 的同一套餐月费从 {before} 美元降至 {after} 美元。", PRICING_ZH],
    },
  },
  free_plan_added: {
    change: { direction: "up", before: 0, after: 1, unit: "free_plans" },
    days: 3,
    text: {
      en: ["{name} can be used free of charge", "{name} lists a free plan beside those that cost money.", PRICING_EN],
      "zh-CN": ["{name} 推出免费套餐", "{name} 在付费套餐之外新增了免费套餐。", PRICING_ZH],
    },
  },
  free_plan_removed: {
    change: { direction: "down", before: 1, after: 0, unit: "free_plans" },
    days: 3,
    text: {
      en: [
        "{name} dropped its free plan",
        "New customers of {name} have to choose a plan that costs money.",
        PRICING_EN,
      ],
      "zh-CN": ["{name} 取消免费套餐", "{name} 的新用户需选择付费套餐。", PRICING_ZH],
    },
  },
  pricing_model_changed: {
    change: { direction: "changed", before: 39, after: 0.08, unit: "usd_per_month", unitAfter: "usd_per_minute" },
    days: 2,
    text: {
      en: [
        "{name} charges by usage instead of by the month",
        "A minute costs ${after} now; a flat month cost ${before}.",
        PRICING_EN,
      ],
      "zh-CN": ["{name} 改变主要收费方式", "由每月 {before} 美元改为每分钟 {after} 美元。", PRICING_ZH],
    },
  },
  trial_changed: {
    change: { direction: "changed", before: 14, after: 7, unit: "days" },
    days: 2,
    text: {
      en: ["{name} changed its trial", "The trial of {name} lasts {after} days, not {before}.", PRICING_EN],
      "zh-CN": ["{name} 调整试用规则", "{name} 的试用期从 {before} 天变为 {after} 天。", PRICING_ZH],
    },
  },
  enterprise_plan_introduced: {
    change: { direction: "up", before: 0, after: 1, unit: "enterprise_plans" },
    days: 3,
    text: {
      en: ["{name} now has an enterprise plan", "It is the first one of {name}; its price is on request.", PRICING_EN],
      "zh-CN": ["{name} 推出企业版套餐", "这是 {name} 的首个企业版套餐，价格需咨询。", PRICING_ZH],
    },
  },
  new_feature: {
    change: { direction: "up", before: 0, after: 1, unit: "features" },
    days: 1,
    text: {
      en: ["{name} has a new feature", "The maker of {name} introduced a feature that it did not have.", OFFICIAL_EN],
      "zh-CN": ["{name} 发布新功能", "{name} 官方介绍了一项新功能。", OFFICIAL_ZH],
    },
  },
  new_model: {
    change: { direction: "up", before: 0, after: 1, unit: "models" },
    days: 1,
    text: {
      en: ["{name} introduced a new model", "The maker of {name} announced a model and its prices.", OFFICIAL_EN],
      "zh-CN": ["{name} 发布新模型", "{name} 官方公布了新模型及其价格。", OFFICIAL_ZH],
    },
  },
  api_added: {
    change: { direction: "up", before: 0, after: 1, unit: "apis" },
    days: 3,
    text: {
      en: ["{name} now offers an API", "The site of {name} documents an API with keys and limits.", OFFICIAL_EN],
      "zh-CN": ["{name} 开放 API", "{name} 网站提供了含密钥与限额说明的 API 文档。", OFFICIAL_ZH],
    },
  },
  mcp_added: {
    change: { direction: "up", before: 0, after: 1, unit: "mcp_servers" },
    days: 3,
    text: {
      en: ["{name} now supports MCP", "The site of {name} describes a remote MCP server.", OFFICIAL_EN],
      "zh-CN": ["{name} 支持 MCP", "{name} 网站介绍了远程 MCP 服务。", OFFICIAL_ZH],
    },
  },
  product_launch: {
    change: { direction: "up", before: 0, after: 1, unit: "products" },
    days: 1,
    text: {
      en: ["{name} has launched", "The maker of {name} announced that it is open to everyone.", OFFICIAL_EN],
      "zh-CN": ["{name} 正式发布", "{name} 官方宣布向所有人开放。", OFFICIAL_ZH],
    },
  },
  product_discontinued: {
    change: { direction: "down", before: 1, after: 0, unit: "products" },
    days: 1,
    text: {
      en: ["{name} is no longer offered", "The maker of {name} says on its site that it has ended.", OFFICIAL_EN],
      "zh-CN": ["{name} 停止服务", "{name} 官方确认不再提供该产品。", OFFICIAL_ZH],
    },
  },
} as const satisfies Record<string, DefaultSignal>;
