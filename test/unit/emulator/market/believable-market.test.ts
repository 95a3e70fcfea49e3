import { expect, test } from "vitest";
import { formatMonth } from "../../../../src/emulator/time/month.js";
import { countOf, LAST, madeMarket, rowsOf } from "./made-market.js";

/** What somebody who knows the market would stumble over, on the default seed. */
const market = madeMarket(1);

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(part * (sorted.length - 1))] ?? NaN;
}

test("in each month of a year most products move little, the median a little up, and many decline", () => {
  const medians: number[] = [];
  for (let month = LAST - 11; month <= LAST; month++) {
    const rates = rowsOf<{ rate: number }>(
      market,
      `SELECT (l.organic + l.paid + l.ai_referral + l.direct) * 1.0 / (b.organic + b.paid + b.ai_referral + b.direct) - 1 AS rate
       FROM product_month l JOIN product_month b ON b.month = l.month - 1 AND b.tool_id = l.tool_id WHERE l.month = ?`,
      month,
    ).map(({ rate }) => rate);
    const name = formatMonth(month);
    medians.push(quantile(rates, 0.5));
    expect(rates.filter((rate) => rate < 0).length / rates.length, name).toBeGreaterThan(0.3);
    expect(quantile(rates, 0.1), name).toBeLessThan(-0.05);
    expect(quantile(rates, 0.9), name).toBeGreaterThan(0.1);
  }
  expect(Math.min(...medians)).toBeGreaterThan(-0.01);
  expect(Math.max(...medians)).toBeLessThan(0.035);
  expect(quantile(medians, 0.5)).toBeGreaterThan(0.005);
});

interface Receivers {
  keyword: string;
  cluster_id: string | null;
  products: number;
  /** The part of the keyword's traffic that its largest product receives. */
  lead: number;
}

/** Those that are searched most. */
function mostSearched(brandType: string, limit: number): Receivers[] {
  return rowsOf<Receivers>(
    market,
    `SELECT k.keyword, k.cluster_id, m.observed_products AS products,
       (SELECT max(traffic) FROM keyword_product_month t WHERE t.month = m.month AND t.keyword_id = m.keyword_id) * 1.0
         / m.observed_traffic AS lead
     FROM keyword_month m JOIN keyword k USING (keyword_id)
     WHERE m.month = ? AND k.brand_type = ? AND m.observed_traffic > 0 ORDER BY m.search_volume DESC LIMIT ?`,
    LAST,
    brandType,
    limit,
  );
}

test("the generic keywords that are searched most are short ones, and several products share each", () => {
  const most = mostSearched("generic", 50);
  expect(most.filter(({ cluster_id }) => cluster_id?.endsWith("-core")).length).toBeGreaterThan(25);
  expect(most.filter(({ products }) => products < 3)).toEqual([]);
  // A few lead, as in most markets; none has it all, and not all share alike.
  const leads = most.map(({ lead }) => lead);
  expect(quantile(leads, 0.5)).toBeGreaterThan(0.25);
  expect(quantile(leads, 0.5)).toBeLessThan(0.7);
});

test("who searches for a product by name goes to it, or with few exceptions", () => {
  const own = rowsOf<{ part: number }>(
    market,
    `SELECT coalesce((SELECT traffic FROM keyword_product_month t
         WHERE t.month = m.month AND t.keyword_id = m.keyword_id AND t.tool_id = p.tool_id), 0) * 1.0 / m.observed_traffic AS part
     FROM keyword_month m JOIN keyword k USING (keyword_id) JOIN product p ON p.slug = substr(k.cluster_id, length('brand-') + 1)
     WHERE m.month = ? AND k.brand_type = 'brand_navigational' AND m.observed_traffic > 0 AND p.discontinued_month IS NULL`,
    LAST,
  ).map(({ part }) => part);
  expect(own.length).toBeGreaterThan(500);
  expect(quantile(own, 0.2)).toBeGreaterThan(0.6);
  expect(quantile(own, 0.5)).toBe(1);
});

test("no feature and no plan is older than its product's listing", () => {
  const listed =
    "(CAST(strftime('%Y', listed_at / 1000, 'unixepoch') AS INTEGER) * 12 + CAST(strftime('%m', listed_at / 1000, 'unixepoch') AS INTEGER) - 1)";
  for (const table of ["feature", "plan"]) {
    const older = `SELECT count(*) FROM ${table} JOIN product USING (tool_id) WHERE from_month < ${listed}`;
    expect(countOf(market, older), table).toBe(0);
  }
});
