import { fillText, type Text, type TextValues } from "../format-values.js";
import { pick, type Dice, type Range } from "./dice.js";
import { firstFigures, firstTraffic } from "./product-figures.js";
import { firstOffer } from "./product-offer.js";
import { SECTORS, WORDS, type Bilingual, type ProductKind, type Sector } from "./words.js";

/** Ids have gaps, as if other products had the ids between them. */
const ID_STEP = 79;
const FIRST_ID = 2000;
const UNKNOWN_RATING_SHARE = 0.04;
/** The shares of a product's countries, the largest first. */
const COUNTRY_PERMILLES = [380, 140, 90, 60, 40, 30] as const;

/** A product of the made-up market, in the last generated month. */
export type Product = ReturnType<typeof makeProduct>;

/**
 * Makes a product for its first month in the catalog.
 *
 * @param index the product's number in the order of creation
 * @param isNew whether it is younger than the catalog
 */
export function makeProduct(
  dice: Dice,
  index: number,
  isNew: boolean,
  texts: ReturnType<typeof createTexts>,
) {
  const sectorIndex = dice.whole(0, SECTORS.length - 1);
  const sector = pick(SECTORS, sectorIndex);
  const kind = dice.pick(sector.kinds);
  const { name, slug, isChinese } = texts.name(dice, sector);
  const home = isChinese
    ? "CN"
    : pick(WORDS.countries, Math.floor(dice.number(0, 1) * dice.number(0, WORDS.countries.length)));
  const countries = [home, ...WORDS.countries.filter((country) => country !== home)].slice(
    0,
    dice.whole(3, 6),
  );
  return {
    index,
    isNew,
    toolId: FIRST_ID + index * ID_STEP + dice.whole(0, ID_STEP - 1),
    sectorIndex,
    kind,
    name,
    slug,
    domain: `${slug}.example`,
    /** The countries of its visits with their shares, the largest first. */
    countries: countries.map((country, place) => [country, COUNTRY_PERMILLES[place] ?? 0] as const),
    positioning: texts.position({ index, name, kind }),
    isOffered: true,
    traffic: firstTraffic(dice, isNew),
    figures: firstFigures(dice),
    hasRating: !dice.chance(UNKNOWN_RATING_SHARE),
    offer: firstOffer(dice),
    /** How many features, models and others it has. */
    counts: { ...NONE },
  };
}

interface Owner {
  index: number;
  name: string;
  kind: ProductKind;
}

/** A kind of thing that products introduce. */
interface Row {
  /** The share of products that have some of it in their first month, and how many. */
  share: number;
  start: Range;
  /** The chance of one more in a month. */
  chance: number;
  most: number;
  /** The name of the product's first, second or later one. */
  nameOf(owner: Owner, place: number): Bilingual;
}

/** Features of four kinds, and AI platforms that send visits. */
const ROWS = {
  feature: {
    share: 1,
    start: [2, 5],
    chance: 0.03,
    most: 3 + WORDS.generalFeatures.length,
    nameOf: featureName,
  },
  model: { share: 0.25, start: [1, 1], chance: 0.012, most: Infinity, nameOf: modelName },
  api: {
    share: 0.3,
    start: [1, 1],
    chance: 0.005,
    most: 1,
    nameOf: () => ({ en: "Public API", zh: "开放API" }),
  },
  mcp: {
    share: 0.04,
    start: [1, 1],
    chance: 0.009,
    most: 1,
    nameOf: () => ({ en: "MCP server", zh: "MCP服务器" }),
  },
  source: {
    share: 0.75,
    start: [1, 3],
    chance: 0.025,
    most: WORDS.aiPlatforms.length,
    nameOf: platformName,
  },
} satisfies Record<string, Row>;
const ENTRIES = Object.entries(ROWS) as [keyof typeof ROWS, Row][];

/** How many a product has of each kind. */
type Counts = Record<keyof typeof ROWS, number>;

const NONE: Readonly<Counts> = { feature: 0, model: 0, api: 0, mcp: 0, source: 0 };

