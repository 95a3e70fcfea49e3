import { expect, test } from "vitest";
import type { Database } from "../../../../src/emulator/database/database.js";
import { growMonth } from "../../../../src/emulator/market/generator/generate-market.js";
import { deriveSignals, SIGNAL_RULES } from "../../../../src/emulator/market/signals/derive-signals.js";
import { signalDataSchema } from "../../../../src/events/envelope.js";
import { SIGNAL_TYPES, type KnownSignalType } from "../../../../src/events/signal-types.js";
import type { SignalDraft } from "../../../../src/emulator/webhooks/signals/signal-draft.js";
import { readFixture } from "../../../../src/testing/read-fixture.js";
import { defaultAssumptions } from "../research/default-assumptions.js";
import { LAST, madeMarket, rowsOf } from "./made-market.js";

const market = madeMarket(1);
const thresholds = defaultAssumptions();
const MONTHS = Array.from({ length: 11 }, (_, back) => LAST - back);
const drafts = new Map(MONTHS.map((month) => [month, deriveSignals(market, month, thresholds)]));
const all = [...drafts.values()].flat();

interface ProductMonth {
  month: number;
  tool_id: number;
  organic: number;
  paid: number;
  ai_referral: number;
  direct: number;
  linking_domains: number;
}

/** The rows of product_month by month and product. */
const productMonths = new Map(
  rowsOf<ProductMonth>(market, "SELECT * FROM product_month").map((row) => [`${row.month}/${row.tool_id}`, row]),
);
const at = (month: number, toolId: number): ProductMonth | undefined => productMonths.get(`${month}/${toolId}`);
const visits = (row: ProductMonth): number => row.organic + row.paid + row.ai_referral + row.direct;
const toolIds = rowsOf<{ tool_id: number }>(market, "SELECT tool_id FROM product ORDER BY tool_id").map(
  (row) => row.tool_id,
);
const sectors = new Map(
  rowsOf<{ tool_id: number; sector_id: number }>(market, "SELECT tool_id, sector_id FROM product").map((row) => [
    row.tool_id,
    row.sector_id,
  ]),
);

type Found = Record<number, readonly [before: number, after: number]>;

function derived(type: KnownSignalType, month: number): Found {
  const found = (drafts.get(month) ?? []).filter(({ signal_type }) => signal_type === type);
  return Object.fromEntries(found.map(({ tool_id, change }) => [tool_id, [change.before.value, change.after.value]]));
}

/** What a plain look at each product finds. */
function recomputed(look: (toolId: number) => readonly [number, number] | null): Found {
  return Object.fromEntries(
    toolIds.map((toolId) => [toolId, look(toolId)] as const).filter(([, found]) => found !== null),
  ) as Found;
}

test("each type of the document has its rule, and the data of a year gives signals of each", () => {
  expect(SIGNAL_RULES.map(({ signalType }) => signalType).sort()).toEqual([...SIGNAL_TYPES].sort());
  expect([...new Set(all.map(({ signal_type }) => signal_type))].sort()).toEqual([...SIGNAL_TYPES].sort());
});

test("a month has some hundred signals, and a product at most one of a type", () => {
  for (const month of MONTHS) {
    const found = drafts.get(month) ?? [];
    expect(found.length).toBeGreaterThan(80);
    expect(found.length).toBeLessThan(400);
    expect(new Set(found.map((draft) => `${draft.signal_type}/${draft.tool_id}`)).size).toBe(found.length);
  }
});

test("a month that was not observed has none", () => {
  expect(deriveSignals(market, LAST + 1, thresholds)).toEqual([]);
});

