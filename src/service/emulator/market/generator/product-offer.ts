import type { Dice } from "./dice.js";

/** A current plan. */
export interface Plan {
  name: string;
  kind: "free" | "paid" | "enterprise";
  /** Null if the price is on request or depends on use. */
  monthlyPriceCents: number | null;
  /**
   * The price of a minute, an image or a call, in thousandths of a dollar; null if the price is
   * monthly.
   */
  unitPriceMills: number | null;
  trialDays: number;
  trialNeedsCard: boolean;
}

/**
 * A product's pricing model, and its plans. A product with free and paid plans has the model of its
 * paid plans.
 */
export interface Offer {
  pricingModel: "subscription" | (typeof OTHER_MODELS)[number];
  plans: readonly Plan[];
}

const SUBSCRIPTION_SHARE = 0.7;
const OTHER_MODELS = ["usage_based", "free", "contact_sales"] as const;
/** The possible first prices of a plan, in dollars. */
const PRICES: readonly number[] = [9, 12, 15, 19, 24, 29, 39, 49];
/** The possible prices of a minute, an image or a call, in thousandths of a dollar. */
const UNIT_PRICES: readonly number[] = [4, 10, 20, 50, 80, 120];
const NEEDS_CARD = 0.4;

const NO_TRIAL = { unitPriceMills: null, trialDays: 0, trialNeedsCard: false } as const;
const FREE: Plan = { ...NO_TRIAL, name: "Free", kind: "free", monthlyPriceCents: 0 };
const ENTERPRISE: Plan = {
  ...NO_TRIAL,
  name: "Enterprise",
  kind: "enterprise",
  monthlyPriceCents: null,
};

/** The chances of changes in a month. */
const CHANCE = {
  price: 0.02,
  freePlan: 0.009,
  trial: 0.006,
  enterprise: 0.009,
  pricingModel: 0.003,
} as const;
const CHANCE_OF_ANY = Object.values(CHANCE).reduce((sum, chance) => sum + chance, 0);

export function firstOffer(dice: Dice): Offer {
  const pricingModel = dice.chance(SUBSCRIPTION_SHARE) ? "subscription" : dice.pick(OTHER_MODELS);
  const plans: Plan[] = [];
  if (pricingModel === "free" || dice.chance(0.5)) plans.push(FREE);
  if (pricingModel === "usage_based") plans.push(usagePlan(dice));
  if (pricingModel === "subscription") plans.push(...subscriptions(dice));
  if (pricingModel === "contact_sales" || (pricingModel !== "free" && dice.chance(0.35)))
    plans.push(ENTERPRISE);
  return { pricingModel, plans };
}

function subscriptions(dice: Dice): Plan[] {
  const cheapest = dice.pick(PRICES) * 100;
  const trialDays = dice.pick([0, 0, 0, 7, 14, 30]);
  const trial = { trialDays, trialNeedsCard: trialDays > 0 && dice.chance(NEEDS_CARD) };
  return ["Starter", "Pro", "Team"].slice(0, dice.whole(1, 3)).map((name, place) => {
    return {
      ...NO_TRIAL,
      ...trial,
      name,
      kind: "paid",
      monthlyPriceCents: cheapest * (2 * place + 1),
    };
  });
}

function usagePlan(dice: Dice): Plan {
  const unitPriceMills = dice.pick(UNIT_PRICES);
  return {
    ...NO_TRIAL,
    name: "Pay as you go",
    kind: "paid",
    monthlyPriceCents: null,
    unitPriceMills,
  };
}

/**
 * Returns the offer of the next month, usually the same. Only the offers of subscriptions change.
 * Plans that stay are the same objects.
 */
export function nextOffer(dice: Dice, offer: Offer): Offer {
  const { pricingModel, plans } = offer;
  if (pricingModel !== "subscription") return offer;
  let draw = dice.number(0, 1);
  if (draw >= CHANCE_OF_ANY) return offer;
  const occurs = (chance: number): boolean => (draw -= chance) < 0;
  const paid = plans.filter(({ kind }) => kind === "paid");
  const others = plans.filter(({ kind }) => kind !== "paid");

  if (occurs(CHANCE.price)) {
    const changed = dice.pick(paid);
    const monthlyPriceCents = nextPrice(dice, changed.monthlyPriceCents ?? 0);
    return {
      pricingModel,
      plans: plans.map((plan) => (plan === changed ? { ...plan, monthlyPriceCents } : plan)),
    };
  }
  if (occurs(CHANCE.freePlan)) {
    return {
      pricingModel,
      plans: plans.includes(FREE) ? plans.filter((plan) => plan !== FREE) : [FREE, ...plans],
    };
  }
  if (occurs(CHANCE.trial)) {
    const trial = {
      trialDays: paid[0]?.trialDays === 14 ? 7 : 14,
      trialNeedsCard: dice.chance(NEEDS_CARD),
    };
    return { pricingModel, plans: [...paid.map((plan) => ({ ...plan, ...trial })), ...others] };
  }
  if (occurs(CHANCE.enterprise) && !plans.includes(ENTERPRISE))
    return { pricingModel, plans: [...plans, ENTERPRISE] };
  if (occurs(CHANCE.pricingModel))
    return { pricingModel: "usage_based", plans: [usagePlan(dice), ...others] };
  return offer;
}

/** Changes a price by whole dollars, more often up than down. */
function nextPrice(dice: Dice, cents: number): number {
  const step = Math.max(100, Math.round((cents * dice.number(0.1, 0.35)) / 100) * 100);
  return dice.chance(0.65) ? cents + step : Math.max(100, cents - step);
}
