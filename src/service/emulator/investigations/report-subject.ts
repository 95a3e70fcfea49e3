import type { ServiceLocale } from "../../contract/shared-schemas.js";
import type { Database } from "../database/database.js";
import type { Text } from "../market/format-values.js";
import { marketFile } from "../market/market-file.js";
import type { SourceKind, StrategyKind } from "../market/signals/signal-table.js";

/** A product whose actions a report lists. */
export interface ReportProduct {
  tool_id: number;
  name: string;
  domain: string;
}

/** The subject of an investigation: one product, or a category. */
interface ReportSubject {
  kind: "product" | "category";
  /** The product's domain, or the category's slug. */
  domain: string;
  name: Record<ServiceLocale, string>;
  /**
   * The products whose actions and searches the report lists: the product, or the largest products
   * of the category.
   */
  products: ReportProduct[];
  /**
   * The products whose visits count: the product, or all products of the category in the latest
   * rankings.
   */
  toolIds: number[];
}

/** The number of products of a category whose actions a report lists. */
const CATEGORY_PRODUCTS = 5;

/** @returns null if neither a product nor a category has this slug */
export function findSubject(database: Database, slug: string): ReportSubject | null {
  const product = database.row<ReportProduct>(
    "SELECT tool_id, name, domain FROM product WHERE slug = ?",
    slug,
  );
  if (product !== undefined) {
    const { name, domain, tool_id } = product;
    return {
      kind: "product",
      domain,
      name: { en: name, "zh-CN": name },
      products: [product],
      toolIds: [tool_id],
    };
  }
  const sector = database.row<{ sector_id: number; name_en: string; name_zh: string }>(
    "SELECT sector_id, name_en, name_zh FROM sector WHERE slug = ?",
    slug,
  );
  if (sector === undefined) return null;
  const { sector_id, name_en, name_zh } = sector;
  const products = database.rows<ReportProduct>(
    `SELECT p.tool_id, p.name, p.domain FROM product p
       JOIN product_month l ON l.tool_id = p.tool_id AND l.month = (SELECT max(month) FROM observed_month)
       JOIN product_month b ON b.tool_id = p.tool_id AND b.month = l.month - 1
       WHERE p.sector_id = @sector_id
         OR EXISTS (SELECT 1 FROM product_sector s WHERE s.tool_id = p.tool_id AND s.sector_id = @sector_id)
       ORDER BY l.organic + l.paid + l.ai_referral + l.direct DESC, p.tool_id`,
    { sector_id },
  );
  return {
    kind: "category",
    domain: slug,
    name: { en: name_en, "zh-CN": name_zh },
    products: products.slice(0, CATEGORY_PRODUCTS),
    toolIds: products.map(({ tool_id }) => tool_id),
  };
}

/** The texts of a report, in both languages. */
interface ReportTexts {
  /** The kinds of promotion. */
  strategies: Readonly<Record<StrategyKind, Text>>;
  /** Where changes, visits and searches are observed: the host before the domain, and the title. */
  places: Readonly<Record<SourceKind, readonly [host: string, title: Text]>>;
  /** All others. `{whole}` is the product, or all ranked products of the category. */
  texts: Readonly<Record<TextName, Text>>;
}

type Whole = "whole_product" | "whole_category";
type Course = "up" | "down" | "flat";
type TextName =
  | "title"
  | Whole
  | Course
  | "coincided"
  | "lead"
  | "unresolved"
  | "method"
  | "limits_changes"
  | "caveat";

export const {
  strategies: STRATEGIES,
  places: PLACES,
  texts: TEXTS,
} = marketFile<ReportTexts>("report.json");
