import type { Database } from "../database/database.js";
import type { MonthIndex } from "../time/month.js";
import type { Sources } from "./report-sources.js";
import type { ReportTexts } from "./report-texts.js";

/** How many keywords are followed up for context; further ones are counted as omitted. */
const CONTEXT_LEADS = 5;

export type ContextLead = {
  keyword_id: number;
  keyword: string;
  traffic: number;
  title: string;
  citations: string[];
};

/** Keywords that bring these products most traffic: what else is to be looked at. */
export function readContextLeads(
  database: Database,
  toolIds: readonly number[],
  { month, sources, texts }: { month: MonthIndex; sources: Sources; texts: ReportTexts },
): { shown: ContextLead[]; found: number } {
  const keywords = database
    .prepare<
      [{ month: number; ids: string }],
      { keyword_id: number; keyword: string; traffic: number; receivers: string }
    >(
      `SELECT k.keyword_id, k.keyword, sum(kp.traffic) AS traffic, json_group_array(kp.tool_id) AS receivers
       FROM keyword_product_month kp JOIN keyword k USING (keyword_id)
       WHERE kp.month = @month AND kp.tool_id IN (SELECT value FROM json_each(@ids))
       GROUP BY k.keyword_id ORDER BY traffic DESC, k.keyword_id`,
    )
    .all({ month, ids: JSON.stringify(toolIds) });
  const shown = keywords.slice(0, CONTEXT_LEADS).map(({ keyword_id, keyword, traffic, receivers }) => ({
    keyword_id,
    keyword,
    traffic,
    title: texts.lead(keyword),
    citations: (JSON.parse(receivers) as number[])
      .sort((a, b) => a - b)
      .map((toolId) => sources.cite("searches", toolId, month)),
  }));
  return { shown, found: keywords.length };
}
