import { expect, test } from "vitest";
import { signalDataSchema } from "../../../../../src/kit/senders/signals/parse-event.js";
import {
  SIGNAL_TYPES,
  type KnownSignalType,
} from "../../../../../src/kit/senders/signals/signal-types.js";
import { readFixture } from "../../../../../src/kit/testing/signal-event.js";
import { growMonth } from "../../../../../src/service/emulator/market/create-market.js";
import {
  deriveSignals,
  draftSignal,
} from "../../../../../src/service/emulator/market/signals/derive-signals.js";
import type { SignalDraft } from "../../../../../src/service/emulator/market/signals/due-signals.js";
import { readRankings } from "../../../../../src/service/emulator/research/read-rankings.js";
import { LAST, madeMarket, rowsOf } from "./made-market.js";

const market = madeMarket(1);
const MONTHS = Array.from({ length: 11 }, (_, back) => LAST - back);
const drafts = new Map(MONTHS.map((month) => [month, deriveSignals(market, month)]));
const all = [...drafts.values()].flat();

interface Month {
  visits: number;
  ai_referral: number;
  linking_domains: number;
  search_ads: number;
  [column: string]: number;
}

/** All that was observed of a product in a month. */
const observed = new Map(
  rowsOf<Month & { month: number; tool_id: number }>(
    market,
    `SELECT *, organic + paid + ai_referral + direct AS visits FROM product_month JOIN product_presence_month USING (month, tool_id)`,
  ).map((row) => [`${row.month}/${row.tool_id}`, row]),
);
const at = (month: number, toolId: number): Month | undefined => observed.get(`${month}/${toolId}`);
const sectors = new Map(
  rowsOf<{ tool_id: number; sector_id: number }>(
    market,
    "SELECT tool_id, sector_id FROM product",
  ).map((row) => [row.tool_id, row.sector_id]),
);

type Figures = readonly [before: number, after: number];
type Found = Record<number, Figures>;

function derived(type: KnownSignalType, month: number): Found {
  const found = (drafts.get(month) ?? []).filter(({ signal_type }) => signal_type === type);
  return Object.fromEntries(
    found.map(({ tool_id, change }) => [tool_id, [change.before.value, change.after.value]]),
  );
}

/** What a plain check of each product finds. */
function recomputed(check: (toolId: number) => Figures | null): Found {
  return Object.fromEntries(
    [...sectors.keys()]
      .map((toolId) => [toolId, check(toolId)] as const)
      .filter(([, found]) => found !== null),
  ) as Found;
}

/**
 * A product's values in a month and the months before it, the latest first; null when one was not
 * observed.
 */
function values(toolId: number, month: number, count: number, column: string): number[] | null {
  const rows = Array.from(
    { length: count },
    (_, back) => at(month - back, toolId)?.[column] ?? null,
  );
  return rows.every((value) => value !== null) ? rows : null;
}

test("a year's data gives signals of each type, some hundred a month, at most one of a type for a product", () => {
  expect(new Set(all.map(({ signal_type }) => signal_type))).toEqual(new Set(SIGNAL_TYPES));
  for (const found of drafts.values()) {
    expect(found.length).toBeGreaterThan(80);
    expect(found.length).toBeLessThan(400);
    expect(new Set(found.map((draft) => `${draft.signal_type}/${draft.tool_id}`)).size).toBe(
      found.length,
    );
  }
  expect(deriveSignals(market, LAST + 1)).toEqual([]);
  // Who follows the ranked products gets each type: such products were observed before the signal.
  const followed = MONTHS.flatMap(
    (month) => drafts.get(month)?.filter(({ tool_id }) => at(month - 1, tool_id)) ?? [],
  );
  expect(new Set(followed.map(({ signal_type }) => signal_type))).toEqual(new Set(SIGNAL_TYPES));
});

type Read = (month: number) => number;
const compared =
  (column: string) =>
  (toolId: number): Read =>
  (month) =>
    at(month, toolId)?.[column] ?? 0;
const added =
  (column: string) =>
  (toolId: number): Read =>
  (month) =>
    compared(column)(toolId)(month) - compared(column)(toolId)(month - 1);

