import type { KnownSignalType } from "../../../../kit/senders/signals/signal-types.js";
import type { Text } from "../format-values.js";
import { visits } from "../market-schema.js";

/** The kinds of sources that a report cites. */
export type SourceKind = "site" | "ads" | "web" | "traffic" | "searches";
/** The kinds of promotion that a report sums up. */
export type StrategyKind = "product" | "pricing" | "advertising" | "attention" | "website";

/** The texts of a signal. `fillTexts` describes their placeholders. */
export interface SignalTexts {
  title: Text;
  summary: Text;
  /** How the signal was observed. */
  evidence: Text;
}

interface Figures {
  /**
   * SQL that gives `tool_id`, `before_value`, `after_value` and the values of the texts, at most
   * once for each product, whether or not there is a signal. It can use `@month` and `@monthStart`
   * (milliseconds since 1970).
   */
  figures: string;
  /** One unit, or the units of the values before and after. */
  unit: string | readonly [before: string, after: string];
  /** By default the direction is up or down, as the values say; a smaller rank is up. */
  direction?: "changed";
}

/**
 * One signal type: where its figures come from, when there is a signal, and the texts of the
 * signal.
 */
export interface SignalRow extends Figures, SignalTexts {
  /**
   * The condition on the columns of `figures` under which there is a signal; by default each row is
   * a signal. The service's document does not define when a rise is notable and when a change is
   * material, so the emulator chose these thresholds.
   */
  when?: string;
  source: SourceKind;
  /**
   * The kind of promotion that the signal is an action of; null for a result, which no report lists
   * as an action.
   */
  strategy: StrategyKind | null;
}

/** How the signals of each source are observed. */
const EVIDENCE: Readonly<Record<SourceKind, Text>> = {
  site: [
    "Public pages of {domain}, {lastMonth} and {month}.",
    "{domain}在{lastMonth}与{month}的公开页面。",
  ],
  ads: ["Entries in a public ads library.", "公开广告库中的记录。"],
  web: [
    "Third-party pages about {domain}; reprints are not counted.",
    "第三方关于{domain}的页面，转载不计。",
  ],
  traffic: ["Monthly traffic samples, same source and method.", "月度流量样本，来源与方法一致。"],
  searches: [
    "The same keywords in two comparable monthly samples.",
    "两个可比月度样本中的相同关键词。",
  ],
};

/**
 * The rows of signals that are observed at the same source and are actions of the same strategy.
 */
function observed<Type extends KnownSignalType>(
  source: SourceKind,
  strategy: StrategyKind | null,
  rows: Record<Type, Omit<SignalRow, "source" | "evidence" | "strategy"> & { evidence?: Text }>,
): Record<Type, SignalRow> {
  const row = { source, strategy, evidence: EVIDENCE[source] };
  const entries = Object.entries<object>(rows).map(([type, rest]) => [type, { ...row, ...rest }]);
  return Object.fromEntries(entries) as Record<Type, SignalRow>;
}

/**
 * A summary that gives the values of both months. In Chinese a measure word can follow the values.
 */
const bothMonths = (en: string, zh: string, measure = ""): Text => [
  `${en} {moved} from {before} in {lastMonth} to {after} in {month}.`,
  `${zh}由{lastMonth}的{before}${measure}{moved}{month}的{after}${measure}。`,
];

/** A value for each product that was observed in this month and the month before. */
const compared = (
  table: "product_month" | "product_presence_month",
  value: (row: string) => string,
): string =>
  `SELECT l.tool_id, ${value("b")} AS before_value, ${value("l")} AS after_value
   FROM ${table} l JOIN ${table} b ON b.month = @month - 1 AND b.tool_id = l.tool_id WHERE l.month = @month`;

const presence = (column: string, unit: string): Figures => ({
  figures: compared("product_presence_month", (row) => `${row}.${column}`),
  unit,
});

