import type { BRAND_TYPES } from "../../../contract/search-demand.js";
import type { Dice, Range } from "./dice.js";
import type { Product } from "./product.js";
import { SECTORS, type Bilingual } from "./sectors.js";
import { WORDS } from "./words.js";

/** A keyword before its first observation. */
export interface KeywordIdea {
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
export function sectorIdeas(dice: Dice): KeywordIdea[] {
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
export function brandIdeas(
  dice: Dice,
  product: Product,
  rival: Product | undefined,
): KeywordIdea[] {
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