/** The figures of a type in a month and the month before it. */
const FIGURES: Partial<Record<KnownSignalType, (toolId: number) => Read>> = {
  traffic_breakout: compared("visits"),
  traffic_acceleration: added("visits"),
  traffic_deceleration: added("visits"),
  ai_referral_breakout: compared("ai_referral"),
  ai_directory_push: compared("directories"),
  media_review_burst: compared("articles"),
  search_ads_started: compared("search_ads"),
  ad_creative_expansion: compared("ad_creatives"),
  website_sitemap_expansion: compared("sitemap_urls"),
  website_sitemap_contraction: compared("sitemap_urls"),
  programmatic_seo_expansion: compared("pattern_urls"),
  new_market_pages: compared("market_urls"),
  browser_extension_user_growth: compared("extension_users"),
};

test.each(Object.entries(FIGURES))(
  "the figures of %s are those of the two months",
  (type, figuresOf) => {
    for (const month of MONTHS) {
      for (const [toolId, figures] of Object.entries(derived(type as KnownSignalType, month))) {
        const read = figuresOf(Number(toolId));
        expect(figures).toEqual([read(month - 1), read(month)]);
      }
    }
  },
);

test("ranks and shares agree with a plain sort and division of each market", () => {
  const round = (share: number): number => Math.round(share * 10_000) / 10_000;
  for (const month of MONTHS.slice(0, 3)) {
    const both = [...sectors.keys()].filter(
      (toolId) => values(toolId, month, 2, "visits") !== null,
    );
    const visits = (toolId: number, when: number): number => at(when, toolId)?.visits ?? 0;
    const rivals = (toolId: number): number[] =>
      both.filter((other) => sectors.get(other) === sectors.get(toolId));
    const rank = (toolId: number, when: number): number =>
      1 +
      rivals(toolId).filter((other) => {
        const ahead = visits(other, when) - visits(toolId, when);
        return ahead > 0 || (ahead === 0 && other < toolId);
      }).length;
    const share = (toolId: number, when: number): number =>
      round(
        visits(toolId, when) / rivals(toolId).reduce((sum, other) => sum + visits(other, when), 0),
      );
    const moved = (of: typeof rank, isSignal: (before: number, now: number) => boolean): Found =>
      recomputed((toolId) => {
        if (!both.includes(toolId)) return null;
        const [before, now] = [of(toolId, month - 1), of(toolId, month)];
        return isSignal(before, now) ? [before, now] : null;
      });
    expect(derived("entered_category_top_10", month)).toEqual(
      moved(rank, (before, now) => before > 10 && now <= 10),
    );
    expect(derived("entered_category_top_20", month)).toEqual(
      moved(rank, (before, now) => before > 20 && now <= 20),
    );
    expect(derived("dropped_out_of_category_top_10", month)).toEqual(
      moved(rank, (before, now) => before <= 10 && now > 10),
    );
    expect(derived("market_share_shift", month)).toEqual(
      moved(share, (before, now) => Math.abs(now - before) >= 0.01),
    );
    expect(derived("ai_traffic_share_shift", month)).toEqual(
      moved(
        (toolId, when) => {
          const isSmall = Math.min(visits(toolId, month), visits(toolId, month - 1)) < 2000;
          return isSmall ? 0 : round((at(when, toolId)?.ai_referral ?? 0) / visits(toolId, when));
        },
        (before, now) => Math.abs(now - before) >= 0.02,
      ),
    );
  }
});

/** What a change of the data makes of the latest month's signals. The data is then as it was. */
function changedMonth(sql: string): SignalDraft[] {
  market.exec(`SAVEPOINT changed; ${sql}`);
  const found = deriveSignals(market, LAST);
  market.exec("ROLLBACK TO changed; RELEASE changed");
  return found;
}

test("a product that goes straight into the top 10 entered the top 20 too", () => {
  const [smallest] = rowsOf<{ tool_id: number }>(
    market,
    `SELECT tool_id FROM product_month l JOIN product_month b USING (tool_id)
     WHERE l.month = ${LAST} AND b.month = ${LAST - 1} ORDER BY b.organic + b.direct LIMIT 1`,
  );
  const id = smallest?.tool_id;
  const changed = changedMonth(
    `UPDATE product_month SET organic = 1e9 WHERE month = ${LAST} AND tool_id = ${id}`,
  );
  const entered = changed.filter(
    ({ tool_id, change }) => tool_id === id && change.after.unit === "rank",
  );
  expect(entered.map(({ signal_type }) => signal_type)).toEqual([
    "entered_category_top_10",
    "entered_category_top_20",
  ]);
});

