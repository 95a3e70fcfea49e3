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
}

const UNCLEAR_COUNT = 160;
const NO_CLUSTER_SHARE = 0.06;

type Intent = (typeof INTENTS)[number];

/** Makes the keywords that do not name a product. */
export function sectorIdeas(dice: Dice): KeywordIdea[] {
  const ideas: KeywordIdea[] = [];
  for (const [sectorIndex, sector] of SECTORS.entries()) {
    const intents = INTENTS.map((intent) => ({
      ...intent,
      cluster: clusterOf(sector, intent),
      isHead: intent === INTENTS[0],
    }));
    for (const term of sector.terms) {
      for (const { en, zh, cluster: named, isHead } of intents) {
        const texts = [
          ...en.map((text) => text.replace("{}", term.en)),
          ...zh.map((text) => text.replace("{}", term.zh)),
        ];
        for (const text of texts) {
          const cluster = dice.fraction(TOPIC.keywordPick, ideas.length, 1) < NO_CLUSTER_SHARE ? null : named;
          ideas.push({ text, brandType: "generic", cluster, isHead, sectorIndex, owner: null, ownerShare: 0 });
        }
      }
    }
  }
  for (let number = 0; number < UNCLEAR_COUNT; number++) ideas.push(unclearIdea(dice, number));
  return ideas;
}

function clusterOf(sector: Sector, intent: Intent): KeywordIdea["cluster"] {
  return {
    id: `${sector.slug}-${intent.cluster}`,
    name: { en: `${sector.name.en}: ${intent.name.en}`, zh: `${sector.name.zh}：${intent.name.zh}` },
  };
}

function unclearIdea(dice: Dice, number: number): KeywordIdea {
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
  };
}

/** Makes the keywords that name a product. Larger products have more keywords. */
export function brandIdeas(dice: Dice, owner: Product, rival: Product | null): KeywordIdea[] {
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
    return { text, brandType: intent.kind, cluster, isHead: false, sectorIndex, owner, ownerShare: share };
  });
  if (rival !== null && dice.fraction(TOPIC.keywordPick, index, 7) < 0.4) {
    const text = `${name.toLowerCase()} vs ${rival.name.toLowerCase()}`;
    ideas.push({ text, brandType: "mixed", cluster, isHead: false, sectorIndex, owner, ownerShare: 0.02 });
  }
  return ideas;
}