test("traffic_breakout, acceleration and deceleration agree with a plain look at the months", () => {
  for (const month of MONTHS) {
    expect(derived("traffic_breakout", month)).toEqual(
      recomputed((toolId) => {
        const [now, before] = [at(month, toolId), at(month - 1, toolId)];
        if (now === undefined || before === undefined) return null;
        const isBreakout = visits(now) >= visits(before) * 1.5 && visits(now) - visits(before) >= 5000;
        return isBreakout ? [visits(before), visits(now)] : null;
      }),
    );
    const gains = (toolId: number): number[] | null => {
      const rows = [0, 1, 2, 3].map((back) => at(month - back, toolId)).filter((row) => row !== undefined);
      return rows.length < 4 ? null : rows.slice(0, 3).map((row, back) => visits(row) - visits(rows[back + 1] ?? row));
    };
    expect(derived("traffic_acceleration", month)).toEqual(
      recomputed((toolId) => {
        const [gain = 0, before = 0, first = 0] = gains(toolId) ?? [];
        return first > 0 && before > 0 && gain >= before * 1.3 && gain > first && gain >= 2000 ? [before, gain] : null;
      }),
    );
    expect(derived("traffic_deceleration", month)).toEqual(
      recomputed((toolId) => {
        const [gain = 0, before = 0, first = 0] = gains(toolId) ?? [];
        return gain > 0 && first > before && gain <= before * 0.6 && before >= 2000 ? [before, gain] : null;
      }),
    );
  }
});

test("the ranks agree with a plain sort of each market", () => {
  // Of the products that were observed in both months.
  const ranks = (month: number, other: number): Map<number, number> => {
    const observed = toolIds
      .flatMap((toolId) => (at(other, toolId) === undefined ? [] : (at(month, toolId) ?? [])))
      .sort((a, b) => visits(b) - visits(a) || a.tool_id - b.tool_id);
    const counts = new Map<number, number>();
    return new Map(
      observed.map(({ tool_id }) => {
        const sector = sectors.get(tool_id) ?? 0;
        counts.set(sector, (counts.get(sector) ?? 0) + 1);
        return [tool_id, counts.get(sector) ?? 0];
      }),
    );
  };
  for (const month of MONTHS) {
    const [now, before] = [ranks(month, month - 1), ranks(month - 1, month)];
    const moved = (isIt: (from: number, to: number) => boolean): Found =>
      recomputed((toolId) => {
        const [from, to] = [before.get(toolId), now.get(toolId)];
        return from !== undefined && to !== undefined && isIt(from, to) ? [from, to] : null;
      });
    expect(derived("entered_category_top_10", month)).toEqual(moved((from, to) => from > 10 && to <= 10));
    expect(derived("entered_category_top_20", month)).toEqual(moved((from, to) => from > 20 && to <= 20 && to > 10));
    expect(derived("dropped_out_of_category_top_10", month)).toEqual(moved((from, to) => from <= 10 && to > 10));
  }
});

test("nobody saw where the traffic of a product comes from that was not observed", () => {
  const own = madeMarket(1);
  const sourced = (): number[] =>
    deriveSignals(own, LAST, thresholds)
      .filter(({ signal_type }) => signal_type === "new_ai_referral_source")
      .map(({ tool_id }) => tool_id);
  const [first, ...others] = sourced();
  own.prepare("DELETE FROM product_month WHERE month = ? AND tool_id = ?").run(LAST, first);
  expect(others.length).toBeGreaterThan(0);
  expect(sourced()).toEqual(others);
});

test("shares, of markets and of assistants, agree with plain divisions", () => {
  const round = (share: number): number => Math.round(share * 10_000) / 10_000;
  for (const month of MONTHS) {
    const both = toolIds.filter((toolId) => at(month, toolId) !== undefined && at(month - 1, toolId) !== undefined);
    const visitsOf = (toolId: number, when: number): number => {
      const row = at(when, toolId);
      return row === undefined ? 0 : visits(row);
    };
    const share = (toolId: number, when: number): number => {
      const market = both.filter((other) => sectors.get(other) === sectors.get(toolId));
      return round(visitsOf(toolId, when) / market.reduce((sum, other) => sum + visitsOf(other, when), 0));
    };
    const expected = recomputed((toolId) => {
      if (!both.includes(toolId)) return null;
      const [before, now] = [share(toolId, month - 1), share(toolId, month)];
      return Math.abs(now - before) >= 0.01 ? [before, now] : null;
    });
    expect(derived("market_share_shift", month)).toEqual(expected);
    expect(derived("ai_traffic_share_shift", month)).toEqual(
      recomputed((toolId) => {
        const [now, before] = [at(month, toolId), at(month - 1, toolId)];
        if (now === undefined || before === undefined || visits(now) < 2000 || visits(before) < 2000) return null;
        const shares = [round(before.ai_referral / visits(before)), round(now.ai_referral / visits(now))] as const;
        return Math.abs(shares[1] - shares[0]) >= 0.02 ? shares : null;
      }),
    );
  }
});

