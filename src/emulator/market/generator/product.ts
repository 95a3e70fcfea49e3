import type { Bilingual, Sector } from "./sectors.js";

/** A plan as it is offered now. */
export interface Plan {
  planId: number;
  name: string;
  kind: "free" | "paid" | "enterprise";
  /** Null: on request, or by use. */
  monthlyPriceCents: number | null;
  /** The price of a minute, an image or a call, in thousandths of a dollar; null where the price is monthly. */
  unitPriceMills: number | null;
  trialDays: number;
  trialNeedsCard: boolean;
}

/** The primary way of charging. A free plan beside paid ones does not change it. */
export const PRICING_MODELS = ["free", "subscription", "usage_based", "contact_sales"] as const;
export type PricingModel = (typeof PRICING_MODELS)[number];

/** Whether the data of a product was checked lately. */
export const STALENESS_STATUSES = ["fresh", "aging"] as const;
export type StalenessStatus = (typeof STALENESS_STATUSES)[number];

/** What stays as it is from a product's first month on. */
export interface ProductOrigin {
  /** Counts products in the order they came; what its drawings hang on. */
  index: number;
  toolId: number;
  sectorIndex: number;
  sector: Sector;
  name: string;
  slug: string;
  /** Its first observed month, counted from the catalog's first. */
  bornAt: number;
  /** The visits that its traffic tends to come back to. */
  baseVisits: number;
  organicShare: number;
  /** The largest first. */
  countries: readonly (readonly [code: string, permille: number])[];
}

/** A product of the made-up market, as it is in the month that was made last. */
export interface Product extends ProductOrigin {
  domain: string;
  tagline: Bilingual;
  isOffered: boolean;
  level: number;
  phase: { rate: number; monthsLeft: number };
  aiShare: number;
  paidShare: number;
  visits: { organic: number; paid: number; aiReferral: number; direct: number };
  /** In tenths; null: unknown. */
  ratingTenths: number | null;
  linkingDomains: number;
  pricingModel: PricingModel;
  plans: Plan[];
  featureCount: number;
  modelCount: number;
  hasApi: boolean;
  hasMcp: boolean;
  /** Indexes into the platforms. */
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
