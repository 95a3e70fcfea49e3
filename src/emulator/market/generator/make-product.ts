import { pick, TOPIC, type Dice } from "./dice.js";
import type { Positioning, Product } from "./product.js";
import { firstOffer } from "./product-offer.js";
import { firstPresence } from "./product-presence.js";
import { drawPositioning } from "./product-texts.js";
import { SECTORS, type Sector } from "./sectors.js";
import { AI_PLATFORMS, BEGINNINGS, COUNTRIES, HANZI_BEGINNINGS, HANZI_ENDINGS } from "./words.js";

/** Ids have gaps, as if other products had the ids between them. */
const ID_STEP = 79;
const FIRST_ID = 2000;
/** The visits of the smallest products, and the lowest draw, which limits the visits of the largest products. */
const SMALLEST_BASE = 2200;
const SMALLEST_DRAW = 0.0012;
/** The shares of a product's countries, the largest first. */
const COUNTRY_PERMILLES = [380, 140, 90, 60, 40, 30] as const;
/** The traffic of a new product in its first month, relative to its base. */
const START_LEVEL = 0.12;

/** The step from one product's name to the next. It has no common factor with the number of names, so every name is used. */
const NAME_STEP = 457;
const CHINESE_NAME_SHARE = 0.12;

/** Makes a product for its first month in the catalog. */
export function makeProduct(
  dice: Dice,
  { index, bornAt }: Pick<Product, "index" | "bornAt">,
  nextPlanId: () => number,
  isNew: (positioning: Positioning) => boolean,
): Product {
  const sectorIndex = dice.below(SECTORS.length, TOPIC.sector, index);
  const sector = pick(SECTORS, sectorIndex);
  const kind = pick(sector.kinds, dice.below(sector.kinds.length, TOPIC.text, index, 1));
  const { name, slug } = nameProduct(dice, index, sector);
  const base = baseVisits(dice.fraction(TOPIC.size, index));
  const level = base * (bornAt === 0 ? 0.6 + 0.8 * dice.fraction(TOPIC.size, index, 1) : START_LEVEL);
  const hasPaid = dice.fraction(TOPIC.paid, index, -1) < 0.4;
  const { pricingModel, plans } = firstOffer(dice, index, nextPlanId);
  // A literal without a spread has a fixed shape for the engine, which halves the time to generate a market.
  return {
    index,
    toolId: FIRST_ID + index * ID_STEP + dice.below(ID_STEP, TOPIC.listing, index),
    sectorIndex,
    sector,
    kind,
    name,
    slug,
    bornAt,
    baseVisits: base,
    organicShare: 0.35 + 0.4 * dice.fraction(TOPIC.channels, index),
    countries: chooseCountries(dice, index, /\p{Script=Han}/u.test(name)),
    domain: `${slug.replaceAll("-", dice.below(3, TOPIC.productName, index, 2) === 0 ? "-" : "")}.example`,
    positioning: drawPositioning(dice, { index, kind }, 0, isNew),
    isOffered: true,
    level,
    phase: { rate: 0, monthsLeft: 0 },
    aiShare: 0.004 + 0.05 * dice.fraction(TOPIC.aiShare, index, -1),
    paidShare: hasPaid ? 0.02 + 0.12 * dice.fraction(TOPIC.paid, index, -2) : 0,
    visits: { organic: 0, paid: 0, aiReferral: 0, direct: 0 },
    ratingTenths: dice.fraction(TOPIC.rating, index, -1) < 0.04 ? null : firstRating(dice, index, level),
    linkingDomains: 20 + Math.floor((level / 90) * (0.3 + dice.fraction(TOPIC.links, index, -1))),
    pricingModel,
    plans,
    featureCount: 2 + dice.below(4, TOPIC.features, index, -1),
    modelCount: dice.fraction(TOPIC.features, index, -2) < 0.25 ? 1 : 0,
    hasApi: dice.fraction(TOPIC.features, index, -3) < 0.3,
    hasMcp: dice.fraction(TOPIC.features, index, -4) < 0.04,
    aiSources: firstSources(dice, index),
    presence: firstPresence(dice, index, hasPaid, level),
  };
}