test("prices and free plans agree with a plain look at the plans", () => {
  interface PlanRow { tool_id: number; name: string; kind: string; monthly_price_cents: number | null; from_month: number; until_month: number | null } // prettier-ignore
  const plans = rowsOf<PlanRow>(market, "SELECT * FROM plan");
  for (const month of MONTHS) {
    const of = (toolId: number, when: number): PlanRow[] =>
      plans.filter(
        (plan) => plan.tool_id === toolId && plan.from_month <= when && (plan.until_month ?? Infinity) > when,
      );
    const price = (way: 1 | -1): Found =>
      recomputed((toolId) => {
        const moves = of(toolId, month).flatMap((plan) => {
          const before = of(toolId, month - 1).find(({ name }) => name === plan.name)?.monthly_price_cents ?? 0;
          const now = plan.monthly_price_cents ?? 0;
          return before > 0 && now > 0 && Math.sign(now - before) === way ? [[before / 100, now / 100] as const] : [];
        });
        return moves[0] ?? null;
      });
    expect(derived("price_increased", month)).toEqual(price(1));
    expect(derived("price_decreased", month)).toEqual(price(-1));
    const free = (toolId: number, when: number): number =>
      of(toolId, when).filter(({ kind }) => kind === "free").length;
    const hadPlans = (toolId: number): boolean => of(toolId, month - 1).length > 0;
    expect(derived("free_plan_added", month)).toEqual(
      recomputed((toolId) =>
        hadPlans(toolId) && free(toolId, month - 1) === 0 && free(toolId, month) > 0 ? [0, 1] : null,
      ),
    );
    expect(derived("free_plan_removed", month)).toEqual(
      recomputed((toolId) => (free(toolId, month - 1) > 0 && free(toolId, month) === 0 ? [1, 0] : null)),
    );
  }
});

test("backlinks, ads and extensions agree with a plain look at the months", () => {
  interface Presence { month: number; tool_id: number; search_ads: number; extension_users: number | null } // prettier-ignore
  const presence = new Map(
    rowsOf<Presence>(market, "SELECT * FROM product_presence_month").map((row) => [`${row.month}/${row.tool_id}`, row]),
  );
  for (const month of MONTHS) {
    const seen = (toolId: number, back: number): Presence | undefined => presence.get(`${month - back}/${toolId}`);
    expect(derived("search_ads_started", month)).toEqual(
      recomputed((toolId) => {
        const ads = [0, 1, 2, 3].map((back) => seen(toolId, back)?.search_ads);
        return (ads[0] ?? 0) > 0 && ads[1] === 0 && (ads[2] ?? 0) === 0 && (ads[3] ?? 0) === 0
          ? [0, ads[0] ?? 0]
          : null;
      }),
    );
    expect(derived("browser_extension_user_growth", month)).toEqual(
      recomputed((toolId) => {
        const [now, before] = [seen(toolId, 0)?.extension_users ?? 0, seen(toolId, 1)?.extension_users ?? 0];
        return before > 0 && now >= before * 1.25 && now - before >= 2000 ? [before, now] : null;
      }),
    );
    expect(derived("backlink_acquisition_spike", month)).toEqual(
      recomputed((toolId) => {
        const [now, before, first] = [at(month, toolId), at(month - 1, toolId), at(month - 4, toolId)];
        if (now === undefined || before === undefined || first === undefined) return null;
        const [usual, added] = [
          Math.round((before.linking_domains - first.linking_domains) / 3),
          now.linking_domains - before.linking_domains,
        ];
        return added >= usual * 4 && added >= 20 ? [usual, added] : null;
      }),
    );
  }
});

test("keyword signals compare comparable samples alone", () => {
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
  for (const month of MONTHS.slice(0, 4)) {
    const before = samples(month - 1);
    const best = new Map<number, readonly [number, number]>();
    for (const [key, now] of samples(month)) {
      const old = before.get(key);
      const isComparable = now.sample_version === old?.sample_version && now.is_verified === 1 && old.is_verified === 1;
      if (old === undefined || !isComparable || now.brand_type !== "generic") continue;
      if (now.traffic < old.traffic * 1.8 || now.traffic - old.traffic < 150) continue;
      const known = best.get(now.tool_id);
      if (known === undefined || now.traffic - old.traffic > known[1] - known[0])
        best.set(now.tool_id, [old.traffic, now.traffic]);
    }
    expect(derived("organic_keyword_breakout", month)).toEqual(Object.fromEntries(best));
  }
});

