import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A text in both languages. */
export interface Bilingual {
  en: string;
  zh: string;
}

/** A kind of product: what it is, what it does for its users, and what sets it apart. */
export interface ProductKind {
  /** Such as "meal planner". */
  noun: Bilingual;
  /** Such as "plan meals around health goals". */
  does: Bilingual;
  /** Such as "shopping list included". */
  benefit: Bilingual;
  /** The users of such products. */
  audiences: readonly Bilingual[];
  features: readonly Bilingual[];
}

/** A sector of the market, with the texts from which its products and keywords are made. */
export interface Sector {
  slug: string;
  name: Bilingual;
  /** The second parts of product names. Each belongs to one sector only. */
  endings: readonly string[];
  /** Common searches for its products. */
  terms: readonly Bilingual[];
  kinds: readonly ProductKind[];
}

/** Splits a text in the form `en|zh`. */
export function pair(text: string): Bilingual {
  const [en = "", zh = ""] = text.trim().split("|");
  return { en, zh };
}

/** Splits several pairs, which are separated by semicolons. */
export const pairs = (text: string): Bilingual[] => text.split(";").map(pair);

/**
 * A block for each sector. Its first line is the sector's slug, name and endings, its second line
 * the common searches. Each further line is a kind of product: noun; what it does; its benefit /
 * audiences / features. From `src` and from `dist` the path is the same.
 */
const TABLE = readFileSync(
  join(import.meta.dirname, "../../../../../fixtures/market/sectors.txt"),
  "utf8",
);

/** Ids follow the order of the table, so only append sectors. */
export const SECTORS: readonly Sector[] = TABLE.trim()
  .split("\n\n")
  .map((block) => {
    const [head = "", terms = "", ...kinds] = block.split("\n");
    const [slug = "", name = "", endings = ""] = head.split(" / ");
    return {
      slug,
      name: pair(name),
      endings: endings.split(" "),
      terms: pairs(terms),
      kinds: kinds.map(readKind),
    };
  });

function readKind(line: string): ProductKind {
  const [[noun, does, benefit] = [], audiences = [], features = []] = line.split(" / ").map(pairs);
  if (noun === undefined || does === undefined || benefit === undefined)
    throw new RangeError(`incomplete: ${line}`);
  return { noun, does, benefit, audiences, features };
}