/** How many visits each of the last three months added to the month before it. */
const GAINS: Figures = {
  figures: `SELECT l.tool_id, ${visits("a")} - ${visits("b")} AS before_value, ${visits("l")} - ${visits("a")} AS after_value,
      ${visits("b")} - ${visits("c")} AS first_gain
    FROM product_month l
    JOIN product_month a ON a.tool_id = l.tool_id AND a.month = @month - 1
    JOIN product_month b ON b.tool_id = l.tool_id AND b.month = @month - 2
    JOIN product_month c ON c.tool_id = l.tool_id AND c.month = @month - 3
    WHERE l.month = @month`,
  unit: "visits_added",
};
const GAINS_SUMMARY: Text = [
  "{name} gained {after} visits in {month}, after {before} in {lastMonth} and {first_gain} the month before.",
  "{name}{month}的访问量增加{after}次，{lastMonth}增加{before}次，再前一个月增加{first_gain}次。",
];

/**
 * Selects only products that were observed in both months, so that a missing observation changes no
 * rank and no share.
 */
const TRACKED = `SELECT l.tool_id, p.sector_id, ${visits("b")} AS earlier, ${visits("l")} AS latest
  FROM product_month l JOIN product_month b ON b.month = @month - 1 AND b.tool_id = l.tool_id
  JOIN product p ON p.tool_id = l.tool_id WHERE l.month = @month`;

const RANKS: Figures & Pick<SignalRow, "summary"> = {
  figures: `SELECT tool_id, rank() OVER (PARTITION BY sector_id ORDER BY earlier DESC, tool_id) AS before_value,
      rank() OVER (PARTITION BY sector_id ORDER BY latest DESC, tool_id) AS after_value
    FROM (${TRACKED})`,
  unit: "rank",
  summary: [
    "In {sector}, its primary market, {name} went from rank {before} in {lastMonth} to rank {after} in {month}.",
    "{name}在其主要市场“{sector}”的排名由{lastMonth}的第{before}名变为{month}的第{after}名。",
  ],
};

/** The SQL condition that a plan is offered in a month. */
const holds = (plan: string, month: string): string =>
  `${plan}.from_month <= ${month} AND (${plan}.until_month IS NULL OR ${plan}.until_month > ${month})`;

/** A plan as it was in the month before (`b`) and as it is in this month (`l`). */
const SAME_PLAN = `plan l JOIN plan b ON b.tool_id = l.tool_id AND b.name = l.name AND b.region = l.region
  WHERE ${holds("l", "@month")} AND ${holds("b", "@month - 1")}`;

/** Each product's plan with the largest rise or fall of its price. */
const prices = (largest: "rise" | "fall"): Figures & Pick<SignalRow, "summary"> => ({
  figures: `SELECT * FROM (
    SELECT l.tool_id, b.monthly_price_cents / 100.0 AS before_value, l.monthly_price_cents / 100.0 AS after_value,
      l.name AS plan, row_number() OVER (PARTITION BY l.tool_id ORDER BY
        l.monthly_price_cents * 1.0 / b.monthly_price_cents ${largest === "rise" ? "DESC" : "ASC"}, l.plan_id) AS place
    FROM ${SAME_PLAN} AND b.monthly_price_cents > 0 AND l.monthly_price_cents > 0
  ) WHERE place = 1`,
  unit: "usd_per_month",
  summary: bothMonths("The monthly price of {name}'s {plan} plan", "{name}的{plan}套餐月费"),
});

/** How many plans of a kind there were in the month before, and are in this month. */
const planCounts = (kind: "free" | "enterprise"): Figures => ({
  figures: `SELECT tool_id,
      sum(kind = '${kind}' AND ${holds("plan", "@month - 1")}) AS before_value,
      sum(kind = '${kind}' AND ${holds("plan", "@month")}) AS after_value,
      sum(${holds("plan", "@month - 1")}) AS plans_before, sum(kind = '${kind}' AND from_month < @month) AS ever_before
    FROM plan WHERE from_month <= @month GROUP BY tool_id`,
  unit: `${kind}_plans`,
});

/**
 * How many features a product introduced in this month, and the name of the first. Newly listed
 * products do not count.
 */
const introduced = (kind: "feature" | "model" | "api" | "mcp", unit: string): Figures => ({
  figures: `SELECT f.tool_id, 0 AS before_value, count(*) AS after_value,
      f.name_en AS item_en, f.name_zh AS item_zh, min(f.feature_id) AS first_feature
    FROM feature f JOIN product p ON p.tool_id = f.tool_id AND p.listed_at < @monthStart
    WHERE f.kind = '${kind}' AND f.from_month = @month GROUP BY f.tool_id`,
  unit,
});

