import type { ServiceLocale } from "../../contract/shared-schemas.js";
import type { Database } from "../database/database.js";
import { ServiceError } from "../operations/service-error.js";

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
  const sector = database
    .prepare<[string], Sector>(
      `SELECT sector_id AS id, ${localised("name", locale)} AS name, slug FROM sector WHERE slug = ?`,
    )
    .get(slug);
  if (sector !== undefined) return sector;
  const message = `The parameter ${parameter} is not the slug of a product sector. Search demand lists them in markets.`;
  throw new ServiceError("RESOURCE_NOT_FOUND", message);
}
