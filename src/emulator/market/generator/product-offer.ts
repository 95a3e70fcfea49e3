import { pick, TOPIC, type Dice } from "./dice.js";
import type { Plan, PricingModel, Product } from "./product.js";

/** The possible first prices of a plan, in cents. */
const PRICES: readonly number[] = [900, 1200, 1500, 1900, 2400, 2900, 3900, 4900];
const TRIALS: readonly number[] = [7, 14, 30];
const PAID_NAMES = ["Starter", "Pro", "Team"] as const;

/** The chances of changes in a month. */
const CHANCE = { price: 0.014, freePlan: 0.006, trial: 0.004, enterprise: 0.006, pricingModel: 0.002 } as const;
const CHANCE_OF_ANY = Object.values(CHANCE).reduce((sum, chance) => sum + chance, 0);

type Offer = Pick<Product, "pricingModel" | "plans">;

export function firstOffer(dice: Dice, index: number, nextPlanId: () => number): Offer {
  const draw = dice.fraction(TOPIC.offer, index);
  const pricingModel: PricingModel =
    draw < 0.7 ? "subscription" : draw < 0.8 ? "usage_based" : draw < 0.88 ? "free" : "contact_sales";
  const hasFreePlan = pricingModel === "free" || draw < 0.45;
  const plans: Plan[] = [];
  const add = (plan: Omit<Plan, "planId">): void => void plans.push({ planId: nextPlanId(), ...plan });
  if (hasFreePlan) add(FREE);
  if (pricingModel === "usage_based") add(usagePlan(dice, index));
  if (pricingModel === "subscription") {
    const count = dice.between(1, 3, TOPIC.offer, index, 1);
    const trialDays =
      dice.fraction(TOPIC.offer, index, 2) < 0.45 ? pick(TRIALS, dice.below(3, TOPIC.offer, index, 3)) : 0;
    const trialNeedsCard = trialDays > 0 && dice.fraction(TOPIC.offer, index, 4) < 0.4;
    const cheapest = dice.below(PRICES.length, TOPIC.offer, index, 5);
    for (let place = 0; place < count; place++) {
      const name = count === 1 ? "Pro" : pick(PAID_NAMES, place);
      const monthlyPriceCents = pick(PRICES, cheapest) * (2 * place + 1);
      add({ name, kind: "paid", monthlyPriceCents, unitPriceMills: null, trialDays, trialNeedsCard });
    }
  }
  const hasEnterprise = pricingModel !== "free" && dice.fraction(TOPIC.offer, index, 6) < 0.35;
  if (pricingModel === "contact_sales" || hasEnterprise) add(ENTERPRISE);
  return { pricingModel, plans };
}

const NO_TRIAL = { unitPriceMills: null, trialDays: 0, trialNeedsCard: false } as const;
const FREE = { ...NO_TRIAL, name: "Free", kind: "free", monthlyPriceCents: 0 } as const;
const USAGE = { ...NO_TRIAL, name: "Pay as you go", kind: "paid", monthlyPriceCents: null } as const;
const ENTERPRISE = { ...NO_TRIAL, name: "Enterprise", kind: "enterprise", monthlyPriceCents: null } as const;
/** The possible prices of a minute, an image or a call, in thousandths of a dollar. */
const UNIT_PRICES: readonly number[] = [4, 10, 20, 50, 80, 120];

function usagePlan(dice: Dice, index: number): Omit<Plan, "planId"> {
  return { ...USAGE, unitPriceMills: pick(UNIT_PRICES, dice.below(UNIT_PRICES.length, TOPIC.offer, index, 7)) };
}

/** The changes of a product's plans in a month. */
export interface OfferChange {
  ended: Plan[];
  begun: Plan[];
  /** The previous pricing model if it changed, otherwise null. */
  oldModel: PricingModel | null;
}

/** Changes the product's offer. Returns null if the offer does not change, as in most months. */
export function changeOffer(dice: Dice, product: Product, turn: number, nextPlanId: () => number): OfferChange | null {
  let draw = dice.fraction(TOPIC.offerChange, product.index, turn);
  if (draw >= CHANCE_OF_ANY) return null;
  const occurs = (chance: number): boolean => (draw -= chance) < 0;
  const replace = (
    ended: Plan[],
    begun: readonly Omit<Plan, "planId">[],
    model = product.pricingModel,
  ): OfferChange => {
    const added = begun.map((plan) => ({ ...plan, planId: nextPlanId() }));
    const oldModel = product.pricingModel === model ? null : product.pricingModel;
    product.plans = [...product.plans.filter((plan) => !ended.includes(plan)), ...added];
    product.pricingModel = model;
    return { ended, begun: added, oldModel };
  };
  const paid = product.plans.filter((plan) => plan.monthlyPriceCents !== null && plan.monthlyPriceCents > 0);
  const free = product.plans.filter(({ kind }) => kind === "free");

  if (occurs(CHANCE.price)) {
    const plan = paid[dice.below(3, TOPIC.offerChange, product.index, -turn) % Math.max(1, paid.length)];
    return plan === undefined
      ? null
      : replace([plan], [{ ...plan, monthlyPriceCents: nextPrice(dice, plan, product.index, turn) }]);
  }
  if (occurs(CHANCE.freePlan)) {
    // A product without a paid plan keeps its free plan.
    if (paid.length === 0) return null;
    return free.length > 0 ? replace(free, []) : replace([], [FREE]);
  }
  if (occurs(CHANCE.trial)) {
    if (paid.length === 0) return null;
    const days = paid[0]?.trialDays ?? 0;
    const trialDays = days === 14 ? 7 : 14;
    const trialNeedsCard = dice.fraction(TOPIC.offerChange, product.index, -turn) < 0.4;
    return replace(
      paid,
      paid.map((plan) => ({ ...plan, trialDays, trialNeedsCard })),
    );
  }
  if (occurs(CHANCE.enterprise)) {
    const isFit = paid.length > 0 && product.plans.every(({ kind }) => kind !== "enterprise");
    return isFit ? replace([], [ENTERPRISE]) : null;
  }
  if (occurs(CHANCE.pricingModel) && product.pricingModel === "subscription") {
    return replace(paid, [usagePlan(dice, product.index)], "usage_based");
  }
  return null;
}

/** Changes a price by whole dollars, more often up than down. */
function nextPrice(dice: Dice, { monthlyPriceCents }: Plan, index: number, turn: number): number {
  const dollars = (monthlyPriceCents ?? 0) / 100;
  const step = Math.max(1, Math.round(dollars * (0.1 + 0.25 * dice.fraction(TOPIC.offer, index, 1000 + turn))));
  const isUp = dice.fraction(TOPIC.offer, index, -1000 - turn) < 0.65;
  return (isUp ? dollars + step : Math.max(1, dollars - step)) * 100;
}
