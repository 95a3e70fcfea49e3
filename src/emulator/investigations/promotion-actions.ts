import type { Database } from "../database/database.js";
import type { MonthIndex } from "../time/month.js";
import type { SourceKind } from "./report-sources.js";
import type { ReportProduct } from "./report-subject.js";
import type { StrategyKind, Text } from "./report-texts.js";

/** What a product did, or what was done about it, in a month, as far as it was observed. */
export interface PromotionAction {
  tool_id: number;
  month: MonthIndex;
  kind: ActionKind;
  /** What it was about, such as a feature or a plan; empty where it is about a number. */
  item_en: string;
  item_zh: string;
  /** A number in the month before and in this one; null where the action is about none. */
  before: number | null;
  after: number | null;
}

/** Each kind of action: where it is seen, what it is summed up as, and its title. */
export const ACTIONS = {
  launch: { seenAt: "announcements", strategy: "product", title: ["Announced its launch", "宣布正式上线"] },
  feature: { seenAt: "changelog", strategy: "product", title: ["Introduced {item}", "推出功能：{item}"] },
  model: { seenAt: "changelog", strategy: "product", title: ["Released the model {item}", "推出模型：{item}"] },
  api: { seenAt: "docs", strategy: "product", title: ["Launched a public API", "开放公共API"] },
  mcp: { seenAt: "docs", strategy: "ai_visibility", title: ["Added MCP support", "支持MCP"] },
  plan: { seenAt: "pricing", strategy: "pricing", title: ["Added the {item} plan", "推出{item}套餐"] },
  price: {
    seenAt: "pricing",
    strategy: "pricing",
    title: ["Changed the price or the trial of the {item} plan", "调整{item}套餐的价格或试用"],
  },
  ai_source: {
    seenAt: "traffic",
    strategy: "ai_visibility",
    title: ["Received its first visits from {item}", "首次获得来自{item}的访问"],
  },
  search_ads: {
    seenAt: "ads",
    strategy: "paid_acquisition",
    title: ["Started running search ads", "开始投放搜索广告"],
  },
  creatives: {
    seenAt: "ads",
    strategy: "paid_acquisition",
    title: ["Ran {after} ad creatives, up from {before}", "广告素材由{before}种增至{after}种"],
  },
  articles: {
    seenAt: "media",
    strategy: "earned_attention",
    title: ["Was covered in {after} new {after?article or review|articles or reviews}", "获得{after}篇报道或评测"],
  },
  directories: {
    seenAt: "directories",
    strategy: "earned_attention",
    title: ["Was listed in {added} more AI {added?directory|directories}", "新登上{added}个AI导航站"],
  },
  links: {
    seenAt: "links",
    strategy: "earned_attention",
    title: ["Gained links from {added} more {added?website|websites}", "新增{added}个外链网站"],
  },
  pages: {
    seenAt: "sitemap",
    strategy: "website",
    title: ["Added {added} {added?page|pages} to its sitemap", "站点地图新增{added}个页面"],
  },
  positioning: {
    seenAt: "homepage",
    strategy: "website",
    title: ["Changed its tagline to “{item}”", "更换首页标语"],
  },
} as const satisfies Record<string, { seenAt: SourceKind; strategy: StrategyKind; title: Text }>;
export type ActionKind = keyof typeof ACTIONS;

/** Numbers move a little in every month; an action needs so much. A signal needs more, since a report lists small changes too. */
const LEAST = { creativesFactor: 1.5, creatives: 5, pagesFactor: 1.3, pages: 50, linksFactor: 2, links: 10 } as const;

/** The rows of two months in a row, of the chosen products. Months come first, as in the keys of the tables. */
const PAIRS = (table: string): string => `chosen CROSS JOIN observed_month o
  CROSS JOIN ${table} l ON l.month = o.month AND l.tool_id = chosen.tool_id
  CROSS JOIN ${table} b ON b.month = o.month - 1 AND b.tool_id = chosen.tool_id`;

const counted = (kind: ActionKind, column: string, condition: string): string =>
  `SELECT l.tool_id, l.month, '${kind}', '', '', b.${column} AS before, l.${column} AS after
   FROM ${PAIRS("product_presence_month")} WHERE ${condition}`;

/** All actions of these products in the observed months, the oldest first. */
export function readPromotionActions(database: Database, products: readonly ReportProduct[]): PromotionAction[] {
  // A plan's first row is its introduction; each later row is another price or trial.
  return database
    .prepare<[typeof LEAST & { ids: string }], PromotionAction>(
      `WITH chosen AS (SELECT value AS tool_id FROM json_each(@ids)),
         span AS (SELECT min(month) AS first, max(month) AS last FROM observed_month),
         action (tool_id, month, kind, item_en, item_zh, before, after) AS (
           SELECT tool_id, launched_month, 'launch', name, name, NULL, NULL FROM chosen JOIN product USING (tool_id)
           WHERE discontinued_month IS NULL OR discontinued_month > launched_month
           UNION ALL
           SELECT tool_id, from_month, kind, name_en, name_zh, NULL, NULL FROM chosen JOIN feature USING (tool_id)
           UNION ALL
           SELECT tool_id, from_month,
             CASE WHEN EXISTS (SELECT 1 FROM plan e WHERE e.tool_id = plan.tool_id AND e.name = plan.name
               AND e.region = plan.region AND e.from_month < plan.from_month) THEN 'price' ELSE 'plan' END,
             name, name, NULL, NULL FROM chosen JOIN plan USING (tool_id)
           UNION ALL
           SELECT tool_id, from_month, 'ai_source', source, source, NULL, first_visits FROM chosen JOIN ai_source USING (tool_id)
           UNION ALL
           SELECT tool_id, month, 'positioning', after_text, after_text, NULL, NULL FROM chosen JOIN product_change USING (tool_id)
           WHERE kind = 'tagline'
           UNION ALL
           SELECT l.tool_id, l.month, 'search_ads', '', '', 0, l.paid FROM ${PAIRS("product_month")}
           WHERE l.paid > 0 AND b.paid = 0
           UNION ALL
           ${counted("creatives", "ad_creatives", "b.ad_creatives > 0 AND l.ad_creatives >= b.ad_creatives * @creativesFactor AND l.ad_creatives - b.ad_creatives >= @creatives")}
           UNION ALL
           ${counted("articles", "articles", "l.articles > 0")}
           UNION ALL
           ${counted("directories", "directories", "l.directories > b.directories")}
           UNION ALL
           ${counted("pages", "sitemap_urls", "l.sitemap_urls >= b.sitemap_urls * @pagesFactor AND l.sitemap_urls - b.sitemap_urls >= @pages")}
           UNION ALL
           SELECT l.tool_id, l.month, 'links', '', '', b.linking_domains, l.linking_domains
           FROM ${PAIRS("product_month")} JOIN product_month e ON e.month = o.month - 4 AND e.tool_id = chosen.tool_id
           WHERE l.linking_domains - b.linking_domains >= @links
             AND l.linking_domains - b.linking_domains >= (b.linking_domains - e.linking_domains) / 3.0 * @linksFactor)
       SELECT action.* FROM action, span
       WHERE action.month > span.first AND action.month <= span.last
       ORDER BY action.month, action.tool_id, kind, item_en`,
    )
    .all({ ...LEAST, ids: JSON.stringify(products.map(({ tool_id }) => tool_id)) });
}
