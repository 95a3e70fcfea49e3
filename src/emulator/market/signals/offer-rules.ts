import { count, dollars, percent } from "./format-values.js";
import { defineRule, type SignalRule } from "./signal-rule.js";

/** Whether a plan holds in a month. */
const holds = (month: string): string => `from_month <= ${month} AND (until_month IS NULL OR until_month > ${month})`;

/** Rows of a plan that took the place of another one in this month: same product, name and region. */
const REPLACED = `plan l JOIN plan b ON b.tool_id = l.tool_id AND b.name = l.name AND b.region = l.region AND b.until_month = @month
  WHERE l.from_month = @month`;

interface PlanName {
  plan: string;
  region: string;
}

/** The plan whose price moved most, of those that moved that way. */
const priceMoved = (way: "increased" | "decreased"): SignalRule =>
  defineRule<PlanName>({
    signalType: `price_${way}`,
    sql: `SELECT tool_id, before_value, after_value, plan, region FROM (
        SELECT l.tool_id, b.monthly_price_cents / 100.0 AS before_value, l.monthly_price_cents / 100.0 AS after_value,
          l.name AS plan, l.region, row_number() OVER (
            PARTITION BY l.tool_id ORDER BY abs(l.monthly_price_cents - b.monthly_price_cents) * 1.0 / b.monthly_price_cents DESC, l.plan_id
          ) AS place
        FROM ${REPLACED} AND b.monthly_price_cents > 0 AND l.monthly_price_cents > 0
          AND ${way === "increased" ? "l.monthly_price_cents > b.monthly_price_cents" : "l.monthly_price_cents < b.monthly_price_cents"}
      ) WHERE place = 1`,
    unit: "usd_per_month",
    words: (row, { now }) => {
      const [from, to] = [dollars(row.before_value), dollars(row.after_value)];
      const rate = percent(Math.abs(row.after_value - row.before_value) / row.before_value);
      const [verb, verbZh] = way === "increased" ? ["rose", "上调"] : ["fell", "下调"];
      return {
        en: [
          way === "increased"
            ? `${row.name}'s ${row.plan} plan went from ${from} to ${to}`
            : `${row.name} cut its ${row.plan} plan to ${to}`,
          `The monthly price of ${row.name}'s ${row.plan} plan ${verb} by ${rate} in ${now.en}: ${to} after ${from}.`,
          `Pricing page captured in two months from the same region (${row.region}), same plan, billed monthly.`,
        ],
        zh: [
          `${row.name}的${row.plan}套餐由${from}${verbZh}至${to}`,
          `${now.zh}，${row.name}的${row.plan}套餐月费${verbZh}${rate}，从${from}变为${to}。`,
          `同一地区（${row.region}）两个月的价格页，同一套餐，按月计费。`,
        ],
      };
    },
  });

/** The plans of a kind in the month before and in this one, of products that had plans in both. */
const planCounts = (kind: "free" | "enterprise"): string => `SELECT tool_id, before_value, after_value FROM (
    SELECT tool_id, sum(kind = '${kind}' AND ${holds("@month - 1")}) AS before_value, sum(kind = '${kind}' AND ${holds("@month")}) AS after_value,
      sum(${holds("@month - 1")}) AS plans_before, sum(kind = '${kind}' AND from_month < @month) AS ever_before
    FROM plan WHERE from_month <= @month GROUP BY tool_id
  ) WHERE plans_before > 0`;

