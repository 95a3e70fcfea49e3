import { LIMITS } from "../../api/limits.js";
import type { Assumptions } from "../instance/assumptions.js";
import type { ResearchView } from "./research-view.js";

/** The rows of a list that a page shows. */
export interface PageWindow {
  page: number;
  limit: number;
  offset: number;
  /** The last page that may be asked for. */
  lastPage: number;
}

/** Developer Access is held to page 1 and to 10 rows, whatever was asked for (service document, operations 5 and 6). */
export function pageWindow(asked: { page: number; limit: number }, view: ResearchView, lastPage: number): PageWindow {
  const page = view.isLimited ? 1 : asked.page;
  const limit = view.isLimited ? Math.min(asked.limit, LIMITS.developerRows) : asked.limit;
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
 * @param found how many rows there are on all pages. Of a limited account's rows those are counted that it can reach, so
 * that nobody is sent to a page that cannot be had, unless the assumption says otherwise; nor is anybody past the last page
 * that may be asked for.
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

/** What a limited account sees of a list inside a row. */
export function nestedRows(view: ResearchView, most: number): number {
  return view.isLimited ? Math.min(most, LIMITS.developerRows) : most;
}
