import type { Database } from "../database/database.js";
import type { MonthIndex } from "../time/month.js";

/** What was observed in a month, over all keywords. */
export interface SampleSummary {
  markets: number;
  products: number;
  terms: number;
}

/** What was observed in a month changes no more, and every answer tells it. */
const summaries = new WeakMap<Database, { month: MonthIndex; summary: SampleSummary }>();

export function readSampleSummary(database: Database, month: MonthIndex): SampleSummary {
  const known = summaries.get(database);
  if (known?.month === month) return known.summary;
  const summary = countObserved(database, month);
  summaries.set(database, { month, summary });
  return summary;
}

function countObserved(database: Database, month: MonthIndex): SampleSummary {
  // By product, not by observation: there are a few hundred of the former, tens of thousands of the latter.
  const row = database
    .prepare<[{ month: number }], SampleSummary>(
      `WITH receiving AS (
         SELECT p.tool_id, p.sector_id FROM product p
         WHERE EXISTS (SELECT 1 FROM keyword_product_month kp WHERE kp.month = @month AND kp.tool_id = p.tool_id))
       SELECT (SELECT count(DISTINCT sector_id) FROM receiving) AS markets, (SELECT count(*) FROM receiving) AS products,
         (SELECT count(*) FROM keyword_month WHERE month = @month AND observed_products > 0) AS terms`,
    )
    .get({ month });
  return row ?? { markets: 0, products: 0, terms: 0 };
}
