import type { Database } from "../database/database.js";
import type { ServiceLocale } from "../../api/locale.js";

/** What an investigation is about: one product, or the largest ones of a category. */
export interface ReportSubject {
  kind: "product" | "category";
  name: Record<ServiceLocale, string>;
  products: { tool_id: number; name: string; domain: string }[];
}

/** How many products of a category are looked at. */
const CATEGORY_PRODUCTS = 5;

/** @returns null for a slug that is neither a product's nor a category's */
export function findSubject(database: Database, slug: string): ReportSubject | null {
  const product = database
    .prepare<[string], { tool_id: number; name: string; domain: string }>(
      "SELECT tool_id, name, domain FROM product WHERE slug = ?",
    )
    .get(slug);
  if (product !== undefined) {
    return { kind: "product", name: { en: product.name, "zh-CN": product.name }, products: [product] };
  }
  const sector = database
    .prepare<[string], { sector_id: number; name_en: string; name_zh: string }>(
      "SELECT sector_id, name_en, name_zh FROM sector WHERE slug = ?",
    )
    .get(slug);
  if (sector === undefined) return null;
  const products = database
    .prepare<[number, number], { tool_id: number; name: string; domain: string }>(
      `SELECT p.tool_id, p.name, p.domain FROM product p
       JOIN product_month m ON m.tool_id = p.tool_id AND m.month = (SELECT max(month) FROM observed_month)
       WHERE p.sector_id = ? ORDER BY m.organic + m.paid + m.ai_referral + m.direct DESC, p.tool_id LIMIT ?`,
    )
    .all(sector.sector_id, CATEGORY_PRODUCTS);
  return { kind: "category", name: { en: sector.name_en, "zh-CN": sector.name_zh }, products };
}