test("prices and free plans agree with a plain look at the plans", () => {
  interface Plan { tool_id: number; name: string; kind: string; monthly_price_cents: number | null; from_month: number; until_month: number | null } // prettier-ignore
  const plans = rowsOf<Plan>(market, "SELECT * FROM plan");
  for (const month of MONTHS) {
    const of = (toolId: number, when: number): Plan[] =>
      plans.filter(
        (plan) =>
          plan.tool_id === toolId &&
          plan.from_month <= when &&
          (plan.until_month ?? Infinity) > when,
      );
    const price = (way: 1 | -1): Found =>
      recomputed((toolId) => {
        const moves = of(toolId, month).flatMap((plan) => {
          const before =
            of(toolId, month - 1).find(({ name }) => name === plan.name)?.monthly_price_cents ?? 0;
          const now = plan.monthly_price_cents ?? 0;
          return before > 0 && now > 0 && Math.sign(now - before) === way
            ? [[before / 100, now / 100] as const]
            : [];
        });
        return moves[0] ?? null;
      });
    expect(derived("price_increased", month)).toEqual(price(1));
    expect(derived("price_decreased", month)).toEqual(price(-1));
    const free = (isSignal: (before: number, now: number) => boolean): Found =>
      recomputed((toolId) => {
        const had = of(toolId, month - 1);
        const [before, now] = [had, of(toolId, month)].map(
          (each) => each.filter(({ kind }) => kind === "free").length,
        );
        return had.length > 0 && isSignal(before ?? 0, now ?? 0) ? [before ?? 0, now ?? 0] : null;
      });
    expect(derived("free_plan_added", month)).toEqual(
      free((before, now) => before === 0 && now > 0),
    );
    expect(derived("free_plan_removed", month)).toEqual(
      free((before, now) => before > 0 && now === 0),
    );
  }
});

test("each change of a product's pricing model, domain or positioning has its signal, and the texts differ", () => {
  const kinds = {
    pricing_model: "pricing_model_changed",
    domain: "primary_domain_changed",
    tagline: "positioning_shift",
  };
  const changes = rowsOf<{
    month: number;
    tool_id: number;
    kind: keyof typeof kinds;
    same: number;
  }>(
    market,
    `SELECT *, before_text = after_text AS same FROM product_change WHERE month > ${LAST - MONTHS.length}`,
  );
  expect(changes.length).toBeGreaterThan(30);
  for (const { month, tool_id, kind, same } of changes) {
    expect(same).toBe(0);
    expect(Object.keys(derived(kinds[kind] as KnownSignalType, month))).toContain(String(tool_id));
  }
});

test("a product whose traffic was not observed has no new source of traffic", () => {
  const type = "new_ai_referral_source";
  const [first, ...others] = Object.keys(derived(type, LAST));
  const changed = changedMonth(
    `DELETE FROM product_month WHERE month = ${LAST} AND tool_id = ${first}`,
  );
  const left = changed.filter(({ signal_type }) => signal_type === type);
  expect(others.length).toBeGreaterThan(0);
  expect(left.map(({ tool_id }) => String(tool_id))).toEqual(others);
});

test("keyword signals compare only comparable samples", () => {
  interface Sample { keyword_id: number; tool_id: number; traffic: number; sample_version: number; is_verified: number; brand_type: string } // prettier-ignore
  const samples = (month: number): Map<string, Sample> =>
    new Map(
      rowsOf<Sample>(
        market,
        `SELECT p.keyword_id, p.tool_id, p.traffic, m.sample_version, m.is_verified, k.brand_type FROM keyword_product_month p
         JOIN keyword_month m USING (month, keyword_id) JOIN keyword k USING (keyword_id) WHERE month = ?`,
        month,
      ).map((row) => [`${row.keyword_id}/${row.tool_id}`, row]),
    );
  for (const month of MONTHS.slice(0, 3)) {
    const before = samples(month - 1);
    const best = new Map<number, Figures>();
    for (const [key, now] of samples(month)) {
      const old = before.get(key);
      const isComparable =
        now.sample_version === old?.sample_version &&
        now.is_verified === 1 &&
        old.is_verified === 1;
      if (old === undefined || !isComparable || now.brand_type !== "generic") continue;
      if (now.traffic < old.traffic * 1.8 || now.traffic - old.traffic < 150) continue;
      const [from, to] = best.get(now.tool_id) ?? [0, 0];
      if (now.traffic - old.traffic > to - from) best.set(now.tool_id, [old.traffic, now.traffic]);
    }
    expect(derived("organic_keyword_breakout", month)).toEqual(Object.fromEntries(best));
  }
});