/** Signals about prices and plans. */
export const OFFER_RULES: readonly SignalRule[] = [
  priceMoved("increased"),
  priceMoved("decreased"),
  defineRule({
    signalType: "free_plan_added",
    sql: `${planCounts("free")} AND before_value = 0 AND after_value > 0`,
    unit: "free_plans",
    words: (row, { now }) => ({
      en: [
        `${row.name} added a free plan`,
        `${row.name} lists a Free plan beside its paid ones since ${now.en}.`,
        "The plan stands on the pricing page; the capture of the month before has none.",
      ],
      zh: [
        `${row.name}推出免费套餐`,
        `${now.zh}起，${row.name}在付费套餐之外提供免费套餐。`,
        "价格页已列出该套餐，上个月的页面中没有。",
      ],
    }),
  }),
  defineRule({
    signalType: "free_plan_removed",
    sql: `${planCounts("free")} AND before_value > 0 AND after_value = 0`,
    unit: "free_plans",
    words: (row, { now }) => ({
      en: [
        `${row.name} dropped its free plan`,
        `New customers of ${row.name} have to choose a paid plan since ${now.en}; the Free column is gone from the pricing page.`,
        "Captures of the pricing page in two consecutive months.",
      ],
      zh: [
        `${row.name}取消免费套餐`,
        `${now.zh}起，${row.name}的新用户须选择付费套餐，价格页不再列出免费套餐。`,
        "连续两个月的价格页。",
      ],
    }),
  }),
  defineRule({
    signalType: "pricing_model_changed",
    // Between a subscription with a free plan and one without, the way of charging is the same.
    sql: `SELECT c.tool_id, min(b.monthly_price_cents) / 100.0 AS before_value, min(l.unit_price_mills) / 1000.0 AS after_value
      FROM product_change c
      JOIN plan b ON b.tool_id = c.tool_id AND b.until_month = @month AND b.monthly_price_cents > 0
      JOIN plan l ON l.tool_id = c.tool_id AND l.from_month = @month AND l.unit_price_mills IS NOT NULL
      WHERE c.month = @month AND c.kind = 'pricing_model' AND c.after_text = 'usage_based' GROUP BY c.tool_id`,
    unit: ["usd_per_month", "usd_per_use"],
    direction: "changed",
    words: (row, { now }) => ({
      en: [
        `${row.name} moved from monthly to usage-based pricing`,
        `Since ${now.en} ${row.name} costs ${dollars(row.after_value)} a use; its cheapest paid plan was ${dollars(row.before_value)} a month.`,
        "Pricing page of two consecutive months.",
      ],
      zh: [
        `${row.name}由按月收费改为按量收费`,
        `${now.zh}起，${row.name}按次收费${dollars(row.after_value)}，此前最低付费套餐为每月${dollars(row.before_value)}。`,
        "连续两个月的价格页。",
      ],
    }),
  }),
  defineRule<PlanName & { needs_card: number }>({
    signalType: "trial_changed",
    sql: `SELECT l.tool_id, b.trial_days AS before_value, l.trial_days AS after_value, l.name AS plan, l.region,
        l.trial_needs_card AS needs_card, min(l.plan_id) AS first_plan
      FROM ${REPLACED} AND (b.trial_days <> l.trial_days OR b.trial_needs_card <> l.trial_needs_card) GROUP BY l.tool_id`,
    unit: "days",
    direction: "changed",
    words: (row, { now }) => {
      const [card, cardZh] =
        row.needs_card === 1
          ? ["a payment card is required", "需要绑定银行卡"]
          : ["no payment card is required", "无需绑定银行卡"];
      const [old, oldZh] =
        row.before_value === 0
          ? ["there was none before", "此前没有试用期"]
          : [`it was ${count(row.before_value)} before`, `此前为${count(row.before_value)}天`];
      return {
        en: [
          `${row.name}'s trial now lasts ${count(row.after_value)} days`,
          `The trial of the ${row.plan} plan lasts ${count(row.after_value)} days since ${now.en}, ${old}; ${card} to begin it.`,
          "Sign-up form and pricing page captured in two months.",
        ],
        zh: [
          `${row.name}的试用期改为${count(row.after_value)}天`,
          `${now.zh}起，${row.plan}套餐试用期为${count(row.after_value)}天，${oldZh}；开始试用${cardZh}。`,
          "两个月的注册表单与价格页。",
        ],
      };
    },
  }),
  defineRule({
    signalType: "enterprise_plan_introduced",
    sql: `${planCounts("enterprise")} AND ever_before = 0 AND after_value > 0`,
    unit: "enterprise_plans",
    words: (row, { now }) => ({
      en: [
        `${row.name} introduced an enterprise plan`,
        `${row.name} offers an Enterprise plan since ${now.en}, its first; the price is on request.`,
        "A new column on the pricing page and a contact form for sales.",
      ],
      zh: [
        `${row.name}推出企业版`,
        `${now.zh}，${row.name}首次提供企业版套餐，价格面议。`,
        "价格页新增一栏及销售联系表单。",
      ],
    }),
  }),
];
