import { LIMITS } from "../../contract/limits.js";
import type { ServiceLocale } from "../../contract/shared-schemas.js";
import type { Database } from "../database/database.js";
import { ServiceError } from "../operations/service-error.js";
import { dateTime, type MonthIndex } from "../time/emulator-clock.js";

/** How much of the research data an account can see (service document, Access tiers). */
export interface ResearchView {
  /**
   * Whether the account has limited Developer Access: page 1, 10 rows in any list, 1 month of
   * history, 5 sector options.
   */
  isLimited: boolean;
}

/** The number of rows of a list that an account can see. */
export function visibleRows({ isLimited }: ResearchView, most: number): number {
  return isLimited ? Math.min(most, LIMITS.developerRows) : most;
}

/**
 * The rows of a list that a page shows. Developer Access gets page 1 and at most 10 rows (service
 * document, Search demand and Rankings).
 */
export function pageWindow(wanted: { page: number; limit: number }, view: ResearchView) {
  const page = view.isLimited ? 1 : wanted.page;
  const limit = visibleRows(view, wanted.limit);
  return { page, limit, offset: (page - 1) * limit };
}

/**
 * The fields that both paginations have. They refer only to pages that the caller can get: the last
 * page has no next page, and a limited account's total counts only its first page. Otherwise a
 * client would ask for a second page that it cannot get.
 *
 * @param found the number of rows on all pages
 * @param lastPage the last page that a caller can request
 */
export function pageFacts(
  { page, limit }: ReturnType<typeof pageWindow>,
  found: number,
  { isLimited }: ResearchView,
  lastPage: number,
) {
  const total = isLimited ? Math.min(found, limit) : found;
  const total_pages = Math.ceil(total / limit);
  const has_more = page < Math.min(total_pages, lastPage);
  return { page, limit, total, total_pages, has_more, has_previous: page > 1 };
}

/** The last observed month. There is always one. */
export function readLatestMonth(database: Database) {
  const [{ month, captured_at }] = database.rows<{ month: MonthIndex; captured_at: number }>(
    "SELECT month, captured_at FROM observed_month ORDER BY month DESC LIMIT 1",
  ) as [{ month: MonthIndex; captured_at: number }];
  return { month, capturedAt: dateTime(captured_at) };
}

/** A product sector. The rankings call it a category, search demand calls it a market. */
export interface Sector {
  id: number;
  name: string;
  slug: string;
}

/** The column with the text in this locale: `name_en` or `name_zh` for `name`. */
export function localised(column: string, locale: ServiceLocale): string {
  return `${column}_${locale === "zh-CN" ? "zh" : "en"}`;
}

/**
 * Finds the sector of a slug; null without a slug.
 *
 * @param parameter the name of the query parameter, for the error
 * @throws ServiceError `RESOURCE_NOT_FOUND`
 */
export function findSector(
  database: Database,
  slug: string | undefined,
  { parameter, locale }: { parameter: string; locale: ServiceLocale },
): Sector | null {
  if (slug === undefined || slug === "") return null;
  const name = localised("name", locale);
  const sql = `SELECT sector_id AS id, ${name} AS name, slug FROM sector WHERE slug = ?`;
  const sector = database.row<Sector>(sql, slug);
  if (sector !== undefined) return sector;
  const message = `The parameter ${parameter} is not the slug of a product sector. Search demand lists them in markets.`;
  throw new ServiceError("RESOURCE_NOT_FOUND", message);
}

/**
 * The words of a search as the SQL of {@link hasWords} reads them, a JSON array: null alone stands
 * for a text that has no word but signs, and matches nothing.
 */
export function searchedWords(text = ""): string {
  const words = text.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  return JSON.stringify(text.trim() !== "" && words.length === 0 ? [null] : words);
}

/**
 * The SQL condition that a text contains each word of `@words`, which may be parts of its words. It
 * has no signs between the words, and no upper case.
 *
 * @param column the SQL of the text, in lower case
 */
export const hasWords = (column: string): string =>
  `(@words = '[]' OR json_array_length(@words) =
     (SELECT count(*) FROM json_each(@words) WHERE instr(${column}, value) > 0))`;
