import type { BRAND_TYPES } from "../../../api/search-demand.js";
import type { Product } from "./product.js";
import type { Bilingual } from "./sectors.js";

/** What is known of a keyword before it is first observed. */
export interface KeywordIdea {
  text: string;
  brandType: (typeof BRAND_TYPES)[number];
  cluster: { id: string; name: Bilingual } | null;
  /** What most people type who look for a product of the sector. */
  isHead: boolean;
  /** Null: it belongs to no sector. */
  sectorIndex: number | null;
  /** The product that it names. */
  owner: Product | null;
  /** How many visits it is worth to its owner, relative to the owner's organic ones. */
  ownerShare: number;
  /** The month in which it is first observed, counted from the catalog's first. */
  bornAt: number;
}

/** A product that receives traffic of a keyword. */
export interface Receiver {
  /** Different for each receiver of each keyword. */
  number: number;
  product: Product;
  /** Of the product's organic visits, those that come by this keyword. */
  share: number;
  /** It receives none in `gap` months of every `period`. */
  period: number;
  gap: number;
  offset: number;
}

export interface Keyword {
  keywordId: number;
  idea: KeywordIdea;
  receivers: Receiver[];
  /** Monthly searches in a usual month. */
  baseVolume: number;
  trend: number;
  sampleVersion: number;
}
