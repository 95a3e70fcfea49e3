import { pick, type Dice } from "./dice.js";
import { NONE } from "./product-features.js";
import { firstFigures, firstTraffic } from "./product-figures.js";
import { firstOffer } from "./product-offer.js";
import type { Texts } from "./product-texts.js";
import { SECTORS, WORDS } from "./words.js";

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
export function makeProduct(dice: Dice, index: number, isNew: boolean, texts: Texts) {
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
