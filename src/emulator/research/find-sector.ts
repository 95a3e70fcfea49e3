import type { Database } from "../database/database.js";
import type { ServiceLocale } from "../../api/locale.js";
import type { Assumptions } from "../instance/assumptions.js";
import { ServiceError } from "../operations/service-error.js";

/** A product sector: a category of the rankings, a market of search demand. */
export interface Sector {
  id: number;
  name: string;
  slug: string;
}

/** Which column of a table has the text in this locale: `name` becomes `name_en` or `name_zh`. */
export function localised(column: string, locale: ServiceLocale): string {
  return `${column}_${locale === "zh-CN" ? "zh" : "en"}`;
}

/**
 * The sector of this slug; null without a slug. An unknown slug gives a sector that contains nothing, or an error, as assumed.
 *
 * @param parameter the name of the query parameter, for the error
 * @throws ServiceError `RESOURCE_NOT_FOUND`
 */
export function findSector(
  database: Database,
  slug: string | undefined,
  { parameter, locale, assumptions }: { parameter: string; locale: ServiceLocale; assumptions: Assumptions },
): Sector | null {
  if (slug === undefined || slug === "") return null;
  const sector = database
    .prepare<[string], Sector>(
      `SELECT sector_id AS id, ${localised("name", locale)} AS name, slug FROM sector WHERE slug = ?`,
    )
    .get(slug);
  if (sector !== undefined) return sector;
  if (assumptions.unknownNames === "not_found") {
    throw new ServiceError("RESOURCE_NOT_FOUND", `The parameter ${parameter} names no known product sector.`);
  }
  return { id: NO_SECTOR, name: "", slug };
}

/** No sector has this id, so nothing is found in it. */
const NO_SECTOR = -1;
