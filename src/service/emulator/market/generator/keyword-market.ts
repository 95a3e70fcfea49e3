import type { BRAND_TYPES } from "../../../contract/search-demand.js";
import type { MonthIndex } from "../../time/emulator-clock.js";
import type { Dice, Range } from "./dice.js";
import type { Product } from "./product.js";
import { SECTORS, type Bilingual, WORDS } from "./words.js";
import { MISSED, type MarketWriter } from "./write-product.js";

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

/** A keyword before its first observation. */
interface KeywordIdea {
  text: string;
  brandType: (typeof BRAND_TYPES)[number];
  cluster: { id: string; name: Bilingual } | null;
  /** Null if it does not belong to a sector. */
  sectorIndex: number | null;
  /**
   * The product that the keyword names, if any, and the share of its organic visits that the
   * keyword brings.
   */
  owner: { product: Product; share: number } | null;
  reach: Reach;
}

/** How the visits of a keyword are distributed. */
interface Reach {
  /** The possible numbers of products that it brings visits to. */
  products: readonly number[];
  /** The visits of each product, relative to the product before it. */
  ratio: Range;
  /** Whether these are the largest products of the sector. */
  isTop: boolean;
  /** The share of its searches that lead to a visit of one of these products. */
  visits: Range;
}

/** The most common searches for the products of a sector. */
const HEAD: Reach = { products: [5, 6, 7], ratio: [0.6, 0.95], isTop: true, visits: [0.04, 0.14] };
const OTHER: Reach = {
  products: [1, 1, 1, 1, 2, 3, 4, 5, 6, 7],
  ratio: [0.3, 0.95],
  isTop: false,
  visits: [0.2, 0.7],
};
const UNCLEAR: Reach = { ...OTHER, products: [0, 0, 1, 1, 1, 2, 3] };
const BRAND: Reach = {
  products: [1, 1, 3],
  ratio: [0.05, 0.25],
  isTop: false,
  visits: [0.4, 0.85],
};

const NO_CLUSTER_SHARE = 0.06;
/** The number of beginnings of product names that occur in unclear searches. */
const UNCLEAR_BEGINNINGS = 32;
/** The lowest and the highest number of searches that name a product. */
const BRAND_KEYWORDS: Range = [2, WORDS.brandIntents.length];
const VERSUS_SHARE = 0.2;

/** Makes the keywords that do not name a product. */
function sectorIdeas(dice: Dice): KeywordIdea[] {
  const ofSectors = SECTORS.flatMap((sector, sectorIndex) =>
    WORDS.intents.flatMap(({ cluster: id, name, en, zh }): KeywordIdea[] => {
      const names = { en: `${sector.name.en}: ${name.en}`, zh: `${sector.name.zh}：${name.zh}` };
      const named = { id: `${sector.slug}-${id}`, name: names };
      const reach = id === WORDS.intents[0]?.cluster ? HEAD : OTHER;
      return sector.terms
        .flatMap((term) => [...fill(en, term.en), ...fill(zh, term.zh)])
        .map((text) => {
          const cluster = dice.chance(NO_CLUSTER_SHARE) ? null : named;
          return { text, brandType: "generic", cluster, sectorIndex, owner: null, reach };
        });
    }),
  );
  const unclear = WORDS.beginnings
    .slice(0, UNCLEAR_BEGINNINGS)
    .flatMap((beginning) => fill(WORDS.unclearTerms, beginning));
  const ofNoSector = unclear.map((text): KeywordIdea => {
    const sectorIndex = dice.chance(0.5) ? null : dice.whole(0, SECTORS.length - 1);
    return { text, brandType: "unknown", cluster: null, sectorIndex, owner: null, reach: UNCLEAR };
  });
  return [...ofSectors, ...ofNoSector];
}

/** Makes the keywords that name a product, and sometimes one that compares it with a rival. */
function brandIdeas(dice: Dice, product: Product, rival: Product | undefined): KeywordIdea[] {
  const { name, slug, sectorIndex } = product;
  const isChinese = /\p{Script=Han}/u.test(name);
  const cluster = { id: `brand-${slug}`, name: { en: `${name}: brand`, zh: `${name}：品牌` } };
  const idea = (
    template: string,
    brandType: KeywordIdea["brandType"],
    share: Range,
  ): KeywordIdea => {
    const [text = ""] = fill([template], name);
    return {
      text,
      brandType,
      cluster,
      sectorIndex,
      owner: { product, share: dice.number(...share) },
      reach: BRAND,
    };
  };
  const ideas = WORDS.brandIntents
    .slice(0, dice.whole(...BRAND_KEYWORDS))
    .map(({ kind, en, zh }, place) =>
      idea(
        isChinese || dice.chance(0.12) ? zh : en,
        kind,
        place === 0 ? [0.08, 0.16] : [0.01, 0.03],
      ),
    );
  if (rival !== undefined && dice.chance(VERSUS_SHARE))
    ideas.push(idea(`{} vs ${rival.name}`, "mixed", [0.01, 0.02]));
  return ideas;
}

/** Fills templates. Searches are in lower case. */
function fill(templates: readonly string[], words: string): string[] {
  return templates.map((template) => template.replace("{}", words).toLowerCase());
}
