import { count, percent, times } from "./format-values.js";
import { defineRule, type SignalRule } from "./signal-rule.js";

const VISITS = (alias: string): string => `(${alias}.organic + ${alias}.paid + ${alias}.ai_referral + ${alias}.direct)`;

/** Signals about traffic from AI assistants. */
export const AI_RULES: readonly SignalRule[] = [
  defineRule({
    signalType: "ai_referral_breakout",
    sql: `SELECT l.tool_id, b.ai_referral AS before_value, l.ai_referral AS after_value
      FROM product_month l JOIN product_month b ON b.month = @month - 1 AND b.tool_id = l.tool_id
      WHERE l.month = @month AND b.ai_referral > 0 AND l.ai_referral >= b.ai_referral * @aiBreakoutFactor
        AND l.ai_referral - b.ai_referral >= @aiBreakoutVisits`,
    unit: "visits",
    words: (row, { now, before }) => {
      const growth = times(row.before_value, row.after_value);
      return {
        en: [
          `AI assistants sent ${row.name} ${growth.en} visits`,
          `Visits to ${row.name} that came from AI assistants rose from ${count(row.before_value)} in ${before.en} to ${count(row.after_value)} in ${now.en}.`,
          `Referrals of two monthly samples of ${row.domain}.`,
        ],
        zh: [
          `AI助手为${row.name}带来的访问${growth.zh}`,
          `${row.name}来自AI助手的访问从${before.zh}的${count(row.before_value)}次增至${now.zh}的${count(row.after_value)}次。`,
          `${row.domain}两个月样本中的引荐流量。`,
        ],
      };
    },
  }),
  defineRule({
    signalType: "ai_traffic_share_shift",
    sql: `SELECT l.tool_id, round(CAST(b.ai_referral AS REAL) / ${VISITS("b")}, 4) AS before_value,
        round(CAST(l.ai_referral AS REAL) / ${VISITS("l")}, 4) AS after_value
      FROM product_month l JOIN product_month b ON b.month = @month - 1 AND b.tool_id = l.tool_id
      WHERE l.month = @month AND ${VISITS("l")} >= @aiShareVisits AND ${VISITS("b")} >= @aiShareVisits
        AND abs(after_value - before_value) >= @aiShareShift`,
    unit: "share",
    words: (row, { now, before }) => ({
      en: [
        `${row.name} now gets ${percent(row.after_value)} of its traffic from AI assistants`,
        `The share of visits to ${row.name} that come from AI assistants went from ${percent(row.before_value)} in ${before.en} to ${percent(row.after_value)} in ${now.en}.`,
        `Channel split of two monthly samples of ${row.domain}.`,
      ],
      zh: [
        `${row.name}的流量有${percent(row.after_value)}来自AI助手`,
        `${row.name}来自AI助手的访问占比从${before.zh}的${percent(row.before_value)}变为${now.zh}的${percent(row.after_value)}。`,
        `${row.domain}两个月样本的渠道构成。`,
      ],
    }),
  }),
  defineRule<{ source: string }>({
    signalType: "new_ai_referral_source",
    // Of a product whose traffic was not observed nobody saw where it comes from.
    sql: `SELECT tool_id, 0 AS before_value, max(first_visits) AS after_value, source
      FROM ai_source JOIN product_month USING (tool_id)
      WHERE from_month = @month AND month = @month AND first_visits >= @newAiSourceVisits GROUP BY tool_id`,
    unit: "visits",
    words: (row, { now }) => ({
      en: [
        `${row.name} received its first visits from ${row.source}`,
        `${row.name} saw ${count(row.after_value)} visits in ${now.en} from ${row.source}, an AI platform that had sent it none before.`,
        `No visits from that platform in any earlier month; ${count(row.after_value)} in the month observed.`,
      ],
      zh: [
        `${row.name}首次获得来自${row.source}的访问`,
        `${now.zh}，此前从未为${row.name}带来访问的AI平台${row.source}带来了${count(row.after_value)}次访问。`,
        `此前各月没有来自该平台的访问，本月观测到${count(row.after_value)}次。`,
      ],
    }),
  }),
  defineRule({
    signalType: "ai_referral_sources_diversified",
    sql: `SELECT tool_id, sum(from_month <= @month - 3) AS before_value, count(*) AS after_value FROM ai_source
      WHERE from_month <= @month GROUP BY tool_id
      HAVING max(from_month) = @month AND after_value >= 3 AND after_value - before_value >= @aiSourcesAdded`,
    unit: "platforms",
    words: (row, { now }) => ({
      en: [
        `${count(row.after_value)} AI platforms now send visitors to ${row.name}`,
        `${row.name} was reached from ${count(row.before_value)} AI platforms three months earlier and from ${count(row.after_value)} in ${now.en}.`,
        "Platforms that sent at least one visit in a monthly sample.",
      ],
      zh: [
        `已有${count(row.after_value)}个AI平台为${row.name}带来访客`,
        `三个月前有${count(row.before_value)}个AI平台为${row.name}带来访问，${now.zh}增至${count(row.after_value)}个。`,
        "统计在月度样本中至少带来一次访问的平台。",
      ],
    }),
  }),
];
