import { pick, type Dice, type Range } from "./dice.js";
import { type Bilingual, type ProductKind, WORDS } from "./words.js";

export interface Owner {
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
export type Counts = Record<keyof typeof ROWS, number>;

export const NONE: Readonly<Counts> = { feature: 0, model: 0, api: 0, mcp: 0, source: 0 };

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
