import type { MarketWriter } from "./market-writer.js";
import { TOPIC, type Dice } from "./dice.js";
import { brandIdeas, sectorIdeas, type KeywordIdea } from "./keyword-ideas.js";
import { chooseReceivers, type Receiver } from "./keyword-receivers.js";
import type { Product } from "./product.js";
import { SECTORS } from "./sectors.js";

/** The highest share of a product's organic visits that its keywords bring together in a usual month. */
const MOST_OF_ORGANIC = 0.3;
/** The share of a keyword's searches that lead to a visit of a tracked product: [the minimum, the width of the range above it]. */
const VISIT_SHARES = { brand: [0.4, 0.45], head: [0.04, 0.1], other: [0.2, 0.5] } as const;
/** The limits of a keyword's searches, relative to a usual month. */
const LEAST_TREND = 0.4;
const MOST_TREND = 2.5;

/** The chance of each event in a month. */
const CHANCE = {
  missing: 0.3,
  sampleChange: 0.025,
  unverified: 0.03,
  breakout: 0.006,
  receiverBreakout: 0.002,
} as const;
/** The share of keywords that are missing in some months. */
const SPARSE_SHARE = 0.05;
/** A keyword's traffic to a product can jump only if it is below this share of the product's organic visits. */
const SMALL_SHARE = 0.004;

interface Keyword {
  keywordId: number;
  idea: KeywordIdea;
  receivers: Receiver[];
  /** The month of its first observation, counted from the catalog's first month. */
  bornAt: number;
  /** Monthly searches in a usual month. */
  baseVolume: number;
  trend: number;
  sampleVersion: number;
}

/**
 * Makes the keywords of the market, month by month.
 *
 * @param firstTurn the first month with keywords, counted from the catalog's first month
 */
export function createKeywordMarket(dice: Dice, firstTurn: number) {
  const keywords: Keyword[] = [];
  const texts = new Set<string>();
  const clusters = new Set<string>();
  let productsKnown = 0;

  function ideasOf(
    turn: number,
    products: readonly Product[],
    bySector: readonly (readonly Product[])[],
  ): KeywordIdea[] {
    const ideas = turn === firstTurn ? sectorIdeas(dice) : [];
    for (const product of products.slice(productsKnown)) {
      const rivals = bySector[product.sectorIndex] ?? [];
      ideas.push(...brandIdeas(dice, product, rivals[rivals.indexOf(product) - 1] ?? null));
    }
    productsKnown = products.length;
    return ideas;
  }

  function addKeywords(writer: MarketWriter, products: readonly Product[], turn: number): void {
    const bySector: Product[][] = SECTORS.map(() => []);
    for (const product of products) if (product.isOffered) bySector[product.sectorIndex]?.push(product);
    for (const rivals of bySector) rivals.sort((a, b) => b.visits.organic - a.visits.organic || a.index - b.index);
    const from = keywords.length;
    for (const idea of ideasOf(turn, products, bySector)) {
      if (texts.has(idea.text)) continue;
      texts.add(idea.text);
      const keywordId = keywords.length + 1;
      const receivers = chooseReceivers(dice, keywordId, idea, bySector);
      keywords.push({ keywordId, idea, receivers, bornAt: turn, baseVolume: 0, trend: 1, sampleVersion: 1 });
    }
    const added = keywords.slice(from);
    if (turn === firstTurn) limitShares(added);
    for (const keyword of added) {
      keyword.baseVolume = firstVolume(dice, keyword);
      writeKeyword(writer, keyword, clusters);
    }
  }

  return {
    step(writer: MarketWriter, products: readonly Product[], turn: number, month: number): void {
      if (turn < firstTurn) return;
      addKeywords(writer, products, turn);
      for (const keyword of keywords) stepKeyword(dice, writer, keyword, turn, month);
    },
  };
}

