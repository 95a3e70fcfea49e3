import { LIMITS } from "../../api/limits.js";
import type { Assumptions } from "../instance/assumptions.js";

/** How much of the research data an account can see (service document, Access tiers). */
export interface ResearchView {
  /** Limited Developer Access: page 1, at most 10 rows in any list, one history month, five sector options. */
  isLimited: boolean;
}

/** The rows of a list that a page shows. */
export interface PageWindow {
  page: number;
  limit: number;
  offset: number;
  /** The last page that a request may ask for. */
  lastPage: number;
}

/** Developer Access gets page 1 and at most 10 rows (service document, operations 5 and 6). */
export function pageWindow(wanted: { page: number; limit: number }, view: ResearchView, lastPage: number): PageWindow {
  const page = view.isLimited ? 1 : wanted.page;
  const limit = view.isLimited ? Math.min(wanted.limit, LIMITS.developerRows) : wanted.limit;
  return { page, limit, offset: (page - 1) * limit, lastPage };
}

/** Both paginations of the document are made of these. */
export interface PageFacts {
  page: number;
  limit: number;
  total: number;
  total_pages: number;
  has_more: boolean;
  has_previous: boolean;
}

/**
 * A pagination never points to a page that the caller cannot get: for a limited account only reachable rows count (unless the
 * assumption says otherwise), and there is no page after the last one that a request may ask for.
 *
 * @param found how many rows there are on all pages
 */
export function pageFacts(
  { page, limit, lastPage }: PageWindow,
  found: number,
  view: ResearchView,
  { developerTotals }: Pick<Assumptions, "developerTotals">,
): PageFacts {
  const total = view.isLimited && developerTotals === "reachable" ? Math.min(found, limit) : found;
  const totalPages = Math.ceil(total / limit);
  const hasMore = page < Math.min(totalPages, lastPage);
  return { page, limit, total, total_pages: totalPages, has_more: hasMore, has_previous: page > 1 };
}

/** How many items of a list inside a row an account sees. */
export function nestedRows(view: ResearchView, most: number): number {
  return view.isLimited ? Math.min(most, LIMITS.developerRows) : most;
}
