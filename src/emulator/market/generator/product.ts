import type { Bilingual, ProductKind, Sector } from "./sectors.js";

/** A current plan. */
export interface Plan {
  planId: number;
  name: string;
  kind: "free" | "paid" | "enterprise";
  /** Null if the price is on request or depends on use. */
  monthlyPriceCents: number | null;
  /** The price of a minute, an image or a call, in thousandths of a dollar; null if the price is monthly. */
  unitPriceMills: number | null;
  trialDays: number;
  trialNeedsCard: boolean;
}

/** The pricing models. A product with free and paid plans has the model of its paid plans. */
export type PricingModel = "free" | "subscription" | "usage_based" | "contact_sales";

/** The fields of a product that never change. */
export interface ProductOrigin {
  /** The product's number in the order of creation. All draws for the product depend on it. */
  index: number;
  toolId: number;
  sectorIndex: number;
  sector: Sector;
  kind: ProductKind;
  name: string;
  slug: string;
  /** The product's first month, counted from the catalog's first month. */
  bornAt: number;
  /** The product's usual monthly visits. Higher or lower traffic moves back toward this number. */
  baseVisits: number;
  organicShare: number;
  /** The countries of its visits with their shares, the largest first. */
  countries: readonly (readonly [code: string, permille: number])[];
}

/** How a product presents itself. */
export interface Positioning {
  audience: Bilingual;
  tagline: Bilingual;
}

/** A product of the made-up market, in the last generated month. */
export interface Product extends ProductOrigin {
  domain: string;
  positioning: Positioning;
  isOffered: boolean;
  level: number;
  phase: { rate: number; monthsLeft: number };
  aiShare: number;
  paidShare: number;
  visits: { organic: number; paid: number; aiReferral: number; direct: number };
  /** The domain rating in tenths; null if unknown. */
  ratingTenths: number | null;
  linkingDomains: number;
  pricingModel: PricingModel;
  plans: Plan[];
  featureCount: number;
  modelCount: number;
  hasApi: boolean;
  hasMcp: boolean;
  /** The platforms that send visits to the product, as indexes in AI_PLATFORMS. */
  aiSources: Set<number>;
  presence: {
    plainUrls: number;
    patternUrls: number;
    marketUrls: number;
    searchAds: number;
    adCreatives: number;
    articles: number;
    directories: number;
    extensionUsers: number | null;
  };
}
