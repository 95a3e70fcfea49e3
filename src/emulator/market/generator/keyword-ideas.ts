import type { BRAND_TYPES } from "../../../api/search-demand.js";
import { pick, TOPIC, type Dice } from "./dice.js";
import type { Product } from "./product.js";
import { SECTORS, type Bilingual, type Sector } from "./sectors.js";
import { BEGINNINGS, BRAND_INTENTS, INTENTS, UNCLEAR_TERMS } from "./words.js";

/** A keyword before its first observation. */
export interface KeywordIdea {
  text: string;
  brandType: (typeof BRAND_TYPES)[number];
  cluster: { id: string; name: Bilingual } | null;
  /** Whether it is one of the most common searches for the products of its sector. */
  isHead: boolean;
  /** Null if it does not belong to a sector. */
  sectorIndex: number | null;
  /** The product that the keyword names, if any. */
  owner: Product | null;
  /** The visits that it brings to its owner, as a share of the owner's organic visits. */
  ownerShare: number;
  /** The month of its first observation, counted from the catalog's first month. */
  bornAt: number;
}

/** The share of a sector's keywords that are observed from the beginning. The remaining keywords are added month by month. */
const AT_ONCE = { en: 0.86, zh: 0.7 } as const;
/** The number of months over which the remaining keywords are added. */
const LATER_MONTHS = 60;
const UNCLEAR_COUNT = 160;
const NO_CLUSTER_SHARE = 0.06;

type Intent = (typeof INTENTS)[number];

/** Makes the keywords that do not name a product. */
export function sectorIdeas(dice: Dice, firstTurn: number): KeywordIdea[] {
  const ideas: KeywordIdea[] = [];
  const add = (text: string, place: number, intent: Intent, cluster: KeywordIdea["cluster"], language: "en" | "zh") => {
    const number = ideas.length;
    const isHead = intent === INTENTS[0];
    const isAtOnce = isHead || dice.fraction(TOPIC.keywordPick, number) < AT_ONCE[language];
    ideas.push({
      text,
      brandType: "generic",
      cluster: dice.fraction(TOPIC.keywordPick, number, 1) < NO_CLUSTER_SHARE ? null : cluster,
      isHead,
      sectorIndex: place,
      owner: null,
      ownerShare: 0,
      bornAt: isAtOnce ? firstTurn : firstTurn + 1 + dice.below(LATER_MONTHS, TOPIC.keywordPick, number, 2),
    });
  };
  for (const [place, sector] of SECTORS.entries()) {
    const clusters = INTENTS.map((intent) => [intent, clusterOf(sector, intent)] as const);
    for (const term of sector.terms) {
      for (const [intent, cluster] of clusters) {
        for (const template of intent.en) add(template.replace("{}", term.en), place, intent, cluster, "en");
        for (const template of intent.zh) add(template.replace("{}", term.zh), place, intent, cluster, "zh");
      }
    }
  }
  for (let number = 0; number < UNCLEAR_COUNT; number++) ideas.push(unclearIdea(dice, number, firstTurn));
  return ideas;
}

function clusterOf(sector: Sector, intent: Intent): KeywordIdea["cluster"] {
  return {
    id: `${sector.slug}-${intent.cluster}`,
    name: { en: `${sector.name.en}: ${intent.name.en}`, zh: `${sector.name.zh}：${intent.name.zh}` },
  };
}

function unclearIdea(dice: Dice, number: number, bornAt: number): KeywordIdea {
  const template = pick(UNCLEAR_TERMS, number);
  const beginning = pick(
    BEGINNINGS,
    Math.floor(number / UNCLEAR_TERMS.length) * 3 + dice.below(3, TOPIC.keywordPick, number, 3),
  );
  return {
    text: template.replace("{}", beginning.toLowerCase()),
    brandType: "unknown",
    cluster: null,
    isHead: false,
    sectorIndex:
      dice.fraction(TOPIC.keywordPick, number, 4) < 0.5
        ? null
        : dice.below(SECTORS.length, TOPIC.keywordPick, number, 5),
    owner: null,
    ownerShare: 0,
    bornAt,
  };
}

/** Makes the keywords that name a product. Larger products have more keywords. */
export function brandIdeas(dice: Dice, owner: Product, rival: Product | null, bornAt: number): KeywordIdea[] {
  const { index, name, slug, sectorIndex } = owner;
  const magnitude = Math.floor((32 - Math.clz32(Math.floor(owner.level))) / 4);
  const count = Math.max(2, Math.min(BRAND_INTENTS.length, magnitude + dice.below(2, TOPIC.keywordPick, index, 6)));
  const isChinese = /\p{Script=Han}/u.test(name);
  const clusterName: Bilingual = { en: `${name}: brand`, zh: `${name}：品牌` };
  const cluster = { id: `brand-${slug}`, name: clusterName };
  const ideas = BRAND_INTENTS.slice(0, count).map((intent, place): KeywordIdea => {
    const template = isChinese || dice.fraction(TOPIC.keywordPick, index, 20 + place) < 0.12 ? intent.zh : intent.en;
    const share = place === 0 ? 0.3 : 0.02 + 0.06 * dice.fraction(TOPIC.keywordPick, index, 40 + place);
    const text = template.replace("{}", name.toLowerCase());
    return { text, brandType: intent.kind, cluster, isHead: false, sectorIndex, owner, ownerShare: share, bornAt };
  });
  if (rival !== null && dice.fraction(TOPIC.keywordPick, index, 7) < 0.4) {
    const text = `${name.toLowerCase()} vs ${rival.name.toLowerCase()}`;
    ideas.push({ text, brandType: "mixed", cluster, isHead: false, sectorIndex, owner, ownerShare: 0.02, bornAt });
  }
  return ideas;
}
