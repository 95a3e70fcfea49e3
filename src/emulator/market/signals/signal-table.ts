import type { KnownSignalType } from "../../../events/signal-types.js";

/** The directions of the emulator's own signals; a caller who publishes a signal by hand may give another one. */
export const CHANGE_DIRECTIONS = ["up", "down", "changed"] as const;
export type ChangeDirection = (typeof CHANGE_DIRECTIONS)[number];

/** With placeholders: see `signal-texts.ts`. */
export interface SignalTexts {
  /** How it was observed. */
  evidence: Readonly<{ en: string; zh: string }>;
  en: readonly [title: string, summary: string];
  zh: readonly [title: string, summary: string];
}

/** One signal type: where its figures come from, when there is a signal, and what the signal says. */
export interface SignalRow extends SignalTexts {
  /**
   * SQL that gives `tool_id`, `before_value`, `after_value` and what the texts need, at most once for each product, whether or
   * not there is a signal. It may use `@month` and `@monthStart` (milliseconds since 1970).
   */
  figures: string;
  /**
   * The condition on those columns under which the month has a signal. The document leaves open when a rise is notable and a
   * change material, so the thresholds here are the emulator's.
   */
  when: string;
  /** One unit, or those of the values before and after. */
  unit: string | readonly [before: string, after: string];
  /** @default by the values; a smaller rank is up */
  direction?: ChangeDirection;
}

const SAMPLES = {
  en: "Monthly samples of {domain}, all from the same source and method.",
  zh: "{domain}的月度样本，来源与方法相同。",
};
const RANKING = {
  en: "Visits to the {population} products of {sector} that were tracked in both months.",
  zh: "{sector}两个月都被追踪的{population}个产品的访问量。",
};
const PRICING = { en: "Pricing pages of {lastMonth} and {month}.", zh: "{lastMonth}与{month}的价格页。" };
const SITE = { en: "The official site of {name} in {month}.", zh: "{name}{month}的官方网站。" };
const WEB = { en: "Public pages about {domain}; copies do not count.", zh: "有关{domain}的公开页面，转载不计。" };
const ADS = { en: "A public ads library.", zh: "公开的广告库。" };
const SITEMAP = {
  en: "The public sitemap of {domain}; redirects and pages marked noindex do not count.",
  zh: "{domain}的公开站点地图，重定向与noindex页面不计。",
};
const SEARCHES = { en: "Keywords in two comparable monthly samples.", zh: "两个可比的月度样本中的关键词。" };

const visits = (row: string): string => `(${row}.organic + ${row}.paid + ${row}.ai_referral + ${row}.direct)`;

/** A number of each product that was observed in this month and the one before. */
const compared = (table: "product_month" | "product_presence_month", value: (row: string) => string): string =>
  `SELECT l.tool_id, ${value("b")} AS before_value, ${value("l")} AS after_value
   FROM ${table} l JOIN ${table} b ON b.month = @month - 1 AND b.tool_id = l.tool_id WHERE l.month = @month`;

const presence = (column: string): string => compared("product_presence_month", (row) => `${row}.${column}`);

/** What the visits of a month gained on those of the month before, for three months in a row. */
const GAINS = `SELECT l.tool_id, ${visits("a")} - ${visits("b")} AS before_value, ${visits("l")} - ${visits("a")} AS after_value,
    ${visits("b")} - ${visits("c")} AS first_gain
  FROM product_month l
  JOIN product_month a ON a.tool_id = l.tool_id AND a.month = @month - 1
  JOIN product_month b ON b.tool_id = l.tool_id AND b.month = @month - 2
  JOIN product_month c ON c.tool_id = l.tool_id AND c.month = @month - 3
  WHERE l.month = @month`;

/** Only products that were observed in both months: a product that was not observed once has moved no rank and no share. */
const TRACKED = `SELECT l.tool_id, p.sector_id, ${visits("b")} AS earlier, ${visits("l")} AS latest
  FROM product_month l JOIN product_month b ON b.month = @month - 1 AND b.tool_id = l.tool_id
  JOIN product p ON p.tool_id = l.tool_id WHERE l.month = @month`;

const RANKS = `SELECT tool_id, rank() OVER (PARTITION BY sector_id ORDER BY earlier DESC, tool_id) AS before_value,
    rank() OVER (PARTITION BY sector_id ORDER BY latest DESC, tool_id) AS after_value,
    count(*) OVER (PARTITION BY sector_id) AS population
  FROM (${TRACKED})`;

