import type { DefaultSignal } from "./default-signal.js";

const CHECKED_EN = "Each page was checked; copies are not counted.";
const CHECKED_ZH = "逐页核查，重复内容不计。";
const ADS_EN = "Public ads libraries, the same countries in both weeks.";
const ADS_ZH = "公开广告库，两周覆盖相同国家。";
const SITEMAP_EN = "Two captures of the public sitemap, redirects left out.";
const SITEMAP_ZH = "两次抓取的公开站点地图，不含重定向。";
const SITE_EN = "Two captures of the site.";
const SITE_ZH = "两次抓取的网站内容。";

/** Signals about links, media, ads, sites and users. */
export const DEFAULT_REACH_SIGNALS = {
  backlink_acquisition_spike: {
    change: { direction: "up", before: 40, after: 215, unit: "domains" },
    days: 7,
    text: {
      en: [
        "{after} websites began to link to {name} in a week",
        "In a usual week {name} gains {before} linking websites.",
        "Linking domains first seen in that week, spam left out.",
      ],
      "zh-CN": [
        "一周内有 {after} 个网站开始链接到 {name}",
        "{name} 平常每周新增 {before} 个链接网站。",
        "该周首次发现的链接域名，已剔除垃圾站点。",
      ],
    },
  },
  ai_directory_push: {
    change: { direction: "up", before: 2, after: 9, unit: "directories" },
    days: 10,
    text: {
      en: ["{name} turned up in {after} AI directories", "Ten days earlier there were {before} of them.", CHECKED_EN],
      "zh-CN": ["{name} 已被 {after} 个 AI 目录收录", "十天前为 {before} 个。", CHECKED_ZH],
    },
  },
  media_review_burst: {
    change: { direction: "up", before: 1, after: 6, unit: "articles" },
    days: 5,
    text: {
      en: ["{after} articles about {name} in five days", "There were {before} in the five days before.", CHECKED_EN],
      "zh-CN": ["五天内出现 {after} 篇关于 {name} 的报道", "此前五天为 {before} 篇。", CHECKED_ZH],
    },
  },
  search_ads_started: {
    change: { direction: "up", before: 0, after: 23, unit: "ads" },
    days: 7,
    text: {
      en: ["{name} began to run search ads", "{after} were seen in a week, after months without any.", ADS_EN],
      "zh-CN": ["{name} 开始投放搜索广告", "数月未见投放后，一周内发现 {after} 条广告。", ADS_ZH],
    },
  },
  ad_creative_expansion: {
    change: { direction: "up", before: 16, after: 58, unit: "creatives" },
    days: 7,
    text: {
      en: ["{name} runs many more ad creatives", "{name} ran {after} of them, after {before} a week before.", ADS_EN],
      "zh-CN": ["{name} 广告素材大幅增加", "广告素材从 {before} 个增至 {after} 个。", ADS_ZH],
    },
  },
  positioning_shift: {
    change: { direction: "changed", before: 1, after: 0.38, unit: "wording_share" },
    days: 7,
    text: {
      en: ["{name} presents itself as something else", "Headline and main value of its homepage changed.", SITE_EN],
      "zh-CN": ["{name} 调整定位", "首页标题与核心价值表述发生明显变化。", SITE_ZH],
    },
  },
  website_sitemap_expansion: {
    change: { direction: "up", before: 1250, after: 3900, unit: "urls" },
    days: "month",
    text: {
      en: [
        "{name}'s sitemap grew",
        "It lists {after} indexable addresses, after {before} a month earlier.",
        SITEMAP_EN,
      ],
      "zh-CN": ["{name} 站点地图扩大", "可索引地址从 {before} 个增至 {after} 个。", SITEMAP_ZH],
    },
  },
  website_sitemap_contraction: {
    change: { direction: "down", before: 8400, after: 2100, unit: "urls" },
    days: "month",
    text: {
      en: ["{name}'s sitemap shrank", "Of {before} indexable addresses, {after} are left.", SITEMAP_EN],
      "zh-CN": ["{name} 站点地图缩小", "可索引地址从 {before} 个减至 {after} 个。", SITEMAP_ZH],
    },
  },
  programmatic_seo_expansion: {
    change: { direction: "up", before: 320, after: 4800, unit: "urls" },
    days: "month",
    text: {
      en: [
        "{name} published many pages of one pattern",
        "They went from {before} to {after}. Whether they are indexed or visited is not known.",
        SITEMAP_EN,
      ],
      "zh-CN": [
        "{name} 大量新增同类页面",
        "同一结构的页面从 {before} 个增至 {after} 个，是否被收录或访问尚不清楚。",
        SITEMAP_ZH,
      ],
    },
  },
  new_market_pages: {
    change: { direction: "up", before: 12, after: 168, unit: "urls" },
    days: "month",
    text: {
      en: [
        "{name} added pages for other languages or regions",
        "{after} addresses have such paths, after {before}. That is no proof of a first entry into a market.",
        SITEMAP_EN,
      ],
      "zh-CN": [
        "{name} 新增面向其他语言或地区的页面",
        "此类地址从 {before} 个增至 {after} 个，并不代表首次进入该市场。",
        SITEMAP_ZH,
      ],
    },
  },
  browser_extension_user_growth: {
    change: { direction: "up", before: 52_000, after: 91_000, unit: "users" },
    days: 7,
    text: {
      en: [
        "{name}'s browser extension gained users",
        "It has {after} of them, after {before} a week earlier.",
        "The public user counts of an extension store.",
      ],
      "zh-CN": ["{name} 浏览器扩展用户增长", "用户数从 {before} 增至 {after}。", "扩展商店公布的用户数。"],
    },
  },
  primary_domain_changed: {
    change: { direction: "changed", before: 0, after: 0.97, unit: "share" },
    days: 3,
    text: {
      en: [
        "{name} moved to another domain",
        "{after} of the checked addresses on the former domain redirect for good.",
        SITE_EN,
      ],
      "zh-CN": ["{name} 更换主域名", "原域名下 {after} 的抽查地址已永久重定向。", SITE_ZH],
    },
  },
} as const satisfies Record<string, DefaultSignal>;
