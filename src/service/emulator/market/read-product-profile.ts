import type { ProductProfile } from "../../contract/product-profile.js";
import { LOCALES } from "../../contract/shared-schemas.js";
import type { Database } from "../database/database.js";
import { ServiceError } from "../operations/service-error.js";
import { dateTime } from "../time/emulator-clock.js";
import { resolveLocale } from "./format-values.js";

type ProfileRow = Record<
  "tool_id" | "listed_at" | "has_free_plan" | "has_free_trial" | "has_api" | "has_mcp",
  number
> &
  Record<
    "slug" | "name" | "domain" | "pricing_model" | "verification_status" | "staleness_status",
    string
  > &
  Record<"tagline" | "short_description" | "long_description", string | null>;

/**
 * Reads the public profile of a product (service document, Product profile).
 *
 * @param locale any text; see `resolveLocale`
 * @throws ServiceError `PRODUCT_NOT_FOUND`
 */
export function readProductProfile(
  database: Database,
  slug: string,
  locale: string,
): ProductProfile {
  const resolved = resolveLocale(locale);
  const language = resolved === "zh-CN" ? "zh" : "en";
  const row = database.row<ProfileRow>(
    `SELECT tool_id, slug, name, domain, tagline_${language} AS tagline, short_description_${language} AS short_description,
         long_description_${language} AS long_description, pricing_model, verification_status, staleness_status, listed_at,
         ${hasPlan("kind = 'free'")} AS has_free_plan, ${hasPlan("trial_days > 0")} AS has_free_trial,
         ${hasFeature("api")} AS has_api, ${hasFeature("mcp")} AS has_mcp
       FROM product p WHERE slug = ?`,
    slug,
  );
  if (row === undefined)
    throw new ServiceError("PRODUCT_NOT_FOUND", "There is no product with this slug.");
  const categories = database.rows<{ id: number; slug: string; name: string; is_primary: number }>(
    `SELECT s.sector_id AS id, s.slug, s.name_${language} AS name, c.is_primary
       FROM (SELECT sector_id, 1 AS is_primary FROM product WHERE tool_id = @toolId
         UNION ALL SELECT sector_id, 0 FROM product_sector WHERE tool_id = @toolId) c
       JOIN sector s ON s.sector_id = c.sector_id ORDER BY c.is_primary DESC, s.sector_id`,
    { toolId: row.tool_id },
  );
  const { slug: canonicalSlug, domain, ...fields } = row;
  return {
    ...fields,
    canonical_slug: canonicalSlug,
    localized_slug: canonicalSlug,
    official_url: `https://${domain}/`,
    listed_at: dateTime(row.listed_at),
    has_free_plan: row.has_free_plan === 1,
    has_free_trial: row.has_free_trial === 1,
    has_api: row.has_api === 1,
    has_mcp: row.has_mcp === 1,
    requested_locale: locale,
    resolved_locale: resolved,
    available_locales: [...LOCALES],
    categories: categories.map(({ is_primary, ...category }) => ({
      ...category,
      is_primary: is_primary === 1,
    })),
    logo_url: `https://${domain}/logo.png`,
    favicon_url: `https://${domain}/favicon.ico`,
    screenshot_url: null,
    primary_category_slug: categories[0]?.slug ?? null,
    primary_category_name: categories[0]?.name ?? null,
  };
}

function hasPlan(condition: string): string {
  return `EXISTS (SELECT 1 FROM plan WHERE tool_id = p.tool_id AND until_month IS NULL AND ${condition})`;
}

function hasFeature(kind: "api" | "mcp"): string {
  return `EXISTS (SELECT 1 FROM feature WHERE tool_id = p.tool_id AND kind = '${kind}')`;
}
