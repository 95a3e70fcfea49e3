import { fillText, type Text, type TextValues } from "../format-values.js";
import { pick, TOPIC, type Dice } from "./dice.js";
import type { Positioning, ProductOrigin } from "./product.js";
import type { Bilingual } from "./sectors.js";
import { DESCRIPTIONS, TAGLINES } from "./words.js";

type Origin = Pick<ProductOrigin, "index" | "kind">;
/** More draws than a product usually needs to find a tagline of its own. */
const DRAWS = 20;

/**
 * Draws the positioning of a product until it fits. In the rare case that none does, the last draw is returned.
 *
 * @param turn a different turn gives different draws
 */
export function drawPositioning(
  dice: Dice,
  origin: Origin,
  turn: number,
  isFit: (positioning: Positioning) => boolean,
): Positioning {
  const { index, kind } = origin;
  for (let draw = 0; ; draw++) {
    const at = 100 + 2 * (turn * DRAWS + draw);
    const audience = pick(kind.audiences, dice.below(kind.audiences.length, TOPIC.text, index, at));
    const tagline = fill(
      pick(TAGLINES, dice.below(TAGLINES.length, TOPIC.text, index, at + 1)),
      wordsOf(origin, audience),
    );
    const positioning = { audience, tagline };
    if (isFit(positioning) || draw === DRAWS - 1) return positioning;
  }
}

/** Makes the two descriptions of a profile, for the same audience as the tagline. */
export function describe(
  origin: Origin & Pick<ProductOrigin, "name">,
  audience: Bilingual,
): { short: Bilingual; long: Bilingual } {
  const { short, rest } = pick(DESCRIPTIONS, origin.index);
  const words = { ...wordsOf(origin, audience), name: origin.name };
  return { short: fill(short, words), long: fill([`${short[0]} ${rest[0]}`, `${short[1]}${rest[1]}`], words) };
}

/** The values of the placeholders. The features are the first features of the product. */
function wordsOf({ index, kind }: Origin, reader: Bilingual) {
  const { noun, does, benefit, features } = kind;
  const a = /^[aeiou]/i.test(noun.en) ? "an" : "a";
  return { a, noun, does, benefit, reader, feature: pick(features, index), second: pick(features, index + 1) };
}

function fill(text: Text, words: TextValues): Bilingual {
  const en = fillText("en", text, words);
  return { en: en.slice(0, 1).toUpperCase() + en.slice(1), zh: fillText("zh-CN", text, words) };
}