const enteredTop = (top: number): SignalRow => ({
  figures: RANKS,
  when: `before_value > ${top} AND after_value <= ${top}`,
  unit: "rank",
  evidence: RANKING,
  en: [
    "{name} climbed to rank {after} in {sector}",
    `{name} moved from rank {before} in {lastMonth} to rank {after} in {month} and entered the top ${top} of its primary market.`,
  ],
  zh: [
    "{name}升至{sector}第{after}名",
    `{name}从{lastMonth}的第{before}名升至{month}的第{after}名，进入其主要市场前${top}。`,
  ],
});

/** Whether a plan holds in a month. */
const holds = (plan: string, month: string): string =>
  `${plan}.from_month <= ${month} AND (${plan}.until_month IS NULL OR ${plan}.until_month > ${month})`;

/** A plan as it was in the month before (`b`) and as it is in this one (`l`). */
const SAME_PLAN = `plan l JOIN plan b ON b.tool_id = l.tool_id AND b.name = l.name AND b.region = l.region
  WHERE ${holds("l", "@month")} AND ${holds("b", "@month - 1")}`;

/** Of each product the plan whose price rose most, or fell most. */
const prices = (most: "risen" | "fallen"): string => `SELECT * FROM (
    SELECT l.tool_id, b.monthly_price_cents / 100.0 AS before_value, l.monthly_price_cents / 100.0 AS after_value,
      l.name AS plan, row_number() OVER (PARTITION BY l.tool_id ORDER BY
        l.monthly_price_cents * 1.0 / b.monthly_price_cents ${most === "risen" ? "DESC" : "ASC"}, l.plan_id) AS place
    FROM ${SAME_PLAN} AND b.monthly_price_cents > 0 AND l.monthly_price_cents > 0
  ) WHERE place = 1`;

/** How many plans of a kind there were in the month before and are in this one. */
const planCounts = (kind: "free" | "enterprise"): string => `SELECT tool_id,
    sum(kind = '${kind}' AND ${holds("plan", "@month - 1")}) AS before_value,
    sum(kind = '${kind}' AND ${holds("plan", "@month")}) AS after_value,
    sum(${holds("plan", "@month - 1")}) AS plans_before, sum(kind = '${kind}' AND from_month < @month) AS ever_before
  FROM plan WHERE from_month <= @month GROUP BY tool_id`;

/** What products that were listed earlier introduced in this month: how many, and the first of them. */
const introduced = (kind: "feature" | "model" | "api" | "mcp"): string => `SELECT f.tool_id, 0 AS before_value,
    count(*) AS after_value, f.name_en AS item_en, f.name_zh AS item_zh, min(f.feature_id) AS first_feature
  FROM feature f JOIN product p ON p.tool_id = f.tool_id AND p.listed_at < @monthStart
  WHERE f.kind = '${kind}' AND f.from_month = @month GROUP BY f.tool_id`;

/** A text of a product that became another one; `share` is a percentage. */
const changedText = (kind: "domain" | "tagline", before: number): string =>
  `SELECT tool_id, ${before} AS before_value, share / 100.0 AS after_value, before_text, after_text
   FROM product_change WHERE month = @month AND kind = '${kind}'`;

/** Only samples that can be compared: of one version, and verified. */
const COMPARABLE = `l.month = @month AND b.month = @month - 1 AND b.keyword_id = l.keyword_id
  AND l.sample_version = b.sample_version AND l.is_verified = 1 AND b.is_verified = 1`;

const ALWAYS = "1";

