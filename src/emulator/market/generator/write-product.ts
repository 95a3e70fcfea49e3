import type { MarketWriter } from "./market-writer.js";
import { monthStart } from "../../time/month.js";
import { pick, TOPIC, type Dice } from "./dice.js";
import type { Plan, Product } from "./product.js";
import { firstIntroductions } from "./product-progress.js";
import { describe } from "./product-texts.js";
import { SECTORS } from "./sectors.js";
import { AI_PLATFORMS } from "./words.js";

const DAY_MS = 24 * 60 * 60 * 1000;
const NO_TEXT_SHARE = 0.03;
const PENDING_SHARE = 0.15;
const SECOND_SECTOR_SHARE = 0.3;
/** New products are listed some months before their launch, so that an account can follow them before it. */
const MONTHS_TO_LAUNCH = [1, 3] as const;
const REGION = "US";

/** @param month the product's first month in the catalog */
export function writeNewProduct(dice: Dice, { rows }: MarketWriter, product: Product, month: number): void {
  const { index, toolId, slug, name, domain, sectorIndex, bornAt } = product;
  const { audience, tagline } = product.positioning;
  const { short, long } = describe(product, audience);
  const isNew = bornAt > 0;
  const listedMonth = isNew ? month : month - dice.between(1, 60, TOPIC.listing, index, 1);
  const listedAt =
    monthStart(listedMonth) +
    dice.between(0, 27, TOPIC.listing, index, 2) * DAY_MS +
    dice.below(DAY_MS / 1000, TOPIC.listing, index, 3) * 1000;
  const registered = listedMonth - dice.between(0, isNew ? 14 : 40, TOPIC.listing, index, 4);
  const monthsToLaunch = isNew ? dice.between(...MONTHS_TO_LAUNCH, TOPIC.listing, index, 7) : 0;
  const hasText = dice.fraction(TOPIC.text, index, 3) >= NO_TEXT_SHARE;
  const text = (value: string): string | null => (hasText ? value : null);
  const verification = isNew || dice.fraction(TOPIC.listing, index, 5) < PENDING_SHARE ? "pending" : "verified";
  const staleness = dice.fraction(TOPIC.listing, index, 6) < 0.12 ? "aging" : "fresh";
  rows.product.add(
    toolId,
    slug,
    name,
    domain,
    sectorIndex + 1,
    tagline.en,
    tagline.zh,
    short.en,
    short.zh,
    text(long.en),
    text(long.zh),
    product.pricingModel,
    verification,
    staleness,
    listedAt,
    listedMonth + monthsToLaunch,
    registered,
  );
  if (dice.fraction(TOPIC.secondSector, index) < SECOND_SECTOR_SHARE) {
    const other = (sectorIndex + 1 + dice.below(SECTORS.length - 1, TOPIC.secondSector, index, 1)) % SECTORS.length;
    rows.product_sector.add(toolId, other + 1);
  }
  for (const [place, introduction] of firstIntroductions(product).entries()) {
    // Features are not observed before the product is listed.
    const since = isNew
      ? month
      : Math.max(listedMonth, month - dice.between(1, 12, TOPIC.features, index, -10 - place));
    rows.feature.add(toolId, introduction.kind, introduction.name.en, introduction.name.zh, since);
  }
  // These sources are stored with the month before, so they do not count as new and cause no signal.
  for (const platform of product.aiSources) rows.ai_source.add(toolId, pick(AI_PLATFORMS, platform), month - 1, 0);
  for (const [country, permille] of product.countries) rows.product_country.add(toolId, country, permille);
  for (const plan of product.plans) writePlan(rows, toolId, plan, isNew ? month : listedMonth);
}

export function writePlan(rows: MarketWriter["rows"], toolId: number, plan: Plan, fromMonth: number): void {
  const { planId, name, kind, monthlyPriceCents, unitPriceMills, trialDays, trialNeedsCard } = plan;
  rows.plan.add(
    planId,
    toolId,
    name,
    kind,
    REGION,
    monthlyPriceCents,
    unitPriceMills,
    trialDays,
    trialNeedsCard ? 1 : 0,
    fromMonth,
  );
}

/** Writes the observations of a product in a month. */
export function writeProductMonth({ rows }: MarketWriter, product: Product, month: number): void {
  const { toolId, visits, presence, ratingTenths, linkingDomains } = product;
  const rating = ratingTenths === null ? null : ratingTenths / 10;
  rows.product_month.add(
    month,
    toolId,
    visits.organic,
    visits.paid,
    visits.aiReferral,
    visits.direct,
    rating,
    linkingDomains,
  );
  const sitemap = presence.plainUrls + presence.patternUrls + presence.marketUrls;
  rows.product_presence_month.add(
    month,
    toolId,
    sitemap,
    presence.patternUrls,
    presence.marketUrls,
    presence.searchAds,
    presence.adCreatives,
    presence.articles,
    presence.directories,
    presence.extensionUsers,
  );
}
