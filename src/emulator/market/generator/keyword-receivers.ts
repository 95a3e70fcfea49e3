import { TOPIC, type Dice } from "./dice.js";
import type { KeywordIdea } from "./keyword-ideas.js";
import type { Product } from "./product.js";
import { SECTORS } from "./sectors.js";

/** A product that receives traffic from a keyword. */
export interface Receiver {
  /** Unique for each receiver of each keyword. */
  number: number;
  product: Product;
  /** The share of the product's organic visits that this keyword brings. */
  share: number;
  /** The product receives no traffic in `gap` months of every `period` months. */
  period: number;
  gap: number;
  offset: number;
}

/** Distributions of a keyword's traffic: how many products receive it, and the ratio of each product to the previous product. */
const SHAPES = [
  { weight: 0.015, products: [0, 0], ratio: 1 },
  { weight: 0.335, products: [1, 1], ratio: 1 },
  { weight: 0.28, products: [2, 4], ratio: 0.35 },
  { weight: 0.22, products: [4, 5], ratio: 0.72 },
  { weight: 0.15, products: [6, 7], ratio: 0.92 },
] as const;
/** The number of products that receive visits from a sector's head keywords. They are the largest products of the sector. */
const HEAD_PRODUCTS = [5, 7] as const;
/** The number of these products that receive visits in every month. */
const STEADY_PLACES = 3;
/** The share of receivers that have months without visits: of a keyword's first receivers, and of its other receivers. */
const GAPS = { first: 0.15, other: 0.4 } as const;
/** The most visits in a usual month from a keyword with few products, because popular searches have many products. */
const MOST_OF_FEW = 2500;
const FEW = 2;

/** The highest share of a product's organic visits from one keyword, unless the keyword names the product. */
const MOST_SHARE = 0.05;
const OTHER_SECTOR_SHARE = 0.1;
const RIVALS_SHARE = 0.3;

/** @param bySector the products of each sector, the largest product first */
export function chooseReceivers(
  dice: Dice,
  keywordId: number,
  idea: KeywordIdea,
  bySector: readonly (readonly Product[])[],
): Receiver[] {
  const sectorIndex = idea.sectorIndex ?? dice.below(SECTORS.length, TOPIC.keywordSlots, keywordId, -1);
  const rivals = bySector[sectorIndex] ?? [];
  if (idea.owner !== null) return ownerReceivers(dice, keywordId, idea.owner, idea.ownerShare, rivals);

  if (idea.isHead) return headReceivers(dice, keywordId, rivals);
  let draw = dice.fraction(TOPIC.keywordShape, keywordId);
  const shape = SHAPES.find(({ weight }) => (draw -= weight) < 0) ?? SHAPES[1];
  const count = dice.between(shape.products[0], shape.products[1], TOPIC.keywordShape, keywordId, 1);
  const lead = dice.fraction(TOPIC.keywordSlots, keywordId);
  const start = Math.floor(lead * lead * Math.max(1, rivals.length - count - 3));
  const products = new Set<Product>();
  for (let place = 0; place < count; place++) {
    const isOther = place > 0 && dice.fraction(TOPIC.keywordSlots, keywordId, 10 + place) < OTHER_SECTOR_SHARE;
    const from = isOther ? (bySector[(sectorIndex + 1) % SECTORS.length] ?? []) : rivals;
    const product = from[(start + place + dice.below(2, TOPIC.keywordSlots, keywordId, 20 + place)) % from.length];
    if (product !== undefined) products.add(product);
  }

  // The smallest product limits the traffic, so that a keyword brings only a small share of each product's visits.
  const weights = [...products].map((_, place) => power(shape.ratio, place));
  const size = 0.08 + 0.92 * dice.fraction(TOPIC.keywordSize, keywordId);
  const bearable = [...products].map(({ visits }, place) => (visits.organic * MOST_SHARE) / (weights[place] ?? 1));
  const largest = Math.min(...bearable, products.size <= FEW ? MOST_OF_FEW : Infinity) * size * size;
  return [...products].map((product, place) =>
    receiver(dice, keywordId, product, (largest * (weights[place] ?? 0)) / Math.max(1, product.visits.organic), place),
  );
}

/**
 * Each product receives traffic in proportion to its size, so a few large products receive most of it. The first product is limited
 * by the size of the second; otherwise a very large product would receive nearly all searches of its sector.
 */
function headReceivers(dice: Dice, keywordId: number, rivals: readonly Product[]): Receiver[] {
  const count = dice.between(HEAD_PRODUCTS[0], HEAD_PRODUCTS[1], TOPIC.keywordShape, keywordId, 1);
  const size = 0.25 + 0.75 * dice.fraction(TOPIC.keywordSize, keywordId);
  const most = rivals[1]?.visits.organic ?? Infinity;
  return rivals.slice(0, count).map((product, place) => {
    const { organic } = product.visits;
    const bearable = (MOST_SHARE * Math.min(organic, most)) / Math.max(1, organic);
    const part = 0.4 + 0.6 * dice.fraction(TOPIC.keywordSlots, keywordId, 10 + place);
    const gaps = place < STEADY_PLACES ? 0 : GAPS.other;
    return receiver(dice, keywordId, product, bearable * size * part, place, gaps);
  });
}

/** Returns the product that a keyword names, and sometimes rivals that receive a part of its searches. */
function ownerReceivers(
  dice: Dice,
  keywordId: number,
  owner: Product,
  share: number,
  rivals: readonly Product[],
): Receiver[] {
  const receivers = [receiver(dice, keywordId, owner, share, 0)];
  if (dice.fraction(TOPIC.keywordSlots, keywordId, 1) >= RIVALS_SHARE) return receivers;
  const place = rivals.indexOf(owner);
  for (const rival of [rivals[place + 1], rivals[place + 2]]) {
    if (rival === undefined) continue;
    const part = 0.05 + 0.2 * dice.fraction(TOPIC.keywordSlots, keywordId, 2 + receivers.length);
    const visits = owner.visits.organic * share * part;
    const rivalShare = Math.min(MOST_SHARE, visits / Math.max(1, rival.visits.organic));
    receivers.push(receiver(dice, keywordId, rival, rivalShare, receivers.length));
  }
  return receivers;
}

function receiver(
  dice: Dice,
  keywordId: number,
  product: Product,
  share: number,
  place: number,
  gaps: number = place === 0 ? GAPS.first : GAPS.other,
): Receiver {
  const gap =
    dice.fraction(TOPIC.keywordSlots, keywordId, 40 + place) < gaps
      ? dice.between(1, 4, TOPIC.keywordSlots, keywordId, 60 + place)
      : 0;
  return {
    number: keywordId * 8 + place,
    product,
    share,
    period: dice.between(11, 30, TOPIC.keywordSlots, keywordId, 80 + place),
    gap,
    offset: dice.below(30, TOPIC.keywordSlots, keywordId, 100 + place),
  };
}

/** Multiplies, because `Math.pow` is not exact on every machine. */
function power(base: number, exponent: number): number {
  let product = 1;
  for (let count = 0; count < exponent; count++) product *= base;
  return product;
}