/** Follows Pareto's law: most products are small, and a few have millions of visits. Roots are exact on every machine. */
function baseVisits(fraction: number): number {
  const draw = Math.max(SMALLEST_DRAW, fraction);
  return SMALLEST_BASE / (draw * Math.sqrt(Math.sqrt(draw)));
}

function firstRating(dice: Dice, index: number, level: number): number {
  const magnitude = 32 - Math.clz32(Math.floor(level));
  return Math.max(0, Math.min(930, magnitude * 34 - 130 + dice.between(-90, 90, TOPIC.rating, index, -2)));
}

function chooseCountries(dice: Dice, index: number, isChinese: boolean): (readonly [string, number])[] {
  const home = isChinese
    ? COUNTRIES.indexOf("CN")
    : Math.floor(square(dice.fraction(TOPIC.countries, index)) * COUNTRIES.length);
  const count = dice.between(3, COUNTRY_PERMILLES.length, TOPIC.countries, index, 1);
  const chosen = new Set([home]);
  for (let turn = 2; chosen.size < count; turn++) {
    const draw = square(dice.fraction(TOPIC.countries, index, turn));
    chosen.add(Math.floor(draw * COUNTRIES.length));
  }
  return [...chosen].map((country, place) => [pick(COUNTRIES, country), COUNTRY_PERMILLES[place] ?? 0] as const);
}

function firstSources(dice: Dice, index: number): Set<number> {
  const sources = new Set<number>();
  const count = dice.below(4, TOPIC.aiSources, index, -1);
  for (let turn = 0; turn < count; turn++)
    sources.add(dice.below(AI_PLATFORMS.length, TOPIC.aiSources, index, -2 - turn));
  return sources;
}

function square(value: number): number {
  return value * value;
}

/** Makes a name that is unique within a seed: each pair of a beginning and an ending occurs once. */
function nameProduct(dice: Dice, index: number, sector: Sector): { name: string; slug: string } {
  if (dice.fraction(TOPIC.productName, index) < CHINESE_NAME_SHARE) return chineseName(dice, index, sector);
  const { endings } = sector;
  const count = BEGINNINGS.length * endings.length;
  const place = (index * NAME_STEP + dice.below(count, TOPIC.productName, -1)) % count;
  const beginning = BEGINNINGS[place % BEGINNINGS.length] ?? "";
  const ending = endings[Math.floor(place / BEGINNINGS.length)] ?? "";
  // When all names are used, they are used again with a number.
  const round = Math.floor(index / count);
  const number = round === 0 ? "" : ` ${round + 1}`;
  const style = dice.below(4, TOPIC.productName, index, 1);
  const [glue, tail] = style === 0 ? [" ", ""] : style === 1 ? ["", " AI"] : ["", ""];
  const last = glue === "" ? ending : (ending[0] ?? "").toUpperCase() + ending.slice(1);
  const name = `${beginning}${glue}${last}${number}`;
  return { name: `${name}${tail}`, slug: name.toLowerCase().replaceAll(" ", "-") };
}

function chineseName(dice: Dice, index: number, sector: Sector): { name: string; slug: string } {
  const count = HANZI_BEGINNINGS.length * HANZI_ENDINGS.length;
  const place = (index * NAME_STEP + dice.below(count, TOPIC.productName, -2)) % count;
  const beginning = HANZI_BEGINNINGS[place % HANZI_BEGINNINGS.length] ?? "";
  const ending = HANZI_ENDINGS[Math.floor(place / HANZI_BEGINNINGS.length)] ?? "";
  const round = Math.floor(index / count);
  const number = round === 0 ? "" : `${round + 1}`;
  const romanised = `${beginning.slice(1)}${ending.slice(1)}${number}`;
  return {
    name: `${beginning.slice(0, 1)}${ending.slice(0, 1)}${number}`,
    slug: `${romanised}-${sector.endings[index % sector.endings.length] ?? ""}`,
  };
}