function limitShares(keywords: readonly Keyword[]): void {
  const sums = new Map<Product, number>();
  for (const { receivers } of keywords) {
    for (const { product, share } of receivers) sums.set(product, (sums.get(product) ?? 0) + share);
  }
  for (const { receivers } of keywords) {
    for (const receiver of receivers) {
      const sum = sums.get(receiver.product) ?? 0;
      if (sum > MOST_OF_ORGANIC) receiver.share *= MOST_OF_ORGANIC / sum;
    }
  }
}

/** The searches of a usual month. Only a share of them leads to a visit of a tracked product. */
function firstVolume(dice: Dice, { keywordId, idea, receivers }: Keyword): number {
  const visits = receivers.reduce((sum, { product, share }) => sum + product.visits.organic * share, 0);
  const otherSearches = 20 + 900 * dice.fraction(TOPIC.keywordSize, keywordId, 1);
  const [least, spread] =
    idea.owner !== null ? VISIT_SHARES.brand : idea.isHead ? VISIT_SHARES.head : VISIT_SHARES.other;
  return visits / (least + spread * dice.fraction(TOPIC.keywordSize, keywordId, 2)) + otherSearches;
}

function writeKeyword({ rows }: MarketWriter, { keywordId, idea, receivers }: Keyword, clusters: Set<string>): void {
  const { text, brandType, cluster, sectorIndex } = idea;
  if (cluster !== null && !clusters.has(cluster.id)) {
    clusters.add(cluster.id);
    rows.keyword_cluster.add(cluster.id, cluster.name.en, cluster.name.zh);
  }
  rows.keyword.add(keywordId, text, brandType, cluster?.id ?? null, sectorIndex === null ? null : sectorIndex + 1);
  for (const [place, { product }] of receivers.entries()) rows.keyword_receiver.add(keywordId, place, product.toolId);
}

function stepKeyword(dice: Dice, { rows }: MarketWriter, keyword: Keyword, turn: number, month: number): void {
  const { keywordId, bornAt, receivers } = keyword;
  const trend = dice.fraction(TOPIC.keywordTrend, keywordId, turn);
  const growth = trend < CHANCE.breakout ? 1.7 + trend * 150 : 0.95 + 0.104 * trend;
  keyword.trend = Math.min(MOST_TREND, Math.max(LEAST_TREND, keyword.trend * growth));
  const sample = dice.fraction(TOPIC.keywordSample, keywordId, turn);
  if (sample < CHANCE.sampleChange) keyword.sampleVersion += 1;
  const isSparse = dice.fraction(TOPIC.keywordSample, keywordId, -1) < SPARSE_SHARE;
  const isMissing =
    isSparse && turn > bornAt && dice.fraction(TOPIC.keywordSample, keywordId, -turn - 2) < CHANCE.missing;
  const isVerified = sample < 1 - CHANCE.unverified;

  let observedProducts = 0;
  let observedTraffic = 0;
  let trafficByPlace = "";
  for (const receiver of receivers) {
    const noise = dice.fraction(TOPIC.slotNoise, receiver.number, turn);
    if (noise < CHANCE.receiverBreakout && receiver.share < SMALL_SHARE) receiver.share *= 2.5 + noise * 500;
    const isAbsent = !receiver.product.isOffered || (turn + receiver.offset) % receiver.period < receiver.gap;
    const { organic } = receiver.product.visits;
    const traffic = isAbsent ? 0 : Math.round(organic * receiver.share * keyword.trend * (0.9 + 0.2 * noise));
    if (traffic > 0) observedProducts += 1;
    observedTraffic += traffic;
    trafficByPlace += trafficByPlace === "" ? String(traffic) : `,${traffic}`;
  }
  if (isMissing) return;
  const searches = keyword.baseVolume * keyword.trend;
  const volume = Math.ceil(Math.max(searches, observedTraffic * 1.1) / 10) * 10;
  rows.keyword_month.add(
    month,
    keywordId,
    volume,
    keyword.sampleVersion,
    isVerified ? 1 : 0,
    `[${trafficByPlace}]`,
    observedProducts,
    observedTraffic,
  );
}
