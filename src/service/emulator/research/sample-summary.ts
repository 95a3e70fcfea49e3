import type { Database } from "../database/database.js";
import { ServiceError } from "../operations/service-error.js";
import type { MonthIndex } from "../time/month.js";

/** @throws ServiceError `DATA_UNAVAILABLE` if no month has been observed yet */
export function readLatestMonth(database: Database): {
  month: MonthIndex;
  /** ISO 8601. */
  capturedAt: string;
} {
  const row = database
    .prepare<[], { month: number; captured_at: number }>(
      "SELECT month, captured_at FROM observed_month ORDER BY month DESC LIMIT 1",
    )
    .get();
  if (row === undefined) {
    throw new ServiceError("DATA_UNAVAILABLE", "No month has been observed yet. Try again later.");
  }
  return { month: row.month, capturedAt: new Date(row.captured_at).toISOString() };
}

/** The counts of a month over all keywords. */
interface SampleSummary {
  markets: number;
  observed_products: number;
  observed_terms: number;
}

/** A cache: every answer has the summary, and the data of an observed month never changes. */
const summaries = new WeakMap<Database, { month: MonthIndex; summary: SampleSummary }>();

export function readSampleSummary(database: Database, month: MonthIndex): SampleSummary {
  const known = summaries.get(database);
  if (known?.month === month) return known.summary;
  // The query starts from the products, because there are a few hundred products but tens of
  // thousands of observations. A term without a product is not in any list, so it does not count.
  const summary = database
    .prepare<[{ month: number }], SampleSummary>(
      `WITH receiving AS (
         SELECT p.tool_id, p.sector_id FROM product p
         WHERE EXISTS (SELECT 1 FROM keyword_product_month kp WHERE kp.month = @month AND kp.tool_id = p.tool_id))
       SELECT (SELECT count(DISTINCT sector_id) FROM receiving) AS markets,
         (SELECT count(*) FROM receiving) AS observed_products,
         (SELECT count(*) FROM keyword_month WHERE month = @month AND observed_products > 0) AS observed_terms`,
    )
    .get({ month }) ?? { markets: 0, observed_products: 0, observed_terms: 0 };
  summaries.set(database, { month, summary });
  return summary;
}
