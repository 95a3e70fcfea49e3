/**
 * The tables of what the service has observed. Months are a `MonthIndex`, traffic is in visits of that month. Names of the
 * document are used where it has one. All of it comes from a seed (`generate-catalog.ts`), month after month.
 */
export const CATALOG_SCHEMA = `
CREATE TABLE sector (
  sector_id INTEGER PRIMARY KEY,
  slug TEXT NOT NULL UNIQUE,
  name_en TEXT NOT NULL,
  name_zh TEXT NOT NULL
) STRICT;

CREATE TABLE product (
  tool_id INTEGER PRIMARY KEY,
  slug TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  domain TEXT NOT NULL,
  sector_id INTEGER NOT NULL REFERENCES sector,
  tagline_en TEXT, tagline_zh TEXT,
  short_description_en TEXT, short_description_zh TEXT,
  long_description_en TEXT, long_description_zh TEXT,
  pricing_model TEXT NOT NULL,
  verification_status TEXT NOT NULL,
  staleness_status TEXT NOT NULL,
  listed_at INTEGER NOT NULL,
  domain_registered_month INTEGER NOT NULL,
  discontinued_month INTEGER
) STRICT;
CREATE INDEX product_by_sector ON product (sector_id);

-- Beside its primary one, which is product.sector_id.
CREATE TABLE product_sector (
  tool_id INTEGER NOT NULL REFERENCES product,
  sector_id INTEGER NOT NULL REFERENCES sector,
  PRIMARY KEY (tool_id, sector_id)
) STRICT, WITHOUT ROWID;

-- A row for each price that held from a month on, until a later row of the same plan or its end.
CREATE TABLE plan (
  plan_id INTEGER PRIMARY KEY,
  tool_id INTEGER NOT NULL REFERENCES product,
  name TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind = 'free' OR kind = 'paid' OR kind = 'enterprise'),
  region TEXT NOT NULL,
  monthly_price_cents INTEGER,
  trial_days INTEGER NOT NULL,
  trial_needs_card INTEGER NOT NULL,
  from_month INTEGER NOT NULL,
  until_month INTEGER
) STRICT;
CREATE INDEX plan_by_product ON plan (tool_id);

CREATE TABLE feature (
  feature_id INTEGER PRIMARY KEY,
  tool_id INTEGER NOT NULL REFERENCES product,
  kind TEXT NOT NULL CHECK (kind = 'feature' OR kind = 'model' OR kind = 'api' OR kind = 'mcp'),
  name_en TEXT NOT NULL,
  name_zh TEXT NOT NULL,
  from_month INTEGER NOT NULL
) STRICT;
CREATE INDEX feature_by_product ON feature (tool_id);

CREATE TABLE ai_source (
  tool_id INTEGER NOT NULL REFERENCES product,
  source TEXT NOT NULL,
  from_month INTEGER NOT NULL,
  PRIMARY KEY (tool_id, source)
) STRICT, WITHOUT ROWID;

-- visits = organic + paid + ai_referral + direct. No row: no observation of this product in this month.
CREATE TABLE product_month (
  month INTEGER NOT NULL,
  tool_id INTEGER NOT NULL REFERENCES product,
  organic INTEGER NOT NULL,
  paid INTEGER NOT NULL,
  ai_referral INTEGER NOT NULL,
  direct INTEGER NOT NULL,
  domain_rating REAL,
  linking_domains INTEGER NOT NULL,
  PRIMARY KEY (month, tool_id)
) STRICT, WITHOUT ROWID;

-- The larger countries of a product; the rest of its visits is of no listed country.
CREATE TABLE product_country_month (
  month INTEGER NOT NULL,
  country TEXT NOT NULL,
  tool_id INTEGER NOT NULL REFERENCES product,
  organic INTEGER NOT NULL,
  paid INTEGER NOT NULL,
  ai_referral INTEGER NOT NULL,
  direct INTEGER NOT NULL,
  PRIMARY KEY (month, country, tool_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE keyword_cluster (
  cluster_id TEXT PRIMARY KEY,
  name_en TEXT NOT NULL,
  name_zh TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE keyword (
  keyword_id INTEGER PRIMARY KEY,
  keyword TEXT NOT NULL,
  brand_type TEXT NOT NULL,
  cluster_id TEXT REFERENCES keyword_cluster,
  sector_id INTEGER REFERENCES sector
) STRICT;

-- A keyword that was observed in a month. Two samples with the same sample_version are comparable.
CREATE TABLE keyword_month (
  month INTEGER NOT NULL,
  keyword_id INTEGER NOT NULL REFERENCES keyword,
  search_volume INTEGER NOT NULL,
  sample_version INTEGER NOT NULL,
  is_verified INTEGER NOT NULL,
  -- Sums over keyword_product_month, kept beside it since every list sorts by them.
  observed_products INTEGER NOT NULL,
  observed_traffic INTEGER NOT NULL,
  PRIMARY KEY (month, keyword_id)
) STRICT, WITHOUT ROWID;

-- The tracked products that receive a keyword's traffic.
CREATE TABLE keyword_product_month (
  month INTEGER NOT NULL,
  keyword_id INTEGER NOT NULL REFERENCES keyword,
  tool_id INTEGER NOT NULL REFERENCES product,
  traffic INTEGER NOT NULL,
  PRIMARY KEY (month, keyword_id, tool_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX keyword_product_by_product ON keyword_product_month (month, tool_id);

-- One row for each month that was observed.
CREATE TABLE observed_month (
  month INTEGER PRIMARY KEY,
  captured_at INTEGER NOT NULL
) STRICT;
`;
