import type { Database } from "../database/database.js";
import type { MonthIndex } from "../month.js";

/** What a product did in a month, as far as it was observed. */
export interface PromotionAction {
  tool_id: number;
  month: MonthIndex;
  kind: "feature" | "model" | "api" | "mcp" | "plan" | "price" | "ai_source" | "search_ads";
  name_en: string;
  name_zh: string;
}

/** All actions of these products in the observed months, the oldest first. */
export function readPromotionActions(database: Database, toolIds: readonly number[]): PromotionAction[] {
  // A plan's first row is its introduction, each later one another price or trial.
  return database
    .prepare<[{ ids: string }], PromotionAction>(
      `WITH chosen AS (SELECT value AS tool_id FROM json_each(@ids)),
         span AS (SELECT min(month) AS first, max(month) AS last FROM observed_month),
         action AS (
           SELECT tool_id, from_month AS month, kind, name_en, name_zh FROM feature
           UNION ALL
           SELECT tool_id, from_month,
             CASE WHEN EXISTS (SELECT 1 FROM plan e WHERE e.tool_id = plan.tool_id AND e.name = plan.name
               AND e.region = plan.region AND e.from_month < plan.from_month) THEN 'price' ELSE 'plan' END,
             name, name FROM plan
           UNION ALL
           SELECT tool_id, from_month, 'ai_source', source, source FROM ai_source
           UNION ALL
           SELECT l.tool_id, l.month, 'search_ads', 'search ads', '搜索广告' FROM product_month l
           JOIN product_month b ON b.month = l.month - 1 AND b.tool_id = l.tool_id
           WHERE l.paid > 0 AND b.paid = 0)
       SELECT action.* FROM action JOIN chosen USING (tool_id), span
       WHERE action.month > span.first AND action.month <= span.last
       ORDER BY action.month, action.tool_id, kind, name_en`,
    )
    .all({ ids: JSON.stringify(toolIds) });
}
