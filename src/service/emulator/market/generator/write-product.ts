import type { Database } from "../../database/database.js";
import { monthStart, type MonthIndex } from "../../time/emulator-clock.js";
import type { Dice } from "./dice.js";
import type { Plan } from "./product-offer.js";
import { introduce, type Introduction, type Product } from "./product.js";
import { SECTORS } from "./words.js";

const DAY_MS = 24 * 60 * 60 * 1000;
const NO_TEXT_SHARE = 0.03;
const PENDING_SHARE = 0.15;
const AGING_SHARE = 0.12;
const SECOND_SECTOR_SHARE = 0.3;
const REGION = "US";

/** @param month the product's first month in the catalog */
export function writeNewProduct(
  dice: Dice,
  writer: MarketWriter,
  product: Product,
  month: MonthIndex,
): void {
  const { isNew, toolId, sectorIndex, positioning, offer } = product;
  const { tagline, short, long } = positioning;
  const hasText = !dice.chance(NO_TEXT_SHARE);
  const listedMonth = isNew ? month : month - dice.whole(1, 60);
  writer.add(
    "product",
    toolId,
    product.slug,
    product.name,
    product.domain,
    sectorIndex + 1,
    tagline.en,
    tagline.zh,
    short.en,
    short.zh,
    hasText ? long.en : null,
    hasText ? long.zh : null,
    offer.pricingModel,
    isNew || dice.chance(PENDING_SHARE) ? "pending" : "verified",
    dice.chance(AGING_SHARE) ? "aging" : "fresh",
    monthStart(listedMonth) + dice.whole(0, (28 * DAY_MS) / 1000 - 1) * 1000,
    // A new product is listed some months before its launch, so that an account can follow it
    // before it.
    isNew ? listedMonth + dice.whole(1, 3) : listedMonth,
    // The month in which the domain was registered.
    listedMonth - dice.whole(0, isNew ? 14 : 40),
    null,
  );
  if (dice.chance(SECOND_SECTOR_SHARE)) {
    writer.add(
      "product_sector",
      toolId,
      ((sectorIndex + dice.whole(1, SECTORS.length - 1)) % SECTORS.length) + 1,
    );
  }
  for (const introduction of introduce(dice, product, true)) {
    // Features are not observed before the product is listed.
    const since = isNew ? month : Math.max(listedMonth, month - dice.whole(1, 12));
    // Sources are stored with the month before, so they do not count as new and cause no signal.
    writeIntroduction(
      writer,
      toolId,
      introduction,
      introduction.kind === "source" ? month - 1 : since,
      0,
    );
  }
  for (const [country, permille] of product.countries)
    writer.add("product_country", toolId, country, permille);
  for (const plan of offer.plans) writePlan(writer, toolId, plan, listedMonth);
}

/** @param visits the visits that a new source sends */
export function writeIntroduction(
  writer: MarketWriter,
  toolId: number,
  { kind, name }: Introduction,
  month: MonthIndex,
  visits: number,
): void {
  if (kind === "source") writer.add("ai_source", toolId, name.en, month, visits);
  else writer.add("feature", null, toolId, kind, name.en, name.zh, month);
}

export function writePlan(
  writer: MarketWriter,
  toolId: number,
  plan: Plan,
  fromMonth: MonthIndex,
): void {
  const { name, kind, monthlyPriceCents, unitPriceMills, trialDays, trialNeedsCard } = plan;
  const trial = [trialDays, trialNeedsCard ? 1 : 0];
  writer.add(
    "plan",
    null,
    toolId,
    name,
    kind,
    REGION,
    monthlyPriceCents,
    unitPriceMills,
    ...trial,
    fromMonth,
    null,
  );
}

/** Writes the observations of a product in a month. */
export function writeProductMonth(
  dice: Dice,
  writer: MarketWriter,
  product: Product,
  month: MonthIndex,
): void {
  const { toolId, traffic, figures, hasRating } = product;
  const { organic, paid, aiReferral, direct } = traffic.visits;
  const linking = 20 + Math.floor(figures.links * traffic.base);
  const rating = Math.min(980, Math.round(45 * doublings(linking)) + dice.whole(-4, 4)) / 10;
  writer.add(
    "product_month",
    month,
    toolId,
    organic,
    paid,
    aiReferral,
    direct,
    hasRating ? rating : null,
    linking,
  );
  const [pattern, market] = [Math.floor(figures.patternUrls), Math.floor(figures.marketUrls)];
  writer.add(
    "product_presence_month",
    month,
    toolId,
    Math.floor(figures.plainUrls) + pattern + market,
    pattern,
    market,
    traffic.advertises ? 3 + Math.floor(300 * figures.paidShare) : 0,
    traffic.advertises ? Math.floor(figures.adCreatives) : 0,
    Math.floor(figures.articles),
    Math.floor(figures.directories),
    // Extension stores round to thousands.
    figures.extension === 0
      ? null
      : (1 + Math.round((figures.extension * traffic.base) / 1000)) * 1000,
  );
}

/**
 * How often 1 is doubled to reach a number. Between two powers of two it is a straight line;
 * logarithms differ between machines.
 */
function doublings(value: number): number {
  const whole = 31 - Math.clz32(value);
  return whole + value / (1 << whole) - 1;
}

/** The chance that a product or a keyword is not observed in a month. */
export const MISSED = 0.003;

type Value = number | string | null;

/** Writes the data of the generator. */
export interface MarketWriter {
  /** @param row the values in the order of the table's columns in `market-schema.ts` */
  add(table: string, ...row: Value[]): void;
  run(sql: string, ...values: Value[]): void;
}

export function createMarketWriter(database: Database): MarketWriter {
  const inserts = new Map<string, string>();
  return {
    add(table, ...row) {
      const sql =
        inserts.get(table) ?? `INSERT INTO ${table} VALUES (${row.map(() => "?").join(", ")})`;
      inserts.set(table, sql);
      database.run(sql, ...row);
    },
    run: database.run,
  };
}

/** A writer that does nothing, for months whose rows already exist. */
export const NO_WRITER: MarketWriter = { add() {}, run() {} };
