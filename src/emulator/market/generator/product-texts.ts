import { pick, TOPIC, type Dice } from "./dice.js";
import type { ProductOrigin } from "./product.js";
import type { Bilingual } from "./sectors.js";
import { PROMISES, TAGLINES } from "./words.js";

type Origin = Pick<ProductOrigin, "index" | "sector">;

/** Draws the audience and the promise of a product. */
function position(dice: Dice, { index, sector }: Origin, turn: number) {
  return {
    promise: pick(PROMISES, dice.below(PROMISES.length, TOPIC.text, index, 100 + turn)),
    reader: pick(sector.audiences, dice.below(sector.audiences.length, TOPIC.text, index, 200 + turn)),
  };
}

/** @param turn a different turn usually gives a different tagline */
export function makeTagline(dice: Dice, origin: Origin, turn: number): Bilingual {
  const { promise, reader } = position(dice, origin, turn);
  const template = pick(TAGLINES, dice.below(TAGLINES.length, TOPIC.text, origin.index, 300 + turn));
  const fill = (language: "en" | "zh"): string =>
    template[language]
      .replace("{noun}", origin.sector.noun[language])
      .replace("{reader}", reader[language])
      .replace("{promise}", promise.short[language]);
  return { en: fill("en"), zh: fill("zh") };
}

/** Makes the two descriptions of a profile. For the same `turn` they name the same audience and promise as the tagline. */
export function describe(
  dice: Dice,
  origin: Origin & Pick<ProductOrigin, "name">,
  turn: number,
): { short: Bilingual; long: Bilingual } {
  const { index, name, sector } = origin;
  const { promise, reader } = position(dice, origin, turn);
  const first = pick(sector.features, dice.below(sector.features.length, TOPIC.text, index, 1));
  const second = pick(sector.features, dice.below(sector.features.length, TOPIC.text, index, 1) + 1);
  const article = /^[aeiou]/i.test(sector.noun.en) ? "an" : "a";
  const short = {
    en: `${name} is ${article} ${sector.noun.en} for ${reader.en}.`,
    zh: `${name}是面向${reader.zh}的${sector.noun.zh}。`,
  };
  return {
    short,
    long: {
      en: `${short.en} Among its features are ${first.en} and ${second.en}. ${promise.sentence.en}`,
      zh: `${short.zh}主要功能有${first.zh}与${second.zh}，${promise.sentence.zh}`,
    },
  };
}
