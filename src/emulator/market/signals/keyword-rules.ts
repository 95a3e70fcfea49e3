import { count } from "./format-values.js";
import { defineRule, type SignalRule } from "./signal-rule.js";

/** Only samples that can be compared: of one version, and verified. */
const COMPARABLE = `l.month = @month AND b.month = @month - 1 AND b.keyword_id = l.keyword_id AND l.sample_version = b.sample_version
  AND l.is_verified = 1 AND b.is_verified = 1`;

/** Signals about searches. */
export const KEYWORD_RULES: readonly SignalRule[] = [
  defineRule<{ keyword: string }>({
    signalType: "organic_keyword_breakout",
    sql: `SELECT tool_id, before_value, after_value, keyword FROM (
        SELECT t.tool_id, e.traffic AS before_value, t.traffic AS after_value, k.keyword,
          row_number() OVER (PARTITION BY t.tool_id ORDER BY t.traffic - e.traffic DESC, t.keyword_id) AS place
        FROM keyword_product_month t
        JOIN keyword_product_month e ON e.month = @month - 1 AND e.keyword_id = t.keyword_id AND e.tool_id = t.tool_id
        JOIN keyword_month l ON l.month = @month AND l.keyword_id = t.keyword_id
        JOIN keyword_month b ON ${COMPARABLE}
        JOIN keyword k ON k.keyword_id = t.keyword_id AND k.brand_type = 'generic'
        WHERE t.month = @month AND t.traffic >= e.traffic * @keywordBreakoutFactor AND t.traffic - e.traffic >= @keywordBreakoutVisits
      ) WHERE place = 1`,
    unit: "visits",
    words: (row, { now, before }) => ({
      en: [
        `"${row.keyword}" brings ${row.name} far more visits`,
        `Estimated visits to ${row.name} from the keyword "${row.keyword}" rose from ${count(row.before_value)} in ${before.en} to ${count(row.after_value)} in ${now.en}.`,
        "Same keyword, two comparable monthly samples.",
      ],
      zh: [
        `“${row.keyword}”为${row.name}带来的访问大增`,
        `${row.name}来自关键词“${row.keyword}”的估计访问从${before.zh}的${count(row.before_value)}次增至${now.zh}的${count(row.after_value)}次。`,
        "同一关键词，两个可比的月度样本。",
      ],
    }),
  }),
  defineRule<{ terms: number }>({
    signalType: "brand_search_growth",
    sql: `SELECT p.tool_id, sum(b.search_volume) AS before_value, sum(l.search_volume) AS after_value, count(*) AS terms
      FROM keyword_month l JOIN keyword_month b ON ${COMPARABLE}
      JOIN keyword k ON k.keyword_id = l.keyword_id AND k.brand_type IN ('brand_navigational', 'brand_commercial')
      JOIN product p ON p.slug = substr(k.cluster_id, length('brand-') + 1)
      WHERE l.month = @month GROUP BY p.tool_id
      HAVING after_value >= before_value * (1 + @brandGrowthRate) AND after_value - before_value >= @brandGrowthSearches`,
    unit: "searches",
    words: (row, { now, before }) => ({
      en: [
        `More people searched for ${row.name} by name`,
        `Searches for ${row.terms === 1 ? "one branded term" : `${row.terms} branded terms`} of ${row.name} rose from ${count(row.before_value)} in ${before.en} to ${count(row.after_value)} in ${now.en}.`,
        "Branded terms with high confidence, present in both monthly samples.",
      ],
      zh: [
        `搜索${row.name}名称的人增多`,
        `${row.name}的${row.terms}个品牌词搜索量从${before.zh}的${count(row.before_value)}次增至${now.zh}的${count(row.after_value)}次。`,
        "高置信度品牌词，两个月样本中均有。",
      ],
    }),
  }),
];
