/** All visits of a row of `product_month` or `product_country_month`, over its channels. */
export const visits = (row: string): string =>
  `(${row}.organic + ${row}.paid + ${row}.ai_referral + ${row}.direct)`;

/**
 * The tables of the observed data. Months are a `MonthIndex`, and traffic is in visits of the
 * month. The generator makes all data from a seed, month by month (`generate-market.ts`). There are
 * no REFERENCES, because rows are written in batches, table by table.
 */
export const MARKET_SCHEMA = [
  `CREATE TABLE sector (
  sector_id INTEGER PRIMARY KEY,
  slug TEXT NOT NULL UNIQUE,
  name_en TEXT NOT NULL,
  name_zh TEXT NOT NULL
) STRICT;`,
  // `launched_month`: the month in which the maker announced the launch. For a newly listed
  // product this is a future month.
  `CREATE TABLE product (
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
  launched_month INTEGER NOT NULL,
  domain_registered_month INTEGER NOT NULL,
  discontinued_month INTEGER
) STRICT;
CREATE INDEX product_by_sector ON product (sector_id);`,
  // The other sectors of a product. Its primary sector is product.sector_id.
  `CREATE TABLE product_sector (
  tool_id INTEGER NOT NULL,
  sector_id INTEGER NOT NULL,
  PRIMARY KEY (tool_id, sector_id)
) STRICT, WITHOUT ROWID;`,
  // A row for each price and trial of a plan. until_month is the first month in which the row is
  // no longer valid; it is null for current rows. A plan whose price changed has several rows with
  // the same name and region.
  // `monthly_price_cents`: null if the price is on request or depends on use.
  // `unit_price_mills`: the price of a minute, an image or a call, in thousandths of a dollar;
  // null if the price is monthly.
  `CREATE TABLE plan (
  plan_id INTEGER PRIMARY KEY,
  tool_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('free', 'paid', 'enterprise')),
  region TEXT NOT NULL,
  monthly_price_cents INTEGER,
  unit_price_mills INTEGER,
  trial_days INTEGER NOT NULL,
  trial_needs_card INTEGER NOT NULL,
  from_month INTEGER NOT NULL,
  until_month INTEGER
) STRICT;
CREATE INDEX plan_by_product ON plan (tool_id);`,
  `CREATE TABLE feature (
  feature_id INTEGER PRIMARY KEY,
  tool_id INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('feature', 'model', 'api', 'mcp')),
  name_en TEXT NOT NULL,
  name_zh TEXT NOT NULL,
  from_month INTEGER NOT NULL
) STRICT;
CREATE INDEX feature_by_product ON feature (tool_id);`,
  // `first_visits`: the visits in from_month, which are a part of ai_referral; 0 if the source is
  // older than the first observed month.
  `CREATE TABLE ai_source (
  tool_id INTEGER NOT NULL,
  source TEXT NOT NULL,
  from_month INTEGER NOT NULL,
  first_visits INTEGER NOT NULL,
  PRIMARY KEY (tool_id, source)
) STRICT, WITHOUT ROWID;`,
  // Changed texts of a product. The table product has the current texts.
  // `share`: in percent: the addresses that redirect to the new domain, or the unchanged part of
  // the homepage's wording.
  `CREATE TABLE product_change (
  month INTEGER NOT NULL,
  tool_id INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('pricing_model', 'domain', 'tagline')),
  before_text TEXT NOT NULL,
  after_text TEXT NOT NULL,
  share INTEGER,
  PRIMARY KEY (month, tool_id, kind)
) STRICT, WITHOUT ROWID;`,
  // A product without a row was not observed in the month.
  `CREATE TABLE product_month (
  month INTEGER NOT NULL,
  tool_id INTEGER NOT NULL,
  organic INTEGER NOT NULL,
  paid INTEGER NOT NULL,
  ai_referral INTEGER NOT NULL,
  direct INTEGER NOT NULL,
  domain_rating REAL,
  linking_domains INTEGER NOT NULL,
  PRIMARY KEY (month, tool_id)
) STRICT, WITHOUT ROWID;`,
  // The other observations of a product. There is a row for each row of product_month.
  // `sitemap_urls`: addresses in the sitemap: all, with one generated pattern, and with a
  // language, region or use case in the path.
  // `articles`: published in this month.
  // `directories`: the number of AI directories that list the product.
  // `extension_users`: null if the product has no browser extension.
  `CREATE TABLE product_presence_month (
  month INTEGER NOT NULL,
  tool_id INTEGER NOT NULL,
  sitemap_urls INTEGER NOT NULL,
  pattern_urls INTEGER NOT NULL,
  market_urls INTEGER NOT NULL,
  search_ads INTEGER NOT NULL,
  ad_creatives INTEGER NOT NULL,
  articles INTEGER NOT NULL,
  directories INTEGER NOT NULL,
  extension_users INTEGER,
  PRIMARY KEY (month, tool_id)
) STRICT, WITHOUT ROWID;`,
  // The largest countries of a product. The rest of its visits is not assigned to a country.
  `CREATE TABLE product_country (
  tool_id INTEGER NOT NULL,
  country TEXT NOT NULL,
  share_permille INTEGER NOT NULL,
  PRIMARY KEY (country, tool_id)
) STRICT, WITHOUT ROWID;`,
  // A product's visits from a country. The country's share varies by up to eight percent between
  // months. This is a view, because it would be the second largest table, and generating a market
  // would take a fifth longer.
  `CREATE VIEW product_country_month AS
  SELECT month, country, tool_id,
    organic * share / 100000 AS organic, paid * share / 100000 AS paid,
    ai_referral * share / 100000 AS ai_referral, direct * share / 100000 AS direct
  FROM (
    SELECT m.*, c.country,
      c.share_permille * (92 + (m.month * 7919 + m.tool_id * 104729 + c.share_permille * 611953) % 1009 % 17) AS share
    FROM product_country c CROSS JOIN product_month m USING (tool_id)
  );`,
  `CREATE TABLE keyword_cluster (
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
) STRICT;`,
  // The observation of a keyword in a month. Samples with the same sample_version are comparable.
  // `traffic_by_place`: a JSON array of the visits to each receiver, in the order of place.
  // `observed_products`: sums over this array, stored because lists are sorted by them.
  `CREATE TABLE keyword_month (
  month INTEGER NOT NULL,
  keyword_id INTEGER NOT NULL,
  search_volume INTEGER NOT NULL,
  sample_version INTEGER NOT NULL,
  is_verified INTEGER NOT NULL,
  traffic_by_place TEXT NOT NULL DEFAULT '[]',
  observed_products INTEGER NOT NULL,
  observed_traffic INTEGER NOT NULL,
  PRIMARY KEY (month, keyword_id)
) STRICT, WITHOUT ROWID;`,
  // The tracked products that receive a keyword's traffic in any month.
  `CREATE TABLE keyword_receiver (
  keyword_id INTEGER NOT NULL,
  place INTEGER NOT NULL,
  tool_id INTEGER NOT NULL,
  PRIMARY KEY (keyword_id, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX keyword_receiver_by_product ON keyword_receiver (tool_id);`,
  // The traffic of each receiver in a month. This is a view, because it would be the largest
  // table: with its index it would take a quarter of the emulator's start time. Queries for a
  // keyword or a product use the indexes of keyword_receiver.
  `CREATE VIEW keyword_product_month AS
  SELECT m.month, m.keyword_id, r.tool_id, m.traffic_by_place ->> r.place AS traffic
  FROM keyword_receiver r CROSS JOIN keyword_month m USING (keyword_id)
  WHERE m.traffic_by_place ->> r.place > 0;`,
  // One row: the seed and the first month of the data, from which later months are generated.
  `CREATE TABLE catalog_origin (
  origin_id INTEGER PRIMARY KEY CHECK (origin_id = 1),
  seed INTEGER NOT NULL,
  first_month INTEGER NOT NULL
) STRICT;`,
  // One row for each observed month.
  `CREATE TABLE observed_month (
  month INTEGER PRIMARY KEY,
  captured_at INTEGER NOT NULL
) STRICT;`,
  // Signals that are not published yet. After a restart they are published from here.
  `CREATE TABLE due_signal (
  due_signal_id INTEGER PRIMARY KEY,
  due_at INTEGER NOT NULL,
  draft TEXT NOT NULL
) STRICT;
CREATE INDEX due_signal_by_time ON due_signal (due_at);`,
].join("\n");
