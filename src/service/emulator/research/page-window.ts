import { LIMITS } from "../../contract/limits.js";

/** How much of the research data an account can see (service document, Access tiers). */
export interface ResearchView {
  /**
   * Whether the account has limited Developer Access: page 1, 10 rows in any list, 1 month of
   * history, 5 sector options.
   */
  isLimited: boolean;
}

export type PageWindow = ReturnType<typeof pageWindow>;

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
