import type { Database } from "../database/database.js";
import type { ServiceLocale } from "../../api/locale.js";
import type { MonthIndex } from "../time/month.js";
import { localised } from "./find-sector.js";

/** A tracked product that receives traffic of a keyword. */
export interface ReceivingProduct {
  tool_id: number;
  name: string;
  slug: string;
  domain: string;
  market_id: number;
  market_name: string;
  observed_traffic: number;
}

/** The products that receive traffic of one keyword in a month, the largest first. */
export function receivingProducts(
  database: Database,
  month: MonthIndex,
  locale: ServiceLocale,
): (keywordId: number) => ReceivingProduct[] {
  const statement = database.prepare<[number, number], ReceivingProduct>(
    `SELECT p.tool_id, p.name, p.slug, p.domain, p.sector_id AS market_id, s.${localised("name", locale)} AS market_name,
       kp.traffic AS observed_traffic
     FROM keyword_product_month kp
     JOIN product p ON p.tool_id = kp.tool_id
     JOIN sector s ON s.sector_id = p.sector_id
     WHERE kp.month = ? AND kp.keyword_id = ?
     ORDER BY kp.traffic DESC, kp.tool_id`,
  );
  return (keywordId) => statement.all(month, keywordId);
}