/** What is wrong with a signal; null: nothing. */
function problemOf(
  { signal_type, tool_id, text, change, observed_at, period }: SignalDraft,
  locale: "en" | "zh-CN",
) {
  const data = {
    signal_id: 1,
    signal_type,
    product: { id: tool_id, slug: "x" },
    ...text[locale],
    change,
    observed_at: new Date(observed_at).toISOString(),
    period,
    published_at: "",
    url: "",
  };
  if (!signalDataSchema.safeParse(data).success) return "shape";
  const { before, after, magnitude, direction } = change;
  const isComparable = before.value !== 0 && before.unit === after.unit;
  const expected = isComparable ? Math.abs((after.value - before.value) / before.value) : 1;
  if (Math.abs(expected - magnitude) > 0.00006) return "magnitude";
  const isUp = before.unit === "rank" ? after.value < before.value : after.value > before.value;
  if (direction !== "changed" && direction !== (isUp ? "up" : "down")) return "direction";
  const texts = Object.values(text[locale]);
  if (
    texts.some(
      (each) => each.length < 4 || /undefined|NaN|null|Infinity|[{}]| {2}|^ | $/.test(each),
    )
  )
    return "text";
  const unquoted = texts.map((each) => each.replaceAll(/“[^”]*”/g, ""));
  const isTight = /[A-Za-z]\p{Script=Han}|\p{Script=Han}[A-Za-z]|[A-Za-z]\d+月/u;
  if (locale === "zh-CN" && unquoted.some((each) => isTight.test(each)))
    return "no blank beside Latin letters";
  if (locale === "zh-CN" && !/\p{Script=Han}/u.test(text[locale].summary)) return "no Chinese";
  return null;
}

test("every signal has the shape of the document, sound figures and texts in both languages", () => {
  for (const draft of all) {
    for (const locale of ["en", "zh-CN"] as const)
      expect(problemOf(draft, locale), draft.signal_type).toBeNull();
    if (draft.signal_type !== "trial_changed")
      expect(draft.change.before).not.toEqual(draft.change.after);
  }
  for (const { period } of drafts.get(LAST) ?? [])
    expect(period).toEqual({ start: "2026-10-01", end: "2026-10-31" });
});

test("units and directions are those of the fixtures", () => {
  for (const type of SIGNAL_TYPES) {
    const draft = all.find(({ signal_type }) => signal_type === type);
    const { change } = readFixture<{ data: SignalDraft }>(`signals/${type}`).data;
    if (type !== "pricing_model_changed")
      expect(draft?.change.after.unit, type).toBe(change.after.unit);
    expect(draft?.change.before.unit, type).toBe(change.before.unit);
    // A share moves either way, the others as their names say.
    if (!type.endsWith("share_shift")) expect(draft?.change.direction, type).toBe(change.direction);
  }
});

const NOW = Date.UTC(2026, 10, 20);

test("a signal by hand is the month's own where the month has it", () => {
  for (const draft of drafts.get(LAST) ?? []) {
    const [product] = rowsOf<{ name: string }>(
      market,
      "SELECT name FROM product WHERE tool_id = ?",
      draft.tool_id,
    );
    expect(draftSignal(market, { ...draft, name: product?.name ?? "" }, NOW)).toEqual(draft);
  }
});

test("a signal by hand agrees with the rankings where the month does not have it", () => {
  const query = { locale: "en", sort: "traffic", order: "desc", min_traffic: 0, min_growth: 0, min_dr: 0, min_dr_gain: 0, max_domain_age_months: 0, page: 1, limit: 50 } as const; // prettier-ignore
  const { items } = readRankings(market, query, { isLimited: false });
  expect(items).toHaveLength(50);
  for (const { tool_id, name, previous_visits, latest_visits } of items) {
    const drawn = (signal_type: KnownSignalType): SignalDraft =>
      draftSignal(market, { signal_type, tool_id, name }, NOW);
    const { change, text } = drawn("traffic_breakout");
    expect([change.before.value, change.after.value]).toEqual([previous_visits, latest_visits]);
    expect(text.en.summary).toContain(latest_visits.toLocaleString("en"));
    for (const type of SIGNAL_TYPES) {
      for (const locale of ["en", "zh-CN"] as const)
        expect(problemOf(drawn(type), locale), type).toBeNull();
    }
  }
});

test("later months, grown one by one, have signals too", () => {
  growMonth(market, LAST + 1);
  const types = new Set(deriveSignals(market, LAST + 1).map(({ signal_type }) => signal_type));
  expect(types.size).toBeGreaterThan(20);
});
