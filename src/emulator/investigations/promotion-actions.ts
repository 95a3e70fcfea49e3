import type { Database } from "../database/database.js";
import type { MonthIndex } from "../time/month.js";

/** What a product did, or what was done about it, in a month, as far as it was observed. */
export interface PromotionAction {
  tool_id: number;
  month: MonthIndex;
  kind: ActionKind;
  name_en: string;
  name_zh: string;
  /** Of what is counted: how much of it there was in the month before and in this one; null of all else. */
  before: number | null;
  after: number | null;
}

export type ActionKind =
  | "launch"
  | "feature"
  | "model"
  | "api"
  | "mcp"
  | "plan"
  | "price"
  | "ai_source"
  | "search_ads"
  | "creatives"
  | "articles"
  | "directories"
  | "links"
  | "pages"
  | "positioning";

/** What counts as an action, of what moves a little in every month. A signal needs more: a report looks at all there was. */
const LEAST = { creativesFactor: 1.5, creatives: 5, pagesFactor: 1.3, pages: 50, linksFactor: 2, links: 10 } as const;

/** Counts of two months in a row, of the products that are looked at. The months come first, by which the tables are kept. */
const PAIRS = (table: string): string => `chosen CROSS JOIN observed_month o
  CROSS JOIN ${table} l ON l.month = o.month AND l.tool_id = chosen.tool_id
  CROSS JOIN ${table} b ON b.month = o.month - 1 AND b.tool_id = chosen.tool_id`;

const counted = (kind: ActionKind, column: string, condition: string): string =>
  `SELECT l.tool_id, l.month, '${kind}', '', '', b.${column} AS before, l.${column} AS after
   FROM ${PAIRS("product_presence_month")} WHERE ${condition}`;

/** All actions of these products in the observed months, the oldest first. */
export function readPromotionActions(database: Database, toolIds: readonly number[]): PromotionAction[] {
  // A plan's first row is its introduction, each later one another price or trial.
  return database
    .prepare<[typeof LEAST & { ids: string }], PromotionAction>(
      `WITH chosen AS (SELECT value AS tool_id FROM json_each(@ids)),
         span AS (SELECT min(month) AS first, max(month) AS last FROM observed_month),
         action (tool_id, month, kind, name_en, name_zh, before, after) AS (
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
       ORDER BY action.month, action.tool_id, kind, name_en`,
    )
    .all({ ...LEAST, ids: JSON.stringify(toolIds) });
}