/** The one home of each signal type. The month that passes and a caller who publishes by hand both use it. */
export const SIGNALS: Readonly<Record<KnownSignalType, SignalRow>> = {
  traffic_breakout: {
    figures: compared("product_month", visits),
    // The document wants scale beside rate: a small product doubles easily.
    when: "before_value > 0 AND after_value >= before_value * 1.5 AND after_value - before_value >= 5000",
    unit: "visits",
    evidence: SAMPLES,
    en: [
      "{name}'s monthly visits rose {rate} in {month}",
      "{name} drew {after} visits in {month}, after {before} in {lastMonth}.",
    ],
    zh: ["{name}{month}访问量增长{rate}", "{name}{month}获得{after}次访问，{lastMonth}为{before}次。"],
  },
  traffic_acceleration: {
    figures: GAINS,
    // A slightly larger increase is common, and an increase of a few visits says nothing.
    when: `first_gain > 0 AND before_value > 0 AND after_value >= before_value * 1.3
      AND after_value > first_gain AND after_value >= 2000`,
    unit: "visits_added",
    evidence: SAMPLES,
    en: [
      "{name}'s growth sped up in {month}",
      "{name} gained {after} visits in {month}; it had gained {before} in {lastMonth} and {first_gain} the month before that.",
    ],
    zh: [
      "{name}{month}增长加速",
      "{name}{month}增加{after}次访问；{lastMonth}增加{before}次，再前一个月增加{first_gain}次。",
    ],
  },
  traffic_deceleration: {
    figures: GAINS,
    when: "after_value > 0 AND first_gain > before_value AND after_value <= before_value * 0.6 AND before_value >= 2000",
    unit: "visits_added",
    evidence: SAMPLES,
    en: [
      "{name}'s growth is slowing down",
      "{name} gained {after} visits in {month}, after {before} in {lastMonth} and {first_gain} the month before that.",
    ],
    zh: [
      "{name}仍在增长，但增量逐月减少",
      "{name}{month}增加{after}次访问；{lastMonth}增加{before}次，再前一个月增加{first_gain}次。",
    ],
  },
  entered_category_top_10: enteredTop(10),
  // A product that goes straight into the top 10 enters the top 20 too.
  entered_category_top_20: enteredTop(20),
  dropped_out_of_category_top_10: {
    figures: RANKS,
    when: "before_value <= 10 AND after_value > 10",
    unit: "rank",
    evidence: RANKING,
    en: [
      "{name} slipped from rank {before} to rank {after} in {sector}",
      "{name} held rank {before} in {lastMonth} and lost its place in the top 10 of its primary market in {month}.",
    ],
    zh: [
      "{name}在{sector}从第{before}名降至第{after}名",
      "{name}{lastMonth}位列第{before}名，{month}跌出其主要市场前10。",
    ],
  },
  market_share_shift: {
    figures: `SELECT tool_id, round(CAST(earlier AS REAL) / sum(earlier) OVER market, 4) AS before_value,
        round(CAST(latest AS REAL) / sum(latest) OVER market, 4) AS after_value, count(*) OVER market AS population
      FROM (${TRACKED}) WINDOW market AS (PARTITION BY sector_id)`,
    // One of a hundred visits in the market changed its product.
    when: "abs(after_value - before_value) >= 0.01",
    unit: "share",
    evidence: RANKING,
    en: [
      "{name} {gained|lost} traffic share in {sector}",
      "{name} received {after} of the visits to tracked products of {sector} in {month}, {up|down} from {before} in {lastMonth}.",
    ],
    zh: [
      "{name}在{sector}的流量份额{上升|下降}",
      "{name}{month}占{sector}被追踪产品访问量的{after}，{lastMonth}为{before}。",
    ],
  },
  ai_referral_breakout: {
    figures: compared("product_month", (row) => `${row}.ai_referral`),
    when: "before_value > 0 AND after_value >= before_value * 1.8 AND after_value - before_value >= 400",
    unit: "visits",
    evidence: SAMPLES,
    en: [
      "AI assistants sent {name} {rate} more visits",
      "Visits to {name} from AI assistants rose from {before} in {lastMonth} to {after} in {month}.",
    ],
    zh: [
      "AI助手为{name}带来的访问增加{rate}",
      "{name}来自AI助手的访问从{lastMonth}的{before}次增至{month}的{after}次。",
    ],
  },
  ai_traffic_share_shift: {
    figures: `SELECT l.tool_id, round(CAST(b.ai_referral AS REAL) / ${visits("b")}, 4) AS before_value,
        round(CAST(l.ai_referral AS REAL) / ${visits("l")}, 4) AS after_value, min(${visits("b")}, ${visits("l")}) AS fewest
      FROM product_month l JOIN product_month b ON b.month = @month - 1 AND b.tool_id = l.tool_id WHERE l.month = @month`,
    // Shares of few visits move by chance.
    when: "fewest >= 2000 AND abs(after_value - before_value) >= 0.02",
    unit: "share",
    evidence: SAMPLES,
    en: [
      "{name} now gets {after} of its traffic from AI assistants",
      "The share of visits to {name} that come from AI assistants {rose|fell} from {before} in {lastMonth} to {after} in {month}.",
    ],
    zh: [
      "{name}的流量有{after}来自AI助手",
      "{name}来自AI助手的访问占比从{lastMonth}的{before}{升至|降至}{month}的{after}。",
    ],
  },
  new_ai_referral_source: {
    // The join leaves out products whose traffic was not observed in this month.
    figures: `SELECT tool_id, 0 AS before_value, max(first_visits) AS after_value, source
      FROM ai_source JOIN product_month USING (tool_id) WHERE from_month = @month AND month = @month GROUP BY tool_id`,
    // Fewer visits may be a test by hand.
    when: "after_value >= 10",
    unit: "visits",
    evidence: SAMPLES,
    en: [
      "{name} received its first visits from {source}",
      "{name} received {after} visits in {month} from {source}, an AI platform that had sent it none before.",
    ],
    zh: ["{name}首次获得来自{source}的访问", "{month}，此前从未为{name}带来访问的AI平台{source}带来了{after}次访问。"],
  },
  ai_referral_sources_diversified: {
    figures: `SELECT tool_id, sum(from_month <= @month - 3) AS before_value, count(*) AS after_value,
        max(from_month) = @month AS is_new
      FROM ai_source WHERE from_month <= @month GROUP BY tool_id`,
    // One more platform is the signal new_ai_referral_source.
    when: "is_new AND after_value >= 3 AND after_value - before_value >= 2",
    unit: "platforms",
    evidence: SAMPLES,
    en: [
      "{after} AI platforms now send visitors to {name}",
      "AI platforms that sent visitors to {name}: {before} three months earlier, {after} in {month}.",
    ],
    zh: ["已有{after}个AI平台为{name}带来访客", "三个月前有{before}个AI平台为{name}带来访问，{month}增至{after}个。"],
  },
  price_increased: {
    figures: prices("risen"),
    when: "after_value > before_value",
    unit: "usd_per_month",
    evidence: PRICING,
    en: [
      "{name}'s {plan} plan went from {before} to {after}",
      "The monthly price of {name}'s {plan} plan rose by {rate} in {month}: {after} after {before}.",
    ],
    zh: [
      "{name}的{plan}套餐由{before}上调至{after}",
      "{month}，{name}的{plan}套餐月费上调{rate}，从{before}变为{after}。",
    ],
  },
  price_decreased: {
    figures: prices("fallen"),
    when: "after_value < before_value",
    unit: "usd_per_month",
    evidence: PRICING,
    en: [
      "{name} cut its {plan} plan to {after}",
      "The monthly price of {name}'s {plan} plan fell by {rate} in {month}: {after} after {before}.",
    ],
    zh: [
      "{name}的{plan}套餐由{before}下调至{after}",
      "{month}，{name}的{plan}套餐月费下调{rate}，从{before}变为{after}。",
    ],
  },
  free_plan_added: {
    figures: planCounts("free"),
    when: "plans_before > 0 AND before_value = 0 AND after_value > 0",
    unit: "free_plans",
    evidence: PRICING,
    en: ["{name} added a free plan", "{name} began to offer a free plan beside its paid ones in {month}."],
    zh: ["{name}推出免费套餐", "{month}起，{name}在付费套餐之外提供免费套餐。"],
  },
  free_plan_removed: {
    figures: planCounts("free"),
    when: "before_value > 0 AND after_value = 0",
    unit: "free_plans",
    evidence: PRICING,
    en: ["{name} dropped its free plan", "New customers of {name} have had to choose a paid plan since {month}."],
    zh: ["{name}取消免费套餐", "{month}起，{name}的新用户须选择付费套餐，价格页不再列出免费套餐。"],
  },
  pricing_model_changed: {
    figures: `SELECT c.tool_id, min(b.monthly_price_cents) / 100.0 AS before_value, min(l.unit_price_mills) / 1000.0 AS after_value
      FROM product_change c
      JOIN plan b ON b.tool_id = c.tool_id AND b.until_month = @month AND b.monthly_price_cents > 0
      JOIN plan l ON l.tool_id = c.tool_id AND l.from_month = @month AND l.unit_price_mills IS NOT NULL
      WHERE c.month = @month AND c.kind = 'pricing_model' GROUP BY c.tool_id`,
    when: ALWAYS,
    unit: ["usd_per_month", "usd_per_use"],
    direction: "changed",
    evidence: PRICING,
    en: [
      "{name} moved from monthly to usage-based pricing",
      "{name} has cost {after} per use since {month}; before that, its cheapest paid plan cost {before} a month.",
    ],
    zh: ["{name}由按月收费改为按量收费", "{month}起，{name}按次收费{after}，此前最低付费套餐为每月{before}。"],
  },
  trial_changed: {
    // The paid plans of a product have the same trial, so the first of them stands for all.
    figures: `SELECT l.tool_id, b.trial_days AS before_value, l.trial_days AS after_value, l.name AS plan, min(l.plan_id),
        l.trial_needs_card <> b.trial_needs_card AS card_changed,
        iif(l.trial_needs_card, 'a', 'no') AS card_en, iif(l.trial_needs_card, '需要', '无需') AS card_zh
      FROM ${SAME_PLAN} AND l.kind = 'paid' GROUP BY l.tool_id`,
    when: "after_value <> before_value OR card_changed",
    unit: "days",
    direction: "changed",
    evidence: PRICING,
    en: [
      "{name} changed its free trial",
      "Trial days of the {plan} plan: {before} in {lastMonth}, {after} in {month}. It takes {card} payment card to start the trial.",
    ],
    zh: [
      "{name}调整试用规则",
      "{plan}套餐的试用期：{lastMonth}为{before}天，{month}为{after}天；开始试用{card}绑定银行卡。",
    ],
  },
  enterprise_plan_introduced: {
    figures: planCounts("enterprise"),
    when: "plans_before > 0 AND ever_before = 0 AND after_value > 0",
    unit: "enterprise_plans",
    evidence: PRICING,
    en: [
      "{name} introduced an enterprise plan",
      "{name} added its first enterprise plan in {month}; the price is on request.",
    ],
    zh: ["{name}推出企业版", "{month}，{name}首次提供企业版套餐，价格面议。"],
  },
  backlink_acquisition_spike: {
    figures: `SELECT l.tool_id, round((b.linking_domains - e.linking_domains) / 3.0) AS before_value,
        l.linking_domains - b.linking_domains AS after_value
      FROM product_month l
      JOIN product_month b ON b.month = @month - 1 AND b.tool_id = l.tool_id
      JOIN product_month e ON e.month = @month - 4 AND e.tool_id = l.tool_id
      WHERE l.month = @month`,
    when: "after_value >= before_value * 4 AND after_value >= 20",
    unit: "domains",
    evidence: WEB,
    en: [
      "{after} more websites linked to {name} in {month}",
      "{name} gained {after} linking websites in {month}; in the three months before it gained about {before} a month.",
    ],
    zh: [
      "{month}有{after}个网站开始链接到{name}",
      "{name}{month}新增{after}个外链网站，此前三个月平均每月约{before}个。",
    ],
  },
  ai_directory_push: {
    figures: presence("directories"),
    when: "after_value - before_value >= 4",
    unit: "directories",
    evidence: WEB,
    en: [
      "{name} was listed in {added} more AI directories",
      "Verified AI directories that list {name}: {before} in {lastMonth}, {after} in {month}.",
    ],
    zh: [
      "{name}新登上{added}个AI导航站",
      "收录{name}的已核实AI导航站从{lastMonth}的{before}个增至{month}的{after}个。",
    ],
  },
  media_review_burst: {
    figures: presence("articles"),
    when: "after_value >= 5 AND after_value >= before_value * 3",
    unit: "articles",
    evidence: WEB,
    en: [
      "{after} articles and reviews about {name} in {month}",
      "Independent articles and reviews about {name}: {before} in {lastMonth}, {after} in {month}.",
    ],
    zh: [
      "{month}有{after}篇关于{name}的报道与评测",
      "{name}{month}获得{after}篇独立报道或评测，{lastMonth}为{before}篇。",
    ],
  },
  search_ads_started: {
    figures: `SELECT l.tool_id, b.search_ads AS before_value, l.search_ads AS after_value,
        (SELECT max(e.search_ads) FROM product_presence_month e
         WHERE e.month BETWEEN @month - 3 AND @month - 2 AND e.tool_id = l.tool_id) AS earlier
      FROM product_presence_month l JOIN product_presence_month b ON b.month = @month - 1 AND b.tool_id = l.tool_id
      WHERE l.month = @month`,
    when: "after_value > 0 AND before_value = 0 AND coalesce(earlier, 0) = 0",
    unit: "ads",
    evidence: ADS,
    en: [
      "{name} started running search ads",
      "{after} search ads of {name} were seen in {month}, after three months without any.",
    ],
    zh: ["{name}开始投放搜索广告", "此前三个月未发现{name}的搜索广告，{month}发现{after}条。"],
  },
  ad_creative_expansion: {
    figures: presence("ad_creatives"),
    when: "before_value > 0 AND after_value >= before_value * 1.7 AND after_value - before_value >= 8",
    unit: "creatives",
    evidence: ADS,
    en: [
      "{name} ran {rate} more ad creatives",
      "{name} ran {after} different creatives in {month}, up from {before} in {lastMonth}.",
    ],
    zh: ["{name}的广告素材增加{rate}", "{name}{month}投放{after}种素材，{lastMonth}为{before}种。"],
  },
  new_feature: {
    figures: introduced("feature"),
    when: ALWAYS,
    unit: "features",
    evidence: SITE,
    en: ["{name} introduced {item}", "A post on the official site of {name} introduced {item} in {month}."],
    zh: ["{name}推出{item}", "{month}，{name}官方网站发文介绍{item}。"],
  },
  new_model: {
    figures: introduced("model"),
    when: ALWAYS,
    unit: "models",
    evidence: SITE,
    en: ["{name} released the model {item}", "{item} became available to users of {name} in {month}."],
    zh: ["{name}发布模型{item}", "{month}起，{name}的用户可使用{item}。"],
  },
  api_added: {
    figures: introduced("api"),
    when: ALWAYS,
    unit: "apis",
    evidence: SITE,
    en: ["{name} launched a public API", "{name} published the documentation of a public API in {month}."],
    zh: ["{name}开放API", "{month}，{name}公布了公开API的文档。"],
  },
  mcp_added: {
    figures: introduced("mcp"),
    when: ALWAYS,
    unit: "mcp_servers",
    evidence: SITE,
    en: ["{name} now supports MCP", "The help centre of {name} has described a remote MCP server since {month}."],
    zh: ["{name}支持MCP", "{month}起，{name}的帮助中心介绍其远程MCP服务器。"],
  },
  positioning_shift: {
    figures: changedText("tagline", 1),
    when: ALWAYS,
    unit: "wording_share",
    direction: "changed",
    evidence: SITE,
    en: [
      "{name} changed its positioning",
      'In {month} the homepage changed from "{before_text}" to "{after_text}"; {after} of its wording stayed.',
    ],
    zh: ["{name}调整了产品定位", "{month}，{name}首页的标语已更换，仅有{after}的文字与之前相同。"],
  },
  product_launch: {
    figures: `SELECT tool_id, launched_month < @month AS before_value, launched_month <= @month AS after_value
      FROM product WHERE discontinued_month IS NULL OR discontinued_month > @month`,
    when: "after_value > before_value",
    unit: "products",
    evidence: SITE,
    en: ["{name} has launched", "The maker of {name}, a product of {sector}, announced its launch in {month}."],
    zh: ["{name}正式上线", "{month}，{sector}产品{name}的开发方宣布上线。"],
  },
  website_sitemap_expansion: {
    figures: presence("sitemap_urls"),
    when: "after_value >= before_value * 1.5 AND after_value - before_value >= 100",
    unit: "urls",
    evidence: SITEMAP,
    en: [
      "{name}'s sitemap grew from {before} to {after} pages",
      "The public sitemap of {domain} listed {added} more indexable pages in {month} than in {lastMonth}.",
    ],
    zh: [
      "{name}的站点地图从{before}个网址增至{after}个",
      "{domain}公开站点地图{month}比{lastMonth}多{added}个可索引页面。",
    ],
  },
  website_sitemap_contraction: {
    figures: presence("sitemap_urls"),
    when: "after_value <= before_value * 0.6 AND before_value - after_value >= 100",
    unit: "urls",
    evidence: SITEMAP,
    en: [
      "{name} cut its sitemap by {rate}",
      "The public sitemap of {domain} listed {before} indexable pages in {lastMonth} and {after} in {month}.",
    ],
    zh: [
      "{name}从站点地图移除{rate}的页面",
      "{domain}公开站点地图{lastMonth}有{before}个可索引页面，{month}为{after}个。",
    ],
  },
  programmatic_seo_expansion: {
    figures: presence("pattern_urls"),
    // Fewer are written by hand.
    when: "after_value - before_value >= 300",
    unit: "urls",
    evidence: SITEMAP,
    en: [
      "{name} published {added} more pages from one template",
      "Sitemap pages of {domain} with the same structure: {before} in {lastMonth}, {after} in {month}. Whether they are indexed or visited is not known.",
    ],
    zh: [
      "{name}新增{added}个模板页面",
      "{month}，{domain}结构相似的站点地图网址从{before}个增至{after}个；是否被收录或访问尚不清楚。",
    ],
  },
  organic_keyword_breakout: {
    // Of each product the keyword that gained most visits, of those that grew enough where there are any.
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
    // A keyword's traffic moves by a fifth by chance.
    when: "after_value >= before_value * 1.8 AND after_value - before_value >= 150",
    unit: "visits",
    evidence: SEARCHES,
    en: [
      '"{keyword}" brings {name} far more visits',
      'Estimated visits to {name} from the keyword "{keyword}" rose from {before} in {lastMonth} to {after} in {month}.',
    ],
    zh: [
      "“{keyword}”为{name}带来的访问大增",
      "{name}来自关键词“{keyword}”的估计访问从{lastMonth}的{before}次增至{month}的{after}次。",
    ],
  },
  brand_search_growth: {
    figures: `SELECT p.tool_id, sum(b.search_volume) AS before_value, sum(l.search_volume) AS after_value
      FROM keyword_month l JOIN keyword_month b ON ${COMPARABLE}
      JOIN keyword k ON k.keyword_id = l.keyword_id AND k.brand_type IN ('brand_navigational', 'brand_commercial')
      JOIN product p ON p.slug = substr(k.cluster_id, length('brand-') + 1)
      WHERE l.month = @month GROUP BY p.tool_id`,
    when: "after_value >= before_value * 1.25 AND after_value - before_value >= 500",
    unit: "searches",
    evidence: SEARCHES,
    en: [
      "More people searched for {name} by name",
      "Searches for the branded terms of {name} rose from {before} in {lastMonth} to {after} in {month}.",
    ],
    zh: ["搜索{name}名称的人增多", "{name}的品牌词搜索量从{lastMonth}的{before}次增至{month}的{after}次。"],
  },
  new_market_pages: {
    figures: presence("market_urls"),
    // Fewer are single pages.
    when: "after_value - before_value >= 50",
    unit: "urls",
    evidence: SITEMAP,
    en: [
      "{name} added {added} pages for languages, regions or use cases",
      "Sitemap pages of {domain} with such a path: {before} in {lastMonth}, {after} in {month}. They do not prove a first entry into a market.",
    ],
    zh: [
      "{name}新增{added}个面向语言、地区或用途的页面",
      "{month}，{domain}有{after}个此类网址，{lastMonth}为{before}个；这并不证明首次进入某一市场。",
    ],
  },
  browser_extension_user_growth: {
    figures: presence("extension_users"),
    // Extension stores round to thousands.
    when: "before_value > 0 AND after_value >= before_value * 1.25 AND after_value - before_value >= 2000",
    unit: "users",
    evidence: WEB,
    en: [
      "{name}'s browser extension reached {after} users",
      "The extension had {before} users in {lastMonth} and {after} in {month}.",
    ],
    zh: ["{name}的浏览器扩展用户达到{after}", "该扩展{lastMonth}有{before}名用户，{month}有{after}名。"],
  },
  primary_domain_changed: {
    figures: changedText("domain", 0),
    when: ALWAYS,
    unit: "redirected_share",
    direction: "changed",
    evidence: SITE,
    en: [
      "{name} moved to {after_text}",
      "{after} of the checked addresses on {before_text} have redirected to {after_text} since {month}.",
    ],
    zh: ["{name}迁移至{after_text}", "{month}起，{before_text}上{after}的抽查网址永久重定向到{after_text}。"],
  },
  product_discontinued: {
    figures: `SELECT tool_id, coalesce(discontinued_month >= @month, 1) AS before_value,
        coalesce(discontinued_month > @month, 1) AS after_value FROM product`,
    when: "after_value < before_value",
    unit: "products",
    evidence: SITE,
    en: [
      "{name} has been shut down",
      "The maker of {name} announced in {month} that the product is no longer offered.",
    ],
    zh: ["{name}停止服务", "{month}，{name}的开发方宣布不再提供该产品。"],
  },
};