export interface Introduction {
  kind: keyof Counts;
  name: Bilingual;
}

/** Returns what a product introduces in a month, or has in its first month, and counts it. */
export function introduce(
  dice: Dice,
  owner: Owner & { counts: Counts },
  isFirst: boolean,
): Introduction[] {
  const { counts } = owner;
  return ENTRIES.flatMap(([kind, { share, start, chance, most, nameOf }]) => {
    if (!dice.chance(isFirst ? share : chance)) return [];
    const length = Math.min(isFirst ? dice.whole(...start) : 1, most - counts[kind]);
    return Array.from({ length }, () => ({ kind, name: nameOf(owner, counts[kind]++) }));
  });
}

/** A product has the features of its kind first. */
function featureName({ index, kind }: Owner, place: number): Bilingual {
  return pick(place < kind.features.length ? kind.features : WORDS.generalFeatures, index + place);
}

function modelName({ name }: Owner, place: number): Bilingual {
  const version = `${name} ${1 + Math.floor(place / 2)}${place % 2 === 0 ? "" : " Mini"}`;
  return { en: version, zh: version.replace(/(?<=\p{Script=Han}) /u, "") };
}

function platformName({ index }: Owner, place: number): Bilingual {
  const name = pick(WORDS.aiPlatforms, index + place);
  return { en: name, zh: name };
}

const CHINESE_NAME_SHARE = 0.12;

/** How a product presents itself. */
interface Positioning {
  tagline: Bilingual;
  short: Bilingual;
  long: Bilingual;
}

/** Makes texts that no other product of the market has. */
export function createTexts() {
  const slugs = new Set<string>();
  const positionings = new Map<ProductKind, number>();

  return {
    /** Draws a beginning and an ending until they are new. */
    name(dice: Dice, sector: Sector): { name: string; slug: string; isChinese: boolean } {
      for (;;) {
        const isChinese = dice.chance(CHINESE_NAME_SHARE);
        const first = dice.pick(isChinese ? WORDS.hanziBeginnings : WORDS.beginnings);
        const last = dice.pick(isChinese ? WORDS.hanziEndings : sector.endings);
        const slug = `${first}-${last}`.toLowerCase().replaceAll(/\p{Script=Han}/gu, "");
        if (slugs.has(slug)) continue;
        slugs.add(slug);
        const upper = last.slice(0, 1).toUpperCase() + last.slice(1);
        const name = isChinese
          ? first.slice(0, 1) + last.slice(0, 1)
          : dice.pick([`${first} ${upper}`, `${first}${last} AI`, first + last, first + last]);
        return { name, slug, isChinese };
      }
    },
    /**
     * Products of a kind get each pair of an audience and a tagline in turn. Their numbers have no
     * common factor.
     */
    position(owner: Owner): Positioning {
      const number = positionings.get(owner.kind) ?? 0;
      positionings.set(owner.kind, number + 1);
      const words = wordsOf(owner, pick(owner.kind.audiences, number));
      const { short, rest } = pick(WORDS.descriptions, owner.index);
      return {
        tagline: fill(pick(WORDS.taglines, number), words),
        short: fill(short, words),
        long: fill([`${short[0]} ${rest[0]}`, `${short[1]}${rest[1]}`], words),
      };
    },
  };
}

/** The values of the placeholders. The features are the first features of the product. */
function wordsOf({ index, name, kind }: Owner, reader: Bilingual) {
  const { noun, does, benefit, features } = kind;
  const a = /^[aeiou]/i.test(noun.en) ? "an" : "a";
  return {
    name,
    a,
    noun,
    does,
    benefit,
    reader,
    feature: pick(features, index),
    second: pick(features, index + 1),
  };
}

function fill(text: Text, words: TextValues): Bilingual {
  const en = fillText("en", text, words);
  return { en: en.slice(0, 1).toUpperCase() + en.slice(1), zh: fillText("zh-CN", text, words) };
}
