import { monthStart, type MonthIndex } from "../../time/emulator-clock.js";
import { createDice, type Range } from "./dice.js";
import { createKeywordMarket } from "./keyword-market.js";
import { stepFigures, stepTraffic } from "./product-figures.js";
import { nextOffer } from "./product-offer.js";
import { createTexts, introduce, makeProduct, type Product } from "./product.js";
import { SECTORS } from "./words.js";
import {
  MISSED,
  type MarketWriter,
  writeIntroduction,
  writeNewProduct,
  writePlan,
  writeProductMonth,
} from "./write-product.js";

const HOUR_MS = 60 * 60 * 1000;
const FIRST_PRODUCTS = 600;
/** The number of new products in a month. */
const BIRTHS: Range = [2, 5];
/** The first month with keywords, counted from the catalog's first month. */
const KEYWORDS_FROM = 12;
/** The chance of each event in a month. */
const CHANCE = { ending: 0.0022, domain: 0.0018, positioning: 0.006 } as const;
/**
 * If a new tagline has more of the former tagline's words than this percentage, it is not a new
 * positioning.
 */
const MOST_KEPT = 50;

/**
 * Returns the time at which a month is observed, in milliseconds since 1970: on the 2nd of the next
 * month, at 06:00 UTC.
 */
export function observedAt(month: MonthIndex): number {
  return monthStart(month + 1) + (24 + 6) * HOUR_MS;
}

export type MarketGenerator = ReturnType<typeof createMarketGenerator>;

/**
 * A made-up market of AI products. Each month depends only on the seed and the month before, so the
 * data are the same whether the months are generated together or one by one.
 *
 * @param seed a whole number
 */
export function createMarketGenerator(seed: number, firstMonth: MonthIndex) {
  const dice = createDice(seed);
  const texts = createTexts();
  const products: Product[] = [];
  const keywords = createKeywordMarket(dice);
  let month = firstMonth;

  function addProducts(writer: MarketWriter): void {
    const isNew = month > firstMonth;
    const count = isNew ? dice.whole(...BIRTHS) : FIRST_PRODUCTS;
    for (let number = 0; number < count; number++) {
      const product = makeProduct(dice, products.length, isNew, texts);
      products.push(product);
      writeNewProduct(dice, writer, product, month);
      stepTraffic(dice, product.traffic, product.figures);
      writeProductMonth(dice, writer, product, month);
    }
  }

  function advanceProduct(writer: MarketWriter, product: Product): void {
    const { toolId, traffic, figures } = product;
    stepFigures(dice, figures);
    stepTraffic(dice, traffic, figures);
    if (dice.chance(CHANCE.ending)) return discontinue(writer, product);
    changeOffer(writer, product);
    for (const introduction of introduce(dice, product, false)) {
      const visits = Math.ceil(traffic.visits.aiReferral * dice.number(0.05, 0.25));
      writeIntroduction(writer, toolId, introduction, month, visits);
    }
    if (dice.chance(CHANCE.domain)) changeDomain(writer, product);
    if (dice.chance(CHANCE.positioning)) reposition(writer, product);
    if (!dice.chance(MISSED)) writeProductMonth(dice, writer, product, month);
  }

  function discontinue(writer: MarketWriter, product: Product): void {
    product.isOffered = false;
    product.traffic.visits.organic = 0;
    const sql =
      "UPDATE product SET discontinued_month = ?, staleness_status = 'stale' WHERE tool_id = ?";
    writer.run(sql, month, product.toolId);
  }

  function changeOffer(writer: MarketWriter, product: Product): void {
    const { toolId, offer } = product;
    const next = nextOffer(dice, offer);
    if (next === offer) return;
    product.offer = next;
    for (const { name } of offer.plans.filter((plan) => !next.plans.includes(plan))) {
      const sql =
        "UPDATE plan SET until_month = ? WHERE tool_id = ? AND name = ? AND until_month IS NULL";
      writer.run(sql, month, toolId, name);
    }
    for (const plan of next.plans)
      if (!offer.plans.includes(plan)) writePlan(writer, toolId, plan, month);
    if (next.pricingModel === offer.pricingModel) return;
    writer.add(
      "product_change",
      month,
      toolId,
      "pricing_model",
      offer.pricingModel,
      next.pricingModel,
      null,
    );
    writer.run("UPDATE product SET pricing_model = ? WHERE tool_id = ?", next.pricingModel, toolId);
  }

  function changeDomain(writer: MarketWriter, product: Product): void {
    const { toolId, domain } = product;
    product.domain = domain.startsWith("get-") ? domain.slice("get-".length) : `get-${domain}`;
    writer.add(
      "product_change",
      month,
      toolId,
      "domain",
      domain,
      product.domain,
      dice.whole(88, 99),
    );
    writer.run("UPDATE product SET domain = ? WHERE tool_id = ?", product.domain, toolId);
  }

  function reposition(writer: MarketWriter, product: Product): void {
    const before = product.positioning.tagline.en;
    const next = texts.position(product);
    const { tagline, short, long } = next;
    const kept = keptWords(before, tagline.en);
    if (kept > MOST_KEPT) return;
    product.positioning = next;
    writer.add("product_change", month, product.toolId, "tagline", before, tagline.en, kept);
    // A product without a long description does not get one.
    const sql = `UPDATE product SET tagline_en = ?, tagline_zh = ?, short_description_en = ?, short_description_zh = ?,
      long_description_en = iif(long_description_en IS NULL, NULL, ?),
      long_description_zh = iif(long_description_zh IS NULL, NULL, ?) WHERE tool_id = ?`;
    writer.run(sql, ...[tagline, short, long].flatMap(({ en, zh }) => [en, zh]), product.toolId);
  }

  return {
    /** The month that `advance` makes. */
    get nextMonth() {
      return month;
    },
    /** Makes the next month and writes its observations. */
    advance(writer: MarketWriter): void {
      writer.add("observed_month", month, observedAt(month));
      if (month === firstMonth) {
        for (const [place, { slug, name }] of SECTORS.entries())
          writer.add("sector", place + 1, slug, name.en, name.zh);
      }
      for (const product of products) if (product.isOffered) advanceProduct(writer, product);
      addProducts(writer);
      if (month >= firstMonth + KEYWORDS_FROM) keywords.step(writer, products, month);
      month += 1;
    },
  };
}

/** The percentage of the words of a text that another text has too. */
function keptWords(before: string, after: string): number {
  const [words = [], left = []] = [before, after].map((text) =>
    text.toLowerCase().split(/[\s,:]+/),
  );
  return Math.round((100 * words.filter((word) => left.includes(word)).length) / words.length);
}
