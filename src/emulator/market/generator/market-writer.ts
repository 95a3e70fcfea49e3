import type { Database, Statement } from "../../database/database.js";

const COLUMNS = {
  sector: "sector_id slug name_en name_zh",
  product:
    "tool_id slug name domain sector_id tagline_en tagline_zh short_description_en short_description_zh long_description_en long_description_zh pricing_model verification_status staleness_status listed_at launched_month domain_registered_month",
  product_sector: "tool_id sector_id",
  plan: "plan_id tool_id name kind region monthly_price_cents unit_price_mills trial_days trial_needs_card from_month",
  feature: "tool_id kind name_en name_zh from_month",
  ai_source: "tool_id source from_month first_visits",
  product_change: "month tool_id kind before_text after_text share",
  product_month: "month tool_id organic paid ai_referral direct domain_rating linking_domains",
  product_presence_month:
    "month tool_id sitemap_urls pattern_urls market_urls search_ads ad_creatives articles directories extension_users",
  product_country: "tool_id country share_permille",
  keyword_cluster: "cluster_id name_en name_zh",
  keyword: "keyword_id keyword brand_type cluster_id sector_id",
  keyword_receiver: "keyword_id place tool_id",
  keyword_month:
    "month keyword_id search_volume sample_version is_verified traffic_by_place observed_products observed_traffic",
  observed_month: "month captured_at",
} as const;

const UPDATES = {
  endPlan: "UPDATE plan SET until_month = ? WHERE plan_id = ?",
  setPricingModel: "UPDATE product SET pricing_model = ? WHERE tool_id = ?",
  setDomain: "UPDATE product SET domain = ? WHERE tool_id = ?",
  // A file of an earlier version can have other taglines than the generator, so the former tagline comes from the file.
  recordTagline: `INSERT INTO product_change (month, tool_id, kind, before_text, after_text, share)
    SELECT ?, tool_id, 'tagline', tagline_en, ?, ? FROM product WHERE tool_id = ?`,
  // A product without a long description does not get one.
  setPositioning: `UPDATE product SET tagline_en = ?, tagline_zh = ?, short_description_en = ?, short_description_zh = ?,
    long_description_en = iif(long_description_en IS NULL, NULL, ?), long_description_zh = iif(long_description_zh IS NULL, NULL, ?)
    WHERE tool_id = ?`,
  discontinue: "UPDATE product SET discontinued_month = ? WHERE tool_id = ?",
  setStaleness: "UPDATE product SET staleness_status = ? WHERE tool_id = ?",
} as const;

type Table = keyof typeof COLUMNS;
type Update = keyof typeof UPDATES;

type Value = number | string | null;

/** Writes the data of the generator. */
export interface MarketWriter {
  rows: Readonly<Record<Table, { add(...row: Value[]): void }>>;
  update(update: Update, ...values: Value[]): void;
}

export function createMarketWriter(database: Database): MarketWriter {
  const inserts = Object.entries(COLUMNS).map(([table, columns]) => {
    const names = columns.split(" ");
    const places = names.map(() => "?").join(", ");
    const statement = database.prepare<Value[]>(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${places})`);
    return [table, { add: (...row: Value[]) => void statement.run(...row) }] as const;
  });
  const updates = Object.entries(UPDATES).map(([update, sql]) => [update, database.prepare<Value[]>(sql)] as const);
  const statements = Object.fromEntries(updates) as Record<Update, Statement<Value[]>>;
  return {
    rows: Object.fromEntries(inserts) as MarketWriter["rows"],
    update: (update, ...values) => void statements[update].run(...values),
  };
}

/** A writer that does nothing, for months whose rows already exist. */
export const NO_WRITER: MarketWriter = {
  rows: Object.fromEntries(Object.keys(COLUMNS).map((table) => [table, { add: () => {} }])) as MarketWriter["rows"],
  update: () => {},
};
