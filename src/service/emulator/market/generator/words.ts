import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Text } from "../format-values.js";
import type { Bilingual } from "./sectors.js";

/**
 * The words of the market, in both languages. The order counts: another one makes another market of
 * the same seed.
 */
interface Words {
  /** The first parts of product names. */
  beginnings: readonly string[];
  /**
   * A beginning and an ending make a Chinese name. The slug and the domain use their romanised
   * forms.
   */
  hanziBeginnings: readonly string[];
  hanziEndings: readonly string[];
  /**
   * The templates of taglines. Their placeholders are the fields of `ProductKind`, and `{reader}`
   * for its audience.
   */
  taglines: readonly Text[];
  /**
   * The templates of descriptions: the first sentence, which is the short description, and the
   * rest.
   */
  descriptions: readonly { short: Text; rest: Text }[];
  /** Features of products of any sector. */
  generalFeatures: readonly Bilingual[];
  /** Invented AI platforms that send visitors. */
  aiPlatforms: readonly string[];
  /** Templates of searches by cluster. `{}` is the term. */
  intents: readonly {
    cluster: string;
    name: Bilingual;
    en: readonly string[];
    zh: readonly string[];
  }[];
  /** Templates of searches for a product by its name. */
  brandIntents: readonly {
    kind: "brand_navigational" | "brand_commercial";
    en: string;
    zh: string;
  }[];
  /**
   * Templates of searches that are possibly for a brand. `{}` is the first part of a product's
   * name.
   */
  unclearTerms: readonly string[];
  /** The countries of visits, the most common first. */
  countries: readonly string[];
}

/** From `src` and from `dist` the path is the same. */
const FILE = join(import.meta.dirname, "../../../../../fixtures/market/words.json");

export const WORDS = JSON.parse(readFileSync(FILE, "utf8")) as Words;
