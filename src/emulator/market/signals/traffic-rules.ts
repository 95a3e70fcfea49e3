import { count, percent } from "./format-values.js";
import { defineRule, type SignalRule } from "./signal-rule.js";

/** Visits of the products in the months that are looked at, with what they gained since the month before. */
const GAINS = `visited AS (
    SELECT tool_id, month, organic + paid + ai_referral + direct AS visits FROM product_month WHERE month BETWEEN @month - 3 AND @month
  ), gained AS (
    SELECT l.tool_id, l.visits AS latest, l.visits - a.visits AS gain, a.visits - b.visits AS gain_before,
      b.visits - c.visits AS gain_first
    FROM visited l
    JOIN visited a ON a.tool_id = l.tool_id AND a.month = @month - 1
    JOIN visited b ON b.tool_id = l.tool_id AND b.month = @month - 2
    JOIN visited c ON c.tool_id = l.tool_id AND c.month = @month - 3
    WHERE l.month = @month
  )`;

/** Products observed in both months: rankings have no others, and who was not looked at once moved no rank and no share. */
const TRACKED = `tracked AS (
    SELECT l.tool_id, p.sector_id, l.organic + l.paid + l.ai_referral + l.direct AS latest,
      b.organic + b.paid + b.ai_referral + b.direct AS earlier
    FROM product_month l JOIN product_month b ON b.month = @month - 1 AND b.tool_id = l.tool_id
    JOIN product p ON p.tool_id = l.tool_id WHERE l.month = @month
  )`;

/** Ranks in the primary sector by visits. */
const RANKS = `WITH ${TRACKED}, ranked AS (
    SELECT tool_id, rank() OVER (PARTITION BY sector_id ORDER BY earlier DESC, tool_id) AS before_value,
      rank() OVER (PARTITION BY sector_id ORDER BY latest DESC, tool_id) AS after_value,
      count(*) OVER (PARTITION BY sector_id) AS population
    FROM tracked
  ) SELECT * FROM ranked`;

interface Population {
  population: number;
}

const entered = (top: 10 | 20, condition: string): SignalRule =>
  defineRule<Population>({
    signalType: top === 10 ? "entered_category_top_10" : "entered_category_top_20",
    sql: `${RANKS} WHERE ${condition}`,
    unit: "rank",
    words: (row, { now, before }) => ({
      en: [
        `${row.name} climbed to rank ${row.after_value} in ${row.sector_en}`,
        `${row.name} moved from rank ${row.before_value} in ${before.en} to rank ${row.after_value} in ${now.en} and is in the top ${top} of its primary market.`,
        `Ranking by visits of the ${row.population} products of ${row.sector_en} that were tracked in both months.`,
      ],
      zh: [
        `${row.name}升至${row.sector_zh}第${row.after_value}名`,
        `${row.name}从${before.zh}的第${row.before_value}名升至${now.zh}的第${row.after_value}名，进入其主要市场前${top}。`,
        `按访问量对${row.sector_zh}两个月都被追踪的${row.population}个产品排名。`,
      ],
    }),
  });

