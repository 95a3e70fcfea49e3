import { count, percent, times } from "./format-values.js";
import { defineRule, type SignalRule } from "./signal-rule.js";

/** A count of product_presence_month in this month and the one before. */
const counted = (column: string): string => `SELECT l.tool_id, b.${column} AS before_value, l.${column} AS after_value
  FROM product_presence_month l JOIN product_presence_month b ON b.month = @month - 1 AND b.tool_id = l.tool_id
  WHERE l.month = @month`;

/** Signals about what is seen of a product outside its traffic. */
export const PRESENCE_RULES: readonly SignalRule[] = [
  defineRule({
    signalType: "backlink_acquisition_spike",
    sql: `SELECT l.tool_id, round((b.linking_domains - e.linking_domains) / 3.0) AS before_value,
        l.linking_domains - b.linking_domains AS after_value
      FROM product_month l
      JOIN product_month b ON b.month = @month - 1 AND b.tool_id = l.tool_id
      JOIN product_month e ON e.month = @month - 4 AND e.tool_id = l.tool_id
      WHERE l.month = @month AND after_value >= before_value * @backlinkSpikeFactor AND after_value >= @backlinkSpikeDomains`,
    unit: "domains",
    words: (row, { now }) => ({
      en: [
        `${count(row.after_value)} websites began to link to ${row.name} in ${now.en}`,
        `${row.name} gained ${count(row.after_value)} linking websites in ${now.en}; in the three months before it gained about ${count(row.before_value)} a month.`,
        `Linking domains of ${row.domain} first seen in the month; the value before is the mean of three months.`,
      ],
      zh: [
        `${now.zh}有${count(row.after_value)}个网站开始链接到${row.name}`,
        `${row.name}${now.zh}新增${count(row.after_value)}个外链网站，此前三个月平均每月约${count(row.before_value)}个。`,
        `${row.domain}当月首次出现的外链域名；之前的数值为三个月均值。`,
      ],
    }),
  }),
  defineRule({
    signalType: "ai_directory_push",
    sql: `${counted("directories")} AND after_value - before_value >= @directoriesAdded`,
    unit: "directories",
    words: (row, { now, before }) => ({
      en: [
        `${row.name} was listed in ${count(row.after_value - row.before_value)} more AI directories`,
        `${row.name} was listed by ${count(row.before_value)} verified AI directories in ${before.en} and by ${count(row.after_value)} in ${now.en}.`,
        "Directory pages checked one by one; copies of another directory are not counted.",
      ],
      zh: [
        `${row.name}新登上${count(row.after_value - row.before_value)}个AI导航站`,
        `收录${row.name}的已核实AI导航站从${before.zh}的${count(row.before_value)}个增至${now.zh}的${count(row.after_value)}个。`,
        "逐一核对导航站页面，转载不计。",
      ],
    }),
  }),
  defineRule({
    signalType: "media_review_burst",
    sql: `${counted("articles")} AND after_value >= @burstArticles AND after_value >= before_value * 3`,
    unit: "articles",
    words: (row, { now, before }) => ({
      en: [
        `${count(row.after_value)} outlets wrote about ${row.name} in ${now.en}`,
        `${row.name} got ${count(row.after_value)} independent articles or reviews in ${now.en}, after ${count(row.before_value)} in ${before.en}.`,
        "Press releases and reprints are left out.",
      ],
      zh: [
        `${now.zh}有${count(row.after_value)}家媒体报道${row.name}`,
        `${row.name}${now.zh}获得${count(row.after_value)}篇独立报道或评测，${before.zh}为${count(row.before_value)}篇。`,
        "新闻稿与转载不计。",
      ],
    }),
  }),
  defineRule({
    signalType: "search_ads_started",
    sql: `${counted("search_ads")} AND after_value > 0 AND before_value = 0 AND NOT EXISTS (
        SELECT 1 FROM product_presence_month e
        WHERE e.month BETWEEN @month - 3 AND @month - 2 AND e.tool_id = l.tool_id AND e.search_ads > 0)`,
    unit: "ads",
    words: (row, { now }) => ({
      en: [
        `${row.name} started running search ads`,
        `No search ads of ${row.name} were seen in the three months before; ${count(row.after_value)} were seen in ${now.en}.`,
        "Ads library of one search engine, brand and non-brand terms.",
      ],
      zh: [
        `${row.name}开始投放搜索广告`,
        `此前三个月未发现${row.name}的搜索广告，${now.zh}发现${count(row.after_value)}条。`,
        "来自一个搜索引擎的广告库，含品牌词与非品牌词。",
      ],
    }),
  }),
  defineRule({
    signalType: "ad_creative_expansion",
    sql: `${counted("ad_creatives")} AND before_value > 0 AND after_value >= before_value * @adCreativesFactor
      AND after_value - before_value >= @adCreativesAdded`,
    unit: "creatives",
    words: (row, { now, before }) => {
      const growth = times(row.before_value, row.after_value);
      return {
        en: [
          `${row.name} ran ${growth.en} ad creatives`,
          `${row.name} ran ${count(row.after_value)} different creatives in ${now.en} where it ran ${count(row.before_value)} in ${before.en}.`,
          "Creatives are told apart by image and text, not by size or placement.",
        ],
        zh: [
          `${row.name}的广告素材${growth.zh}`,
          `${row.name}${now.zh}投放${count(row.after_value)}种素材，${before.zh}为${count(row.before_value)}种。`,
          "素材按图像与文案区分，不计尺寸与版位。",
        ],
      };
    },
  }),
  defineRule({
    signalType: "website_sitemap_expansion",
    sql: `${counted("sitemap_urls")} AND after_value >= before_value * @sitemapExpansionFactor AND after_value - before_value >= @sitemapChangeUrls`,
    unit: "urls",
    words: (row, { now, before }) => ({
      en: [
        `${row.name}'s sitemap grew from ${count(row.before_value)} to ${count(row.after_value)} addresses`,
        `The public sitemap of ${row.domain} lists ${count(row.after_value - row.before_value)} more indexable pages in ${now.en} than in ${before.en}.`,
        "Redirects and pages marked noindex are left out.",
      ],
      zh: [
        `${row.name}的站点地图从${count(row.before_value)}个网址增至${count(row.after_value)}个`,
        `${row.domain}公开站点地图${now.zh}比${before.zh}多${count(row.after_value - row.before_value)}个可索引页面。`,
        "重定向与noindex页面不计。",
      ],
    }),
  }),
  defineRule({
    signalType: "website_sitemap_contraction",
    sql: `${counted("sitemap_urls")} AND after_value <= before_value * @sitemapContractionFactor AND before_value - after_value >= @sitemapChangeUrls`,
    unit: "urls",
    words: (row, { now }) => ({
      en: [
        `${row.name} cut its sitemap by ${percent((row.before_value - row.after_value) / row.before_value)}`,
        `Of ${count(row.before_value)} indexable addresses of ${row.domain}, ${count(row.after_value)} are left in ${now.en}.`,
        "Sitemaps of two consecutive months.",
      ],
      zh: [
        `${row.name}从站点地图移除${percent((row.before_value - row.after_value) / row.before_value)}的页面`,
        `${row.domain}的${count(row.before_value)}个可索引网址中，${now.zh}仅剩${count(row.after_value)}个。`,
        "连续两个月的站点地图。",
      ],
    }),
  }),
  defineRule({
    signalType: "programmatic_seo_expansion",
    sql: `${counted("pattern_urls")} AND after_value - before_value >= @patternUrlsAdded`,
    unit: "urls",
    words: (row, { now }) => ({
      en: [
        `${row.name} published ${count(row.after_value - row.before_value)} more pages from one template`,
        `Similarly structured sitemap addresses of ${row.domain} went from ${count(row.before_value)} to ${count(row.after_value)} in ${now.en}. Whether they are indexed or visited is not known.`,
        "Net count of sitemap addresses that share a path pattern and a page structure.",
      ],
      zh: [
        `${row.name}新增${count(row.after_value - row.before_value)}个模板页面`,
        `${now.zh}，${row.domain}结构相似的站点地图网址从${count(row.before_value)}个增至${count(row.after_value)}个；是否被收录或访问尚不清楚。`,
        "按路径模式与页面结构相同的网址净增计算。",
      ],
    }),
  }),
  defineRule({
    signalType: "new_market_pages",
    sql: `${counted("market_urls")} AND after_value - before_value >= @marketUrlsAdded`,
    unit: "urls",
    words: (row, { now, before }) => ({
      en: [
        `${row.name} added ${count(row.after_value - row.before_value)} pages for languages, regions or use cases`,
        `${count(row.after_value)} sitemap addresses of ${row.domain} have such paths in ${now.en}, where ${count(row.before_value)} had in ${before.en}. That does not prove a first entry into a market.`,
        "Sitemap addresses by path.",
      ],
      zh: [
        `${row.name}新增${count(row.after_value - row.before_value)}个面向语言、地区或用途的页面`,
        `${now.zh}，${row.domain}有${count(row.after_value)}个此类网址，${before.zh}为${count(row.before_value)}个；这并不证明首次进入某一市场。`,
        "按路径统计站点地图网址。",
      ],
    }),
  }),
  defineRule({
    signalType: "browser_extension_user_growth",
    sql: `${counted("extension_users")} AND before_value > 0 AND after_value >= before_value * @extensionGrowthFactor
      AND after_value - before_value >= @extensionUsersAdded`,
    unit: "users",
    words: (row, { now, before }) => ({
      en: [
        `${row.name}'s browser extension reached ${count(row.after_value)} users`,
        `The extension had ${count(row.before_value)} users in ${before.en} and ${count(row.after_value)} in ${now.en}.`,
        "Public user counts of one extension store, which rounds to thousands.",
      ],
      zh: [
        `${row.name}的浏览器扩展用户达到${count(row.after_value)}`,
        `该扩展${before.zh}有${count(row.before_value)}名用户，${now.zh}有${count(row.after_value)}名。`,
        "来自一个扩展商店的公开用户数，按千取整。",
      ],
    }),
  }),
];