/**
 * A changed text of a product. `share` is a percentage: of the wording that stayed, or of the
 * addresses that redirect.
 */
const changedText = (kind: "domain" | "tagline", before: number, unit: string): Figures => ({
  figures: `SELECT tool_id, ${before} AS before_value, share / 100.0 AS after_value, before_text, after_text
   FROM product_change WHERE month = @month AND kind = '${kind}'`,
  unit,
  direction: "changed",
});

/**
 * The SQL condition that the samples of both months can be compared: they have the same version and
 * are verified.
 */
const COMPARABLE = `l.month = @month AND b.month = @month - 1 AND b.keyword_id = l.keyword_id
  AND l.sample_version = b.sample_version AND l.is_verified = 1 AND b.is_verified = 1`;

/**
 * The single definition of each signal type, for the signals of a month and for signals that are
 * published by hand.
 */
export const SIGNALS: Readonly<Record<KnownSignalType, SignalRow>> = {
  ...observed("traffic", null, {
    traffic_breakout: {
      figures: compared("product_month", visits),
      // The document requires a large change in addition to a high rate, because a small product
      // doubles easily.
      when: "before_value > 0 AND after_value >= before_value * 1.5 AND after_value - before_value >= 5000",
      unit: "visits",
      title: ["{name}'s monthly visits rose {rate} in {month}", "{name}{month}访问量增长{rate}"],
      summary: bothMonths("Visits to {name}", "{name}的访问量", "次"),
    },
    traffic_acceleration: {
      ...GAINS,
      // A slightly larger increase is common, and an increase of a few visits is not notable.
      when: `first_gain > 0 AND before_value > 0 AND after_value >= before_value * 1.3
        AND after_value > first_gain AND after_value >= 2000`,
      title: ["{name}'s traffic grew faster in {month}", "{name}{month}流量增长加快"],
      summary: GAINS_SUMMARY,
    },
    traffic_deceleration: {
      ...GAINS,
      when: "after_value > 0 AND first_gain > before_value AND after_value <= before_value * 0.6 AND before_value >= 2000",
      title: ["{name}'s traffic growth slowed in {month}", "{name}{month}流量增长放缓"],
      summary: GAINS_SUMMARY,
    },
    ai_referral_breakout: {
      figures: compared("product_month", (row) => `${row}.ai_referral`),
      when: "before_value > 0 AND after_value >= before_value * 1.8 AND after_value - before_value >= 400",
      unit: "visits",
      title: ["AI assistants sent {name} {rate} more visits", "AI助手为{name}带来的访问增加{rate}"],
      summary: bothMonths("Visits to {name} from AI assistants", "AI助手为{name}带来的访问", "次"),
    },
    ai_traffic_share_shift: {
      figures: `SELECT l.tool_id, round(CAST(b.ai_referral AS REAL) / ${visits("b")}, 4) AS before_value,
          round(CAST(l.ai_referral AS REAL) / ${visits("l")}, 4) AS after_value, min(${visits("b")}, ${visits("l")}) AS fewest
        FROM product_month l JOIN product_month b ON b.month = @month - 1 AND b.tool_id = l.tool_id WHERE l.month = @month`,
      // With few visits the share changes by chance, so there is no signal.
      when: "fewest >= 2000 AND abs(after_value - before_value) >= 0.02",
      unit: "share",
      title: [
        "{name} now gets {after} of its traffic from AI assistants",
        "{name}现有{after}的流量来自AI助手",
      ],
      summary: bothMonths(
        "The share of {name}'s visits that come from AI assistants",
        "{name}来自AI助手的访问占比",
      ),
    },
    ai_referral_sources_diversified: {
      figures: `SELECT tool_id, sum(from_month <= @month - 3) AS before_value, count(*) AS after_value,
          max(from_month) = @month AS is_new
        FROM ai_source WHERE from_month <= @month GROUP BY tool_id`,
      // If only one platform was added, the signal is new_ai_referral_source instead.
      when: "is_new AND after_value >= 3 AND after_value - before_value >= 2",
      unit: "platforms",
      title: [
        "{after} AI platforms now send visitors to {name}",
        "已有{after}个AI平台为{name}带来访客",
      ],
      summary: [
        "In {month}, {after} AI platforms sent visitors to {name}, up from {before} three months earlier.",
        "三个月前有{before}个AI平台为{name}带来访客，{month}增至{after}个。",
      ],
    },
    entered_category_top_10: {
      ...RANKS,
      when: "before_value > 10 AND after_value <= 10",
      title: ["{name} climbed to rank {after} in {sector}", "{name}升至{sector}类第{after}名"],
    },
    // A product that climbs from below rank 20 into the top 10 gets both signals.
    entered_category_top_20: {
      ...RANKS,
      when: "before_value > 20 AND after_value <= 20",
      title: ["{name} entered the top 20 in {sector}", "{name}进入{sector}类前20名"],
    },
    dropped_out_of_category_top_10: {
      ...RANKS,
      when: "before_value <= 10 AND after_value > 10",
      title: [
        "{name} slipped from rank {before} to {after} in {sector}",
        "{name}在{sector}类降至第{after}名",
      ],
    },
    market_share_shift: {
      figures: `SELECT tool_id, round(CAST(earlier AS REAL) / sum(earlier) OVER market, 4) AS before_value,
          round(CAST(latest AS REAL) / sum(latest) OVER market, 4) AS after_value
        FROM (${TRACKED}) WINDOW market AS (PARTITION BY sector_id)`,
      // A change by one percent of the visits in the market.
      when: "abs(after_value - before_value) >= 0.01",
      unit: "share",
      title: [
        "{name} now has {after} of the traffic in {sector}",
        "{name}现占{sector}类流量的{after}",
      ],
      summary: bothMonths(
        "{name}'s share of the visits in {sector}",
        "{name}占{sector}类访问量的份额",
      ),
    },
  }),
  ...observed("traffic", "attention", {
    new_ai_referral_source: {
      // The join leaves out products whose traffic was not observed in this month.
      figures: `SELECT tool_id, 0 AS before_value, max(first_visits) AS after_value, source
        FROM ai_source JOIN product_month USING (tool_id) WHERE from_month = @month AND month = @month GROUP BY tool_id`,
      // Fewer visits could be someone's test of the link, so there is no signal.
      when: "after_value >= 10",
      unit: "visits",
      title: ["{name} received its first visits from {source}", "{name}首次获得来自{source}的访问"],
      summary: [
        "{source} sent its first {after} visits in {month}.",
        "{month}，{source}首次带来{after}次访问。",
      ],
    },
  }),
  ...observed("searches", null, {
    organic_keyword_breakout: {
      // For each product, the keyword with the largest gain. Keywords that grew enough come first.
      figures: `SELECT * FROM (
          SELECT t.tool_id, e.traffic AS before_value, t.traffic AS after_value, k.keyword, row_number() OVER (
            PARTITION BY t.tool_id ORDER BY t.traffic >= e.traffic * 1.8 DESC, t.traffic - e.traffic DESC, t.keyword_id) AS place
          FROM keyword_product_month t
          JOIN keyword_product_month e ON e.month = @month - 1 AND e.keyword_id = t.keyword_id AND e.tool_id = t.tool_id
          JOIN keyword_month l ON l.month = @month AND l.keyword_id = t.keyword_id
          JOIN keyword_month b ON ${COMPARABLE}
          JOIN keyword k ON k.keyword_id = t.keyword_id AND k.brand_type = 'generic'
          WHERE t.month = @month
        ) WHERE place = 1`,
      // A keyword's traffic often changes by a fifth by chance, so the threshold is much higher.
      when: "after_value >= before_value * 1.8 AND after_value - before_value >= 150",
      unit: "visits",
      title: ['"{keyword}" brings {name} far more visits', "“{keyword}”为{name}带来的访问大幅增加"],
      summary: bothMonths(
        'Estimated visits to {name} from "{keyword}"',
        "“{keyword}”为{name}带来的估计访问",
        "次",
      ),
    },
    brand_search_growth: {
      figures: `SELECT p.tool_id, sum(b.search_volume) AS before_value, sum(l.search_volume) AS after_value
        FROM keyword_month l JOIN keyword_month b ON ${COMPARABLE}
        JOIN keyword k ON k.keyword_id = l.keyword_id AND k.brand_type IN ('brand_navigational', 'brand_commercial')
        JOIN product p ON p.slug = substr(k.cluster_id, length('brand-') + 1)
        WHERE l.month = @month GROUP BY p.tool_id`,
      when: "after_value >= before_value * 1.25 AND after_value - before_value >= 500",
      unit: "searches",
      title: ["Searches for {name} by name rose {rate}", "{name}的品牌词搜索量增长{rate}"],
      summary: bothMonths("Searches for {name}'s branded terms", "{name}品牌词的搜索量", "次"),
    },
  }),
  ...observed("site", "pricing", {
    price_increased: {
      ...prices("rise"),
      when: "after_value > before_value",
      title: [
        "{name} raised the price of its {plan} plan by {rate}",
        "{name}的{plan}套餐涨价{rate}",
      ],
    },
    price_decreased: {
      ...prices("fall"),
      when: "after_value < before_value",
      title: ["{name} cut its {plan} plan to {after}", "{name}的{plan}套餐降至{after}"],
    },
    free_plan_added: {
      ...planCounts("free"),
      when: "plans_before > 0 AND before_value = 0 AND after_value > 0",
      title: ["{name} added a free plan", "{name}推出免费套餐"],
      summary: ["{name} has offered a free plan since {month}.", "{month}起，{name}提供免费套餐。"],
    },
    free_plan_removed: {
      ...planCounts("free"),
      when: "before_value > 0 AND after_value = 0",
      title: ["{name} dropped its free plan", "{name}取消免费套餐"],
      summary: [
        "{name} has had no free plan since {month}.",
        "{month}起，{name}不再提供免费套餐。",
      ],
    },
    pricing_model_changed: {
      figures: `SELECT c.tool_id, min(b.monthly_price_cents) / 100.0 AS before_value, min(l.unit_price_mills) / 1000.0 AS after_value
        FROM product_change c
        JOIN plan b ON b.tool_id = c.tool_id AND b.until_month = @month AND b.monthly_price_cents > 0
        JOIN plan l ON l.tool_id = c.tool_id AND l.from_month = @month AND l.unit_price_mills IS NOT NULL
        WHERE c.month = @month AND c.kind = 'pricing_model' GROUP BY c.tool_id`,
      unit: ["usd_per_month", "usd_per_use"],
      direction: "changed",
      title: ["{name} moved from monthly to usage-based pricing", "{name}由按月收费改为按量收费"],
      summary: [
        "Since {month}, {name} has charged {after} per use; before that, its cheapest paid plan cost {before} a month.",
        "{month}起，{name}每次使用收费{after}；此前最便宜的付费套餐为每月{before}。",
      ],
    },
    trial_changed: {
      // The paid plans of a product have the same trial, so the first plan represents all of them.
      figures: `SELECT l.tool_id, b.trial_days AS before_value, l.trial_days AS after_value, l.name AS plan, min(l.plan_id),
          iif(b.trial_days = 0, 'no free trial', 'a trial of ' || b.trial_days || ' days') AS trial_en,
          iif(b.trial_days = 0, '没有免费试用', '免费试用' || b.trial_days || '天') AS trial_zh,
          l.trial_needs_card <> b.trial_needs_card AS card_changed,
          iif(l.trial_needs_card, 'a', 'no') AS card_en, iif(l.trial_needs_card, '需要', '无需') AS card_zh
        FROM ${SAME_PLAN} AND l.kind = 'paid' GROUP BY l.tool_id`,
      when: "after_value <> before_value OR card_changed",
      unit: "days",
      direction: "changed",
      title: ["{name} changed the terms of its free trial", "{name}调整免费试用规则"],
      summary: [
        "In {lastMonth} the {plan} plan had {trial}; now its trial lasts {after} days and needs {card} payment card.",
        "{lastMonth}，{plan}套餐{trial}；现在可免费试用{after}天，{card}绑定银行卡。",
      ],
    },
    enterprise_plan_introduced: {
      ...planCounts("enterprise"),
      when: "plans_before > 0 AND ever_before = 0 AND after_value > 0",
      title: ["{name} introduced an enterprise plan", "{name}推出企业版"],
      summary: [
        "{name} added its first enterprise plan in {month}.",
        "{month}，{name}首次提供企业版套餐。",
      ],
    },
  }),
  ...observed("web", "attention", {
    backlink_acquisition_spike: {
      figures: `SELECT l.tool_id, round((b.linking_domains - e.linking_domains) / 3.0) AS before_value,
          l.linking_domains - b.linking_domains AS after_value
        FROM product_month l
        JOIN product_month b ON b.month = @month - 1 AND b.tool_id = l.tool_id
        JOIN product_month e ON e.month = @month - 4 AND e.tool_id = l.tool_id
        WHERE l.month = @month`,
      when: "after_value >= before_value * 4 AND after_value >= 20",
      unit: "domains",
      title: [
        "{after} more websites linked to {name} in {month}",
        "{month}新增{after}个网站链接到{name}",
      ],
      summary: [
        "{name} gained {after} linking websites in {month}, against about {before} a month in the three months before.",
        "{name}{month}新增{after}个外链网站，此前三个月平均每月约{before}个。",
      ],
    },
    ai_directory_push: {
      ...presence("directories", "directories"),
      when: "after_value - before_value >= 4",
      title: [
        "{name} was listed in {added} more AI directories",
        "{name}新获{added}个AI导航站收录",
      ],
      summary: bothMonths(
        "The number of verified AI directories that list {name}",
        "收录{name}的已核实AI导航站",
        "个",
      ),
    },
    media_review_burst: {
      ...presence("articles", "articles"),
      when: "after_value >= 5 AND after_value >= before_value * 3",
      title: [
        "{after} articles and reviews about {name} in {month}",
        "{month}有{after}篇关于{name}的报道与评测",
      ],
      summary: bothMonths(
        "Independent articles and reviews about {name}",
        "关于{name}的独立报道与评测",
        "篇",
      ),
    },
  }),
  ...observed("web", null, {
    browser_extension_user_growth: {
      ...presence("extension_users", "users"),
      // Extension stores round to thousands, so a smaller increase may come from rounding.
      when: "before_value > 0 AND after_value >= before_value * 1.25 AND after_value - before_value >= 2000",
      title: [
        "{name}'s browser extension reached {after} users",
        "{name}的浏览器扩展用户达到{after}人",
      ],
      summary: bothMonths(
        "The number of users of {name}'s browser extension",
        "{name}浏览器扩展的用户",
        "人",
      ),
      evidence: [
        "User counts of an extension store, rounded to thousands.",
        "扩展商店公布的用户数，取整到千位。",
      ],
    },
  }),
  ...observed("ads", "advertising", {
    search_ads_started: {
      figures: `SELECT l.tool_id, b.search_ads AS before_value, l.search_ads AS after_value,
          (SELECT max(e.search_ads) FROM product_presence_month e
           WHERE e.month BETWEEN @month - 3 AND @month - 2 AND e.tool_id = l.tool_id) AS earlier
        FROM product_presence_month l JOIN product_presence_month b ON b.month = @month - 1 AND b.tool_id = l.tool_id
        WHERE l.month = @month`,
      when: "after_value > 0 AND before_value = 0 AND coalesce(earlier, 0) = 0",
      unit: "ads",
      title: ["{name} started running search ads", "{name}开始投放搜索广告"],
      summary: [
        "In {month}, {after} search ads for {name} were seen, after three months without any.",
        "{month}发现{name}的{after}条搜索广告，此前三个月一条也没有。",
      ],
    },
    ad_creative_expansion: {
      ...presence("ad_creatives", "creatives"),
      when: "before_value > 0 AND after_value >= before_value * 1.7 AND after_value - before_value >= 8",
      title: ["{name} ran {rate} more ad creatives", "{name}的广告素材增加{rate}"],
      summary: bothMonths(
        "The number of different ads that {name} ran",
        "{name}投放的不同素材",
        "个",
      ),
    },
  }),
  ...observed("site", "product", {
    new_feature: {
      ...introduced("feature", "features"),
      title: ["{name} introduced {item}", "{name}推出{item}"],
      summary: [
        "The official site of {name} announced {item} in {month}.",
        "{month}，{name}官方网站宣布推出{item}。",
      ],
    },
    new_model: {
      ...introduced("model", "models"),
      title: ["{name} released a new model, {item}", "{name}发布新模型{item}"],
      summary: [
        "{item} became available to users of {name} in {month}.",
        "{month}起，{name}的用户可使用{item}。",
      ],
    },
    api_added: {
      ...introduced("api", "apis"),
      title: ["{name} launched a public API", "{name}开放API"],
      summary: [
        "{name} published the documentation of its API in {month}.",
        "{month}，{name}公开了API文档。",
      ],
    },
    mcp_added: {
      ...introduced("mcp", "mcp_servers"),
      title: ["{name} now supports MCP", "{name}现已支持MCP"],
      summary: [
        "{name} published the address of its MCP server in {month}.",
        "{month}，{name}公布了MCP服务器的地址。",
      ],
    },
    product_launch: {
      figures: `SELECT tool_id, launched_month < @month AS before_value, launched_month <= @month AS after_value
        FROM product WHERE discontinued_month IS NULL OR discontinued_month > @month`,
      when: "after_value > before_value",
      unit: "products",
      title: ["{name} has launched", "{name}正式上线"],
      summary: [
        "{name}, a new product in {sector}, announced its launch.",
        "{sector}类新产品{name}宣布上线。",
      ],
    },
  }),
  ...observed("site", "website", {
    positioning_shift: {
      ...changedText("tagline", 1, "wording_share"),
      title: ["{name} changed its positioning", "{name}调整了产品定位"],
      summary: [
        'In {month} the homepage changed from "{before_text}" to "{after_text}"; {after} of its wording stayed.',
        "{month}，{name}更换了首页标语，与原标语相同的文字占{after}。",
      ],
    },
    primary_domain_changed: {
      ...changedText("domain", 0, "redirected_share"),
      title: ["{name} moved to {after_text}", "{name}迁移至{after_text}"],
      summary: [
        "{after} of the checked addresses on {before_text} have redirected to {after_text} since {month}.",
        "{month}起，{before_text}上抽查的网址有{after}永久重定向到{after_text}。",
      ],
    },
    website_sitemap_expansion: {
      ...presence("sitemap_urls", "urls"),
      when: "after_value >= before_value * 1.5 AND after_value - before_value >= 100",
      title: ["{name}'s sitemap grew to {after} pages", "{name}的站点地图增至{after}个页面"],
      summary: bothMonths(
        "Indexable pages in the sitemap of {domain}",
        "{domain}站点地图中的可索引页面",
        "个",
      ),
    },
    programmatic_seo_expansion: {
      ...presence("pattern_urls", "urls"),
      // Fewer pages could be written by hand.
      when: "after_value - before_value >= 300",
      title: [
        "{name} published {added} more pages from one template",
        "{name}新增{added}个模板页面",
      ],
      summary: bothMonths(
        "Pages of one pattern in the sitemap of {domain}",
        "{domain}站点地图中结构相同的页面",
        "个",
      ),
    },
    new_market_pages: {
      ...presence("market_urls", "urls"),
      // Fewer pages could be single additions.
      when: "after_value - before_value >= 50",
      title: [
        "{name} added {added} pages for markets and use cases",
        "{name}新增{added}个面向不同市场或用途的页面",
      ],
      summary: bothMonths(
        "Pages of {domain} for languages, regions or uses",
        "{domain}面向语言、地区或用途的页面",
        "个",
      ),
    },
  }),
  ...observed("site", null, {
    product_discontinued: {
      figures: `SELECT tool_id, coalesce(discontinued_month >= @month, 1) AS before_value,
          coalesce(discontinued_month > @month, 1) AS after_value FROM product`,
      when: "after_value < before_value",
      unit: "products",
      title: ["{name} has been shut down", "{name}停止服务"],
      summary: [
        "In {month}, the maker announced the end of {name}.",
        "{month}，{name}宣布停止提供服务。",
      ],
    },
    website_sitemap_contraction: {
      ...presence("sitemap_urls", "urls"),
      when: "after_value <= before_value * 0.6 AND before_value - after_value >= 100",
      title: ["{name} cut its sitemap by {rate}", "{name}的站点地图缩减{rate}"],
      summary: bothMonths(
        "Indexable pages in the sitemap of {domain}",
        "{domain}站点地图中的可索引页面",
        "个",
      ),
    },
  }),
};
