import type { Text } from "../format-values.js";
import { marketFile } from "../market-file.js";

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

export const WORDS = marketFile<Words>("words.json");

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

/** Ids follow the order of the sectors, so only append to them. */
export const SECTORS = marketFile<readonly Sector[]>("sectors.json");
