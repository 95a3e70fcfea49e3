import {
  openSqlite,
  type Database,
} from "../../../../../src/service/emulator/database/database.js";
import { MARKET_SCHEMA } from "../../../../../src/service/emulator/market/market-schema.js";

/** October 2026. */
export const LATEST = 2026 * 12 + 9;

type Row = Record<string, string | number | null>;

/** A database with the market's tables and these rows. */
export function handMadeMarket(tables: Record<string, readonly Row[]>): Database {
  const database = openSqlite(":memory:");
  database.exec(MARKET_SCHEMA);
  // Views in the market: by hand each row is given.
  database.exec(
    `DROP VIEW product_country_month;
     CREATE TABLE product_country_month (month INTEGER, country TEXT, tool_id INTEGER,
       organic INTEGER, paid INTEGER, ai_referral INTEGER, direct INTEGER) STRICT;
     DROP VIEW keyword_product_month;
     CREATE TABLE keyword_product_month (month INTEGER, keyword_id INTEGER, tool_id INTEGER, traffic INTEGER) STRICT`,
  );
  for (const [table, rows] of Object.entries(tables)) {
    for (const row of rows) {
      const columns = Object.keys(row);
      database
        .prepare(
          `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
        )
        .run(Object.values(row));
    }
  }
  return database;
}

export const SECTOR = { sector_id: 3, slug: "voice", name_en: "Voice", name_zh: "语音" };

/** A product of the sector `voice`. */
export function product(toolId: number, slug: string, more: Row = {}): Row {
  return {
    tool_id: toolId,
    slug,
    name: slug,
    domain: `${slug}.example`,
    sector_id: 3,
    pricing_model: "freemium",
    verification_status: "verified",
    staleness_status: "fresh",
    listed_at: 0,
    launched_month: LATEST - 40,
    domain_registered_month: LATEST - 40,
    ...more,
  };
}

/** A month's visits by channel. */
export function visits(
  month: number,
  toolId: number,
  [organic, paid, aiReferral, direct]: readonly [number, number, number, number],
): Row {
  return {
    month,
    tool_id: toolId,
    organic,
    paid,
    ai_referral: aiReferral,
    direct,
    linking_domains: 10,
  };
}

export function observed(...months: number[]): Row[] {
  return months.map((month) => ({ month, captured_at: Date.UTC(2026, 10, 2) }));
}