test("every signal has the shape of the document, in both languages, with its numbers in the words", () => {
  for (const [month, found] of drafts) {
    for (const draft of found) {
      for (const locale of ["en", "zh-CN"] as const) expect(problemOf(draft, locale), draft.signal_type).toBeNull();
      expect(draft.period).toEqual(month === LAST ? { start: "2026-10-01", end: "2026-10-31" } : expect.anything());
    }
  }
  const texts = all.flatMap(({ text }) => [...Object.values(text.en), ...Object.values(text["zh-CN"])]);
  expect(texts.filter((text) => /undefined|NaN|null|Infinity|\{\}/.test(text))).toEqual([]);
  expect(texts.filter((text) => / {2}|^ | $/.test(text))).toEqual([]);
  const unquoted = all.flatMap(({ text }) =>
    Object.values(text["zh-CN"]).map((each) => each.replaceAll(/“[^”]*”/g, "")),
  );
  const isTight = /[A-Za-z]\p{Script=Han}|\p{Script=Han}[A-Za-z]|[A-Za-z]\d+月/u;
  expect(unquoted.filter((text) => isTight.test(text))).toEqual([]);
  const untranslated = all.filter(({ text }) => !/\p{Script=Han}/u.test(text["zh-CN"].summary));
  expect(untranslated).toEqual([]);
});

function problemOf(draft: SignalDraft, locale: "en" | "zh-CN"): string | null {
  const { title, summary, evidence_summary } = draft.text[locale];
  const { before, after, magnitude, direction } = draft.change;
  const data = {
    signal_id: 1,
    signal_type: draft.signal_type,
    product: { id: draft.tool_id, slug: "x" },
    title,
    summary,
    change: draft.change,
    observed_at: new Date(draft.observed_at).toISOString(),
    period: draft.period,
    published_at: "",
    evidence_summary,
    url: "",
  };
  if (!signalDataSchema.safeParse(data).success) return "shape";
  if (title.length < 4 || summary.length < 10 || evidence_summary.length < 5) return "no text";
  const isComparable = before.value !== 0 && before.unit === after.unit;
  const expected = isComparable ? Math.abs(after.value - before.value) / before.value : 1;
  if (Math.abs(expected - magnitude) > 0.00006) return "magnitude";
  if (before.value === after.value && draft.signal_type !== "trial_changed") return "nothing changed";
  const isUp = before.unit === "rank" ? after.value < before.value : after.value > before.value;
  return direction === "changed" || direction === (isUp ? "up" : "down") ? null : "direction";
}

test("units and directions are those of the fixtures", () => {
  for (const type of SIGNAL_TYPES) {
    const draft = all.find(({ signal_type }) => signal_type === type);
    const { change } = readFixture<{ data: SignalDraft }>(`signals/${type}`).data;
    if (type !== "pricing_model_changed") expect(draft?.change.after.unit, type).toBe(change.after.unit);
    expect(draft?.change.before.unit, type).toBe(change.before.unit);
    // A share of a market goes either way, all others as their names say.
    if (type !== "market_share_shift" && type !== "ai_traffic_share_shift") {
      expect(draft?.change.direction, type).toBe(change.direction);
    }
  }
});

test("thresholds are taken from the assumptions", () => {
  const count = (changes: object): number =>
    deriveSignals(market, LAST, { ...thresholds, ...changes }).filter(
      ({ signal_type }) => signal_type === "traffic_breakout",
    ).length;
  expect(count({ trafficBreakoutRate: 0.05 })).toBeGreaterThan(count({}) * 3);
  expect(count({ trafficBreakoutVisits: 10 ** 9 })).toBe(0);
});

test("later months, grown one by one, have signals too", () => {
  const grown: Database = madeMarket(3);
  growMonth(grown, 3, LAST + 1);
  const types = new Set(deriveSignals(grown, LAST + 1, thresholds).map(({ signal_type }) => signal_type));
  expect(types.size).toBeGreaterThan(20);
});
