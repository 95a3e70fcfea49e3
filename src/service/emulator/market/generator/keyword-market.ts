import type { Dice } from "./dice.js";
import { brandIdeas, sectorIdeas, type KeywordIdea } from "./keyword-ideas.js";
import { MISSED, type MarketWriter } from "./market-writer.js";
import type { Product } from "./product.js";
import { SECTORS } from "./sectors.js";
import type { MonthIndex } from "../../time/month.js";

/**
 * The highest share of a product's organic visits from one keyword, unless the keyword names the
 * product.
 */
const MOST_SHARE = 0.012;
/** The share of keywords that also bring visits to a product of another sector. */
const OTHER_SECTOR_SHARE = 0.15;
/** The first products of a keyword receive visits in every month. */
const STEADY_PLACES = 1;
/** The limits of a keyword's searches, relative to a usual month. */
const LEAST_TREND = 0.4;
const MOST_TREND = 2.5;
/** The chance of each event in a month. */
const CHANCE = { sampleChange: 0.025, unverified: 0.03, breakout: 0.003, noVisits: 0.03 } as const;

interface Keyword {
  keywordId: number;
  /**
   * The products that receive its visits, and the share of their organic visits in a usual month.
   */
  receivers: { product: Product; share: number }[];
  /**
   * The share of its searches that lead to a visit of these products, and the number of other
   * searches.
   */
  visitShare: number;
  otherSearches: number;
  trend: number;
  sampleVersion: number;
}

/** Makes the keywords of the market, month by month. */
export function createKeywordMarket(dice: Dice) {
  const keywords: Keyword[] = [];
  const texts = new Set<string>();
  const clusters = new Set<string>();
  let productsKnown = 0;

  function addKeyword(
    writer: MarketWriter,
    idea: KeywordIdea,
    bySector: readonly Product[][],
  ): void {
    const { text, brandType, cluster, sectorIndex, reach } = idea;
    if (texts.has(text)) return;
    texts.add(text);
    const keywordId = keywords.length + 1;
    const receivers = chooseReceivers(dice, idea, bySector);
    const [visitShare, otherSearches] = [dice.number(...reach.visits), dice.number(20, 920)];
    keywords.push({ keywordId, receivers, visitShare, otherSearches, trend: 1, sampleVersion: 1 });
    if (cluster !== null && !clusters.has(cluster.id)) {
      clusters.add(cluster.id);
      writer.add("keyword_cluster", cluster.id, cluster.name.en, cluster.name.zh);
    }
    const sectorId = sectorIndex === null ? null : sectorIndex + 1;
    writer.add("keyword", keywordId, text, brandType, cluster?.id ?? null, sectorId);
    for (const [place, { product }] of receivers.entries()) {
      writer.add("keyword_receiver", keywordId, place, product.toolId);
    }
  }

  return {
    step(writer: MarketWriter, products: readonly Product[], month: MonthIndex): void {
      const offered = products.filter(({ isOffered }) => isOffered);
      const largest = offered.sort(
        (a, b) => b.traffic.visits.organic - a.traffic.visits.organic || a.index - b.index,
      );
      const bySector = SECTORS.map((_, sectorIndex) =>
        largest.filter((product) => product.sectorIndex === sectorIndex),
      );
      const ideas = keywords.length === 0 ? sectorIdeas(dice) : [];
      for (const product of products.slice(productsKnown)) {
        const rival = bySector[product.sectorIndex]?.find((other) => other !== product);
        ideas.push(...brandIdeas(dice, product, rival));
      }
      productsKnown = products.length;
      for (const idea of ideas) addKeyword(writer, idea, bySector);
      for (const keyword of keywords) stepKeyword(dice, writer, keyword, month);
    },
  };
}

/** @param bySector the products of each sector, the largest product first */
function chooseReceivers(dice: Dice, idea: KeywordIdea, bySector: readonly Product[][]) {
  const { owner, reach } = idea;
  const sectorIndex = idea.sectorIndex ?? dice.whole(0, SECTORS.length - 1);
  const rivals = bySector[sectorIndex] ?? [];
  const others = bySector[(sectorIndex + 1) % SECTORS.length] ?? [];
  const count = dice.pick(reach.products);
  const place = Math.floor(dice.number(0, 1) * dice.number(0, rivals.length));
  const start = owner !== null ? rivals.indexOf(owner.product) : reach.isTop ? 0 : place;
  const products = rivals.slice(start, start + count);
  if (dice.chance(OTHER_SECTOR_SHARE))
    products.push(...others.slice(start + count, start + count + 1));

  const ratio = dice.number(...reach.ratio);
  const first = products[0]?.traffic.visits.organic ?? 0;
  let visits = first * (owner?.share ?? MOST_SHARE * dice.number(0.1, 1));
  return products.map((product) => {
    const { organic } = product.traffic.visits;
    const most = product === owner?.product ? 1 : MOST_SHARE;
    const share = Math.min(most, visits / Math.max(1, organic));
    visits = Math.min(visits, most * organic) * ratio;
    return { product, share };
  });
}

function stepKeyword(dice: Dice, writer: MarketWriter, keyword: Keyword, month: MonthIndex): void {
  const { keywordId, receivers, visitShare, otherSearches } = keyword;
  const growth = dice.chance(CHANCE.breakout) ? dice.number(1.8, 2.6) : dice.number(0.95, 1.054);
  keyword.trend = Math.min(MOST_TREND, Math.max(LEAST_TREND, keyword.trend * growth));
  if (dice.chance(CHANCE.sampleChange)) keyword.sampleVersion += 1;

  let searchedVisits = 0;
  let observedProducts = 0;
  let observedTraffic = 0;
  const trafficByPlace: number[] = [];
  for (const { product, share } of receivers) {
    const { traffic } = product;
    const expected = traffic.visits.organic * share * keyword.trend * dice.number(0.9, 1.1);
    const hasVisits = trafficByPlace.length < STEADY_PLACES || !dice.chance(CHANCE.noVisits);
    const visits = hasVisits ? Math.min(traffic.unassigned, Math.round(expected)) : 0;
    traffic.unassigned -= visits;
    searchedVisits += expected;
    observedTraffic += visits;
    if (visits > 0) observedProducts += 1;
    trafficByPlace.push(visits);
  }
  const volume = Math.ceil((searchedVisits / visitShare + otherSearches * keyword.trend) / 10) * 10;
  const isVerified = !dice.chance(CHANCE.unverified);
  if (dice.chance(MISSED)) return;
  writer.add(
    "keyword_month",
    month,
    keywordId,
    volume,
    keyword.sampleVersion,
    isVerified ? 1 : 0,
    `[${trafficByPlace.join()}]`,
    observedProducts,
    observedTraffic,
  );
}