/** Signals about traffic and ranks. */
export const TRAFFIC_RULES: readonly SignalRule[] = [
  defineRule({
    signalType: "traffic_breakout",
    sql: `SELECT l.tool_id, b.organic + b.paid + b.ai_referral + b.direct AS before_value,
        l.organic + l.paid + l.ai_referral + l.direct AS after_value
      FROM product_month l JOIN product_month b ON b.month = @month - 1 AND b.tool_id = l.tool_id
      WHERE l.month = @month AND before_value > 0 AND after_value >= before_value * (1 + @trafficBreakoutRate)
        AND after_value - before_value >= @trafficBreakoutVisits`,
    unit: "visits",
    words: (row, { now, before }) => {
      const rate = percent((row.after_value - row.before_value) / row.before_value);
      return {
        en: [
          `${row.name}'s monthly visits rose ${rate} in ${now.en}`,
          `${row.name} drew ${count(row.after_value)} visits in ${now.en} after ${count(row.before_value)} in ${before.en}. Both the rate and the absolute gain stand out.`,
          `Two consecutive monthly samples of ${row.domain}.`,
        ],
        zh: [
          `${row.name}${now.zh}访问量增长${rate}`,
          `${row.name}${now.zh}获得${count(row.after_value)}次访问，${before.zh}为${count(row.before_value)}次，增速与增量都很突出。`,
          `${row.domain}连续两个月的样本。`,
        ],
      };
    },
  }),
  defineRule<{ gain_first: number }>({
    signalType: "traffic_acceleration",
    sql: `WITH ${GAINS} SELECT tool_id, gain_before AS before_value, gain AS after_value, gain_first FROM gained
      WHERE gain_first > 0 AND gain_before > 0 AND gain >= gain_before * @trafficAccelerationFactor
        AND gain > gain_first AND gain >= @trafficTrendVisits`,
    unit: "visits_added",
    words: (row, { now, before }) => ({
      en: [
        `${row.name}'s growth sped up in ${now.en}`,
        `${row.name} gained ${count(row.after_value)} visits in ${now.en}; in ${before.en} it had gained ${count(row.before_value)}, the month before ${count(row.gain_first)}.`,
        `Four monthly samples of ${row.domain}, all from the same source and method.`,
      ],
      zh: [
        `${row.name}${now.zh}增长加速`,
        `${row.name}${now.zh}增加${count(row.after_value)}次访问；${before.zh}增加${count(row.before_value)}次，再前一个月增加${count(row.gain_first)}次。`,
        `${row.domain}的四个月样本，来源与方法相同。`,
      ],
    }),
  }),
  defineRule<{ gain_first: number }>({
    signalType: "traffic_deceleration",
    sql: `WITH ${GAINS} SELECT tool_id, gain_before AS before_value, gain AS after_value, gain_first FROM gained
      WHERE gain > 0 AND gain_first > gain_before AND gain <= gain_before * @trafficDecelerationFactor
        AND gain_before >= @trafficTrendVisits`,
    unit: "visits_added",
    words: (row, { now, before }) => ({
      en: [
        `${row.name}'s growth is slowing down`,
        `${row.name} still gained visits in ${now.en}: ${count(row.after_value)} of them, against ${count(row.before_value)} in ${before.en}.`,
        `Monthly gains of ${count(row.gain_first)}, ${count(row.before_value)} and ${count(row.after_value)} visits up to ${now.en}.`,
      ],
      zh: [
        `${row.name}仍在增长，但增量逐月减少`,
        `${row.name}${now.zh}仍增加${count(row.after_value)}次访问，${before.zh}为${count(row.before_value)}次。`,
        `截至${now.zh}三个月的增量：${count(row.gain_first)}、${count(row.before_value)}、${count(row.after_value)}次访问。`,
      ],
    }),
  }),
  entered(10, "before_value > 10 AND after_value <= 10"),
  // Who went on into the top 10 at once has the signal above.
  entered(20, "before_value > 20 AND after_value BETWEEN 11 AND 20"),
  defineRule<Population>({
    signalType: "dropped_out_of_category_top_10",
    sql: `${RANKS} WHERE before_value <= 10 AND after_value > 10`,
    unit: "rank",
    words: (row, { now, before }) => ({
      en: [
        `${row.name} slipped from rank ${row.before_value} to rank ${row.after_value} in ${row.sector_en}`,
        `${row.name} held rank ${row.before_value} in ${before.en} and lost its place in the top 10 of its primary market in ${now.en}.`,
        `Ranking by visits of the ${row.population} products of ${row.sector_en} that were tracked in both months.`,
      ],
      zh: [
        `${row.name}在${row.sector_zh}从第${row.before_value}名降至第${row.after_value}名`,
        `${row.name}${before.zh}位列第${row.before_value}名，${now.zh}跌出其主要市场前10。`,
        `按访问量对${row.sector_zh}两个月都被追踪的${row.population}个产品排名。`,
      ],
    }),
  }),
  defineRule<Population>({
    signalType: "market_share_shift",
    sql: `WITH ${TRACKED}, shared AS (
        SELECT tool_id, round(CAST(earlier AS REAL) / sum(earlier) OVER market, 4) AS before_value,
          round(CAST(latest AS REAL) / sum(latest) OVER market, 4) AS after_value, count(*) OVER market AS population
        FROM tracked WINDOW market AS (PARTITION BY sector_id)
      )
      SELECT * FROM shared WHERE abs(after_value - before_value) >= @marketShareShift`,
    unit: "share",
    words: (row, { now, before }) => {
      const isGain = row.after_value > row.before_value;
      return {
        en: [
          `${row.name} ${isGain ? "gained" : "lost"} traffic share in ${row.sector_en}`,
          `${row.name} received ${percent(row.after_value)} of the visits to tracked products of ${row.sector_en} in ${now.en}, ${isGain ? "up" : "down"} from ${percent(row.before_value)} in ${before.en}.`,
          `Shares over the ${row.population} products of the market that were tracked in both months.`,
        ],
        zh: [
          `${row.name}在${row.sector_zh}的流量份额${isGain ? "上升" : "下降"}`,
          `${row.name}${now.zh}占${row.sector_zh}被追踪产品访问量的${percent(row.after_value)}，${before.zh}为${percent(row.before_value)}。`,
          `份额按两个月都被追踪的${row.population}个产品计算。`,
        ],
      };
    },
  }),
];
