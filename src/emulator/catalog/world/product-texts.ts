import { TOPIC, type Dice } from "./dice.js";
import type { Product, ProductOrigin } from "./product.js";
import type { Bilingual } from "./sectors.js";
import { AUDIENCES, PROMISES } from "./words.js";

export function pick<Item>(items: readonly Item[], index: number): Item {
  const item = items[index % items.length];
  if (item === undefined) throw new RangeError("nothing to pick from");
  return item;
}

/** @param turn another one makes another tagline */
export function makeTagline(
  dice: Dice,
  { index, sector, audience }: Pick<ProductOrigin, "index" | "sector" | "audience">,
  turn: number,
): Bilingual {
  const promise = pick(PROMISES, dice.below(PROMISES.length, TOPIC.text, index, 100 + turn));
  const reader = turn === 0 ? audience : pick(AUDIENCES, dice.below(AUDIENCES.length, TOPIC.text, index, 200 + turn));
  return {
    en: `The ${sector.noun.en} for ${reader.en} ${promise.en}`,
    zh: `面向${reader.zh}的${sector.noun.zh}，${promise.zh}`,
  };
}

/** The two descriptions of a profile. */
export function describe(dice: Dice, product: Product): { short: Bilingual; long: Bilingual } {
  const { index, name, sector, audience } = product;
  const first = pick(sector.features, dice.below(sector.features.length, TOPIC.text, index, 1));
  const second = pick(sector.features, dice.below(sector.features.length, TOPIC.text, index, 1) + 1);
  const promise = pick(PROMISES, dice.below(PROMISES.length, TOPIC.text, index, 2));
  const article = /^[aeiou]/i.test(sector.noun.en) ? "an" : "a";
  const short = {
    en: `${name} is ${article} ${sector.noun.en} for ${audience.en}.`,
    zh: `${name}是面向${audience.zh}的${sector.noun.zh}。`,
  };
  return {
    short,
    long: {
      en: `${short.en} It offers ${first.en} and ${second.en}, ${promise.en}.`,
      zh: `${short.zh}提供${first.zh}与${second.zh}，${promise.zh}。`,
    },
  };
}
