import { LIMITS } from "../../contract/limits.js";
import type { Database } from "../database/database.js";
import { ServiceError } from "../operations/service-error.js";
import type { MonthIndex } from "../time/emulator-clock.js";

/** How much of the research data an account can see (service document, Access tiers). */
export interface ResearchView {
  /**
   * Whether the account has limited Developer Access: page 1, 10 rows in any list, 1 month of
   * history, 5 sector options.
   */
  isLimited: boolean;
}

type PageWindow = ReturnType<typeof pageWindow>;

/**
 * The rows of a list that a page shows. Developer Access gets page 1 and at most 10 rows (service
 * document, Search demand and Rankings).
 *
 * @param lastPage the last page that a caller can request
 */
export function pageWindow(
  wanted: { page: number; limit: number },
  view: ResearchView,
  lastPage: number,
) {
  const page = view.isLimited ? 1 : wanted.page;
  const limit = visibleRows(view, wanted.limit);
  return { page, limit, offset: (page - 1) * limit, lastPage };
}

/**
 * The fields that both paginations have. They refer only to pages that the caller can get: the last
 * page has no next page, and a limited account's total counts only its first page. Otherwise a
 * client would ask for a second page that it cannot get.
 *
 * @param found the number of rows on all pages
 */
export function pageFacts(
  { page, limit, lastPage }: PageWindow,
  found: number,
  view: ResearchView,
) {
  const total = view.isLimited ? Math.min(found, limit) : found;
  const total_pages = Math.ceil(total / limit);
  return {
    page,
    limit,
    total,
    total_pages,
    has_more: page < Math.min(total_pages, lastPage),
    has_previous: page > 1,
  };
}

/** The number of rows of a list that an account can see. */
export function visibleRows(view: ResearchView, most: number): number {
  return view.isLimited ? Math.min(most, LIMITS.developerRows) : most;
}

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
