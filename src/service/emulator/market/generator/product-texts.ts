import { fillText, type Text, type TextValues } from "../format-values.js";
import { pick, type Dice } from "./dice.js";
import type { Owner } from "./product-features.js";
import { type Bilingual, type ProductKind, type Sector, WORDS } from "./words.js";

const CHINESE_NAME_SHARE = 0.12;

/** How a product presents itself. */
export interface Positioning {
  tagline: Bilingual;
  short: Bilingual;
  long: Bilingual;
}

export type Texts = ReturnType<typeof createTexts>;

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
