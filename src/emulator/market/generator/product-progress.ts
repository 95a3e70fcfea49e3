import { pick, TOPIC, type Dice } from "./dice.js";
import type { Product } from "./product.js";
import type { Bilingual } from "./sectors.js";
import { AI_PLATFORMS, GENERAL_FEATURES } from "./words.js";

/** The chance of each event in a month. */
const CHANCE = { feature: 0.03, model: 0.008, api: 0.005, mcp: 0.009, source: 0.02 } as const;

export interface Introduction {
  kind: "feature" | "model" | "api" | "mcp";
  name: Bilingual;
}

const API: Introduction = { kind: "api", name: { en: "Public API", zh: "开放API" } };
const MCP: Introduction = { kind: "mcp", name: { en: "MCP server", zh: "MCP服务器" } };

/** The features of a product in its first month in the catalog. */
export function firstIntroductions(product: Product): Introduction[] {
  const found: Introduction[] = [];
  for (let place = 0; place < product.featureCount; place++) found.push(feature(product, place));
  for (let place = 0; place < product.modelCount; place++) found.push(model(product, place));
  if (product.hasApi) found.push(API);
  if (product.hasMcp) found.push(MCP);
  return found;
}

/** The features that a product introduces in a month. */
export function introduce(dice: Dice, product: Product, turn: number): Introduction[] {
  const occurs = (chance: number, what: number): boolean =>
    dice.fraction(TOPIC.features, product.index, turn * 4 + what) < chance;
  const found: Introduction[] = [];
  if (occurs(CHANCE.feature, 0)) found.push(feature(product, product.featureCount++));
  if (occurs(product.modelCount > 0 ? CHANCE.model * 4 : CHANCE.model / 4, 1))
    found.push(model(product, product.modelCount++));
  if (!product.hasApi && occurs(CHANCE.api, 2)) {
    product.hasApi = true;
    found.push(API);
  }
  if (!product.hasMcp && occurs(CHANCE.mcp, 3)) {
    product.hasMcp = true;
    found.push(MCP);
  }
  return found;
}

/** Returns a platform that begins to send visits in this month, and their number; usually null. */
export function newSource(dice: Dice, product: Product, turn: number): { source: string; visits: number } | null {
  if (dice.fraction(TOPIC.aiSources, product.index, turn * 2) >= CHANCE.source) return null;
  const platform = dice.below(AI_PLATFORMS.length, TOPIC.aiSources, product.index, turn * 2 + 1);
  const visits = Math.floor(
    product.visits.aiReferral * (0.05 + 0.2 * dice.fraction(TOPIC.aiSources, product.index, -turn - 10)),
  );
  if (product.aiSources.has(platform) || visits === 0) return null;
  product.aiSources.add(platform);
  return { source: pick(AI_PLATFORMS, platform), visits };
}

/** A product has the features of its kind first. */
function feature({ index, kind }: Product, place: number): Introduction {
  const isOwn = place < kind.features.length;
  const { en, zh } = pick(isOwn ? kind.features : GENERAL_FEATURES, index + place);
  // When a product has all features, it introduces new versions of them.
  const round = isOwn ? 0 : Math.floor((place - kind.features.length) / GENERAL_FEATURES.length);
  return { kind: "feature", name: round === 0 ? { en, zh } : { en: `${en} ${round + 1}`, zh: `${zh}${round + 1}` } };
}

function model({ name }: Product, place: number): Introduction {
  const version = `${name} ${1 + Math.floor(place / 2)}${place % 2 === 0 ? "" : " Mini"}`;
  return { kind: "model", name: { en: version, zh: version.replace(/(?<=\p{Script=Han}) /u, "") } };
}
