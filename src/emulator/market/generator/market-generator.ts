import type { MarketWriter } from "./market-writer.js";
import type { MonthIndex } from "../../time/month.js";
import { createDice, TOPIC } from "./dice.js";
import { createKeywordMarket } from "./keyword-market.js";
import { makeProduct } from "./make-product.js";
import type { Positioning, Product } from "./product.js";
import { changeOffer } from "./product-offer.js";
import { stepPresence } from "./product-presence.js";
import { introduce, newSource } from "./product-progress.js";
import { describe, drawPositioning } from "./product-texts.js";
import { stepTraffic } from "./product-traffic.js";
import { SECTORS } from "./sectors.js";
import { writeNewProduct, writePlan, writeProductMonth } from "./write-product.js";

const FIRST_PRODUCTS = 600;
/** The lowest and the highest number of new products in a month. */
const BIRTHS = [2, 5] as const;
/** The first month with keywords, counted from the catalog's first month. */
const KEYWORDS_FROM = 12;
/** The chance of each event in a month. */
const CHANCE = { ending: 0.0022, unobserved: 0.25, domain: 0.0018, positioning: 0.003 } as const;
/** If a new tagline has more of the former tagline's words than this percentage, it is not a new positioning. */
const MOST_KEPT = 50;
/** The share of products that are not observed in every month. */
const SPARSE_SHARE = 0.06;

/**
 * A made-up market of AI products. Each month depends only on the seed and the month before, so the data are the same whether the
 * months are generated together or one by one.
 */
export interface MarketGenerator {
  /** The month that `advance` makes. */
  readonly nextMonth: MonthIndex;
  /** Makes the next month and writes its observations. */
  advance(writer: MarketWriter): void;
}

/** @param seed a whole number */
export function createMarketGenerator(seed: number, firstMonth: MonthIndex): MarketGenerator {
  const dice = createDice(seed);
  const products: Product[] = [];
  const taglines = new Set<string>();
  const isNew = ({ tagline }: Positioning): boolean => !taglines.has(tagline.en);
  const keywords = createKeywordMarket(dice, KEYWORDS_FROM);
  let turn = 0;
  let planIds = 0;
  const nextPlanId = (): number => ++planIds;

  function addProducts(writer: MarketWriter, month: MonthIndex): void {
    const count = turn === 0 ? FIRST_PRODUCTS : dice.between(BIRTHS[0], BIRTHS[1], TOPIC.births, 0, turn);
    for (let number = 0; number < count; number++) {
      const product = makeProduct(dice, { index: products.length, bornAt: turn }, nextPlanId, isNew);
      products.push(product);
      taglines.add(product.positioning.tagline.en);
      writeNewProduct(dice, writer, product, month);
    }
  }

  function advanceProduct(writer: MarketWriter, product: Product, month: MonthIndex): void {
    stepTraffic(dice, product, turn);
    stepPresence(dice, product, turn);
    if (turn > product.bornAt) change(writer, product, month);
    if (product.isOffered && isObserved(product)) writeProductMonth(writer, product, month);
  }

  function isObserved({ index, bornAt }: Product): boolean {
    if (turn === bornAt || dice.fraction(TOPIC.observed, index) >= SPARSE_SHARE) return true;
    return dice.fraction(TOPIC.observed, index, turn) >= CHANCE.unobserved;
  }

  function change(writer: MarketWriter, product: Product, month: MonthIndex): void {
    const { toolId, index } = product;
    const occurs = (chance: number, what: number): boolean =>
      dice.fraction(TOPIC.endings, index, turn * 4 + what) < chance;
    if (occurs(CHANCE.ending, 0)) {
      product.isOffered = false;
      writer.update("discontinue", month, toolId);
      writer.update("setStaleness", "stale", toolId);
      return;
    }
    const offer = changeOffer(dice, product, turn, nextPlanId);
    for (const plan of offer?.ended ?? []) writer.update("endPlan", month, plan.planId);
    for (const plan of offer?.begun ?? []) writePlan(writer.rows, toolId, plan, month);
    if (offer?.oldModel != null) {
      writer.rows.product_change.add(month, toolId, "pricing_model", offer.oldModel, product.pricingModel, null);
      writer.update("setPricingModel", product.pricingModel, toolId);
    }
    for (const { kind, name } of introduce(dice, product, turn))
      writer.rows.feature.add(toolId, kind, name.en, name.zh, month);
    const source = newSource(dice, product, turn);
    if (source !== null) writer.rows.ai_source.add(toolId, source.source, month, source.visits);
    if (occurs(CHANCE.domain, 1)) changeDomain(writer, product, month);
    if (occurs(CHANCE.positioning, 2)) reposition(writer, product, month);
  }

  function changeDomain(writer: MarketWriter, product: Product, month: MonthIndex): void {
    const before = product.domain;
    product.domain = before.startsWith("get-") ? before.slice("get-".length) : `get-${before}`;
    const redirected = dice.between(88, 99, TOPIC.positioning, product.index, turn);
    writer.rows.product_change.add(month, product.toolId, "domain", before, product.domain, redirected);
    writer.update("setDomain", product.domain, product.toolId);
  }

  function reposition(writer: MarketWriter, product: Product, month: MonthIndex): void {
    const before = product.positioning;
    const keptOf = ({ tagline }: Positioning): number => keptWords(before.tagline.en, tagline.en);
    const isFit = (next: Positioning): boolean =>
      isNew(next) && next.audience !== before.audience && keptOf(next) <= MOST_KEPT;
    const positioning = drawPositioning(dice, product, turn, isFit);
    if (!isFit(positioning)) return;
    product.positioning = positioning;
    const { audience, tagline } = positioning;
    taglines.add(tagline.en);
    writer.update("recordTagline", month, tagline.en, keptOf(positioning), product.toolId);
    const { short, long } = describe(product, audience);
    const texts = [tagline, short, long].flatMap(({ en, zh }) => [en, zh]);
    writer.update("setPositioning", ...texts, product.toolId);
  }

  return {
    get nextMonth() {
      return firstMonth + turn;
    },
    advance(writer) {
      const month = firstMonth + turn;
      if (turn === 0) {
        for (const [place, { slug, name }] of SECTORS.entries())
          writer.rows.sector.add(place + 1, slug, name.en, name.zh);
      }
      addProducts(writer, month);
      for (const product of products) if (product.isOffered) advanceProduct(writer, product, month);
      keywords.step(writer, products, turn, month);
      turn += 1;
    },
  };
}

/** The percentage of the words of a text that another text has too. */
function keptWords(before: string, after: string): number {
  const [words = [], left = []] = [before, after].map((text) => text.toLowerCase().split(/[\s,:]+/));
  return Math.round((100 * words.filter((word) => left.includes(word)).length) / words.length);
}
