import { DUE_SIGNAL_SCHEMA } from "./signals/due-signals.js";

/** All visits of a row of `product_month` or `product_country_month`, over its channels. */
export const visits = (row: string): string => `(${row}.organic + ${row}.paid + ${row}.ai_referral + ${row}.direct)`;

/**
 * The tables of what the service has observed. Months are a `MonthIndex`, traffic is in visits of that month. Names of the
 * document are used where it has one. The generator makes all of it from a seed (`generate-market.ts`), month after month. Columns refer
 * to what their names say; no REFERENCES, since rows are written in batches, a table at a time.
 */
export const MARKET_SCHEMA = `
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
  sector_id INTEGER NOT NULL,
  tagline_en TEXT, tagline_zh TEXT,
  short_description_en TEXT, short_description_zh TEXT,
  long_description_en TEXT, long_description_zh TEXT,
  pricing_model TEXT NOT NULL,
  verification_status TEXT NOT NULL,
  staleness_status TEXT NOT NULL,
  listed_at INTEGER NOT NULL,
  -- In which its maker announced its launch; of a product that is newly listed, a month that is still to come.
  launched_month INTEGER NOT NULL,
  domain_registered_month INTEGER NOT NULL,
  discontinued_month INTEGER
) STRICT;
CREATE INDEX product_by_sector ON product (sector_id);

-- Further sectors of a product; its primary sector is product.sector_id.
CREATE TABLE product_sector (
  tool_id INTEGER NOT NULL,
  sector_id INTEGER NOT NULL,
  PRIMARY KEY (tool_id, sector_id)
) STRICT, WITHOUT ROWID;

-- A row for each price and trial of a plan: from a month on, until the first month in which it no longer held. What holds
-- now has no until_month; a plan whose price changed has several rows of one name and region.
CREATE TABLE plan (
  plan_id INTEGER PRIMARY KEY,
  tool_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind = 'free' OR kind = 'paid' OR kind = 'enterprise'),
  region TEXT NOT NULL,
  -- Null: on request, or by use.
  monthly_price_cents INTEGER,
  -- For a minute, an image or a call, in thousandths of a dollar; null where one pays by the month.
  unit_price_mills INTEGER,
  trial_days INTEGER NOT NULL,
  trial_needs_card INTEGER NOT NULL,
  from_month INTEGER NOT NULL,
  until_month INTEGER
) STRICT;
CREATE INDEX plan_by_product ON plan (tool_id);

CREATE TABLE feature (
  feature_id INTEGER PRIMARY KEY,
  tool_id INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind = 'feature' OR kind = 'model' OR kind = 'api' OR kind = 'mcp'),
  name_en TEXT NOT NULL,
  name_zh TEXT NOT NULL,
  from_month INTEGER NOT NULL
) STRICT;
CREATE INDEX feature_by_product ON feature (tool_id);

CREATE TABLE ai_source (
  tool_id INTEGER NOT NULL,
  source TEXT NOT NULL,
  from_month INTEGER NOT NULL,
  -- Visits in from_month, a part of that month's ai_referral; 0 when it began before the first observed month.
  first_visits INTEGER NOT NULL,
  PRIMARY KEY (tool_id, source)
) STRICT, WITHOUT ROWID;

-- Texts of a product that became others; product has those in force.
CREATE TABLE product_change (
  month INTEGER NOT NULL,
  tool_id INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind = 'pricing_model' OR kind = 'domain' OR kind = 'tagline'),
  before_text TEXT NOT NULL,
  after_text TEXT NOT NULL,
  -- In percent: of a domain's addresses those that redirect to the new one, of a homepage's wording that which stayed.
  share INTEGER,
  PRIMARY KEY (month, tool_id, kind)
) STRICT, WITHOUT ROWID;

-- No row: no observation of this product in this month.
CREATE TABLE product_month (
  month INTEGER NOT NULL,
  tool_id INTEGER NOT NULL,
  organic INTEGER NOT NULL,
  paid INTEGER NOT NULL,
  ai_referral INTEGER NOT NULL,
  direct INTEGER NOT NULL,
  domain_rating REAL,
  linking_domains INTEGER NOT NULL,
  PRIMARY KEY (month, tool_id)
) STRICT, WITHOUT ROWID;

-- What was observed of a product beside its traffic. A row for each of product_month.
CREATE TABLE product_presence_month (
  month INTEGER NOT NULL,
  tool_id INTEGER NOT NULL,
  -- All addresses of the sitemap; those of one generated pattern; those with a language, region or use case in the path.
  sitemap_urls INTEGER NOT NULL,
  pattern_urls INTEGER NOT NULL,
  market_urls INTEGER NOT NULL,
  search_ads INTEGER NOT NULL,
  ad_creatives INTEGER NOT NULL,
  -- Published in this month.
  articles INTEGER NOT NULL,
  -- AI directories that list it.
  directories INTEGER NOT NULL,
  -- Null: it has no browser extension.
  extension_users INTEGER,
  PRIMARY KEY (month, tool_id)
) STRICT, WITHOUT ROWID;

-- The larger countries of a product; the rest of its visits is of no listed country.
CREATE TABLE product_country (
  tool_id INTEGER NOT NULL,
  country TEXT NOT NULL,
  share_permille INTEGER NOT NULL,
  PRIMARY KEY (country, tool_id)
) STRICT, WITHOUT ROWID;

-- A product's visits from a country: its share of them, which moves by up to eight percent from month to month. A view, since
-- a table of it would be the second largest, and would add a fifth to the time in which a market is generated.
CREATE VIEW product_country_month AS
  SELECT month, country, tool_id,
    organic * share / 100000 AS organic, paid * share / 100000 AS paid,
    ai_referral * share / 100000 AS ai_referral, direct * share / 100000 AS direct
  FROM (
    SELECT m.*, c.country,
      c.share_permille * (92 + (m.month * 7919 + m.tool_id * 104729 + c.share_permille * 611953) % 1009 % 17) AS share
    FROM product_country c CROSS JOIN product_month m USING (tool_id)
  );

CREATE TABLE keyword_cluster (
  cluster_id TEXT PRIMARY KEY,
  name_en TEXT NOT NULL,
  name_zh TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE keyword (
  keyword_id INTEGER PRIMARY KEY,
  keyword TEXT NOT NULL,
  brand_type TEXT NOT NULL,
  cluster_id TEXT,
  sector_id INTEGER
) STRICT;

-- A keyword that was observed in a month. Two samples with the same sample_version are comparable.
CREATE TABLE keyword_month (
  month INTEGER NOT NULL,
  keyword_id INTEGER NOT NULL,
  search_volume INTEGER NOT NULL,
  sample_version INTEGER NOT NULL,
  is_verified INTEGER NOT NULL,
  -- A JSON array of visits: those of the receiver of place 0 first. 0: none in this month.
  traffic_by_place TEXT NOT NULL DEFAULT '[]',
  -- Sums over them, kept beside them since every list sorts by them.
  observed_products INTEGER NOT NULL,
  observed_traffic INTEGER NOT NULL,
  PRIMARY KEY (month, keyword_id)
) STRICT, WITHOUT ROWID;

-- The tracked products that receive a keyword's traffic, in some month or other.
CREATE TABLE keyword_receiver (
  keyword_id INTEGER NOT NULL,
  place INTEGER NOT NULL,
  tool_id INTEGER NOT NULL,
  PRIMARY KEY (keyword_id, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX keyword_receiver_by_product ON keyword_receiver (tool_id);

-- What each of them received in a month. A view, since it would be by far the largest table: it and its index would take
-- a quarter of the time in which the emulator starts. Whoever asks for a keyword or a product finds it by the receivers.
CREATE VIEW keyword_product_month AS
  SELECT m.month, m.keyword_id, r.tool_id, m.traffic_by_place ->> r.place AS traffic
  FROM keyword_receiver r CROSS JOIN keyword_month m USING (keyword_id)
  WHERE m.traffic_by_place ->> r.place > 0;

-- Searched by what fts-query.ts makes of a text; rowid is tool_id and keyword_id. Chinese characters stand apart in it, so
-- that one or two of them are found: a trigram index would need three.
CREATE VIRTUAL TABLE product_fts USING fts5(
  name, domain, tagline_en, tagline_zh, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE keyword_fts USING fts5(
  keyword, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);

-- The seed and the first month of the data, in one row. Later months are generated from them.
CREATE TABLE catalog_origin (
  origin_id INTEGER PRIMARY KEY CHECK (origin_id = 1),
  seed INTEGER NOT NULL,
  first_month INTEGER NOT NULL
) STRICT;

-- One row for each month that was observed.
CREATE TABLE observed_month (
  month INTEGER PRIMARY KEY,
  captured_at INTEGER NOT NULL
) STRICT;
${DUE_SIGNAL_SCHEMA}`;
