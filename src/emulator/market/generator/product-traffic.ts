import { TOPIC, type Dice } from "./dice.js";
import type { Product } from "./product.js";

/** The phases of a product: how often they occur, how many months they last, and how much traffic changes each month. */
const PHASES = [
  { name: "surge", weight: 0.06, months: [1, 2], rate: [0.35, 1.1] },
  { name: "growth", weight: 0.32, months: [3, 8], rate: [0.03, 0.12] },
  { name: "steady", weight: 0.34, months: [3, 7], rate: [-0.02, 0.025] },
  { name: "decline", weight: 0.24, months: [3, 7], rate: [-0.09, -0.03] },
  { name: "collapse", weight: 0.04, months: [1, 2], rate: [-0.4, -0.18] },
] as const;

/** The growth of a new product in its first months. */
const LAUNCH = { months: 5, rate: 0.45 } as const;
/** Above or below these multiples of its base, a product's traffic is pulled back toward the base. */
const FAR_UP = 8;
const FAR_DOWN = 0.2;
const PULL = 0.07;

const MOST_AI_SHARE = 0.45;
const CHANCE = { aiJump: 0.012, adsBegin: 0.012, adsEnd: 0.03, linkSpike: 0.015 } as const;

/** Advances a product's traffic, links and rating by a month. */
export function stepTraffic(dice: Dice, product: Product, turn: number): void {
  stepLevel(dice, product, turn);
  stepChannels(dice, product, turn);
  stepLinks(dice, product, turn);
  const noise = 0.93 + 0.14 * dice.fraction(TOPIC.visitsNoise, product.index, turn);
  const visits = Math.max(40, Math.round(product.level * noise));
  const aiReferral = Math.round(visits * product.aiShare);
  const paid = Math.round(visits * product.paidShare);
  const organic = Math.round((visits - aiReferral - paid) * product.organicShare);
  product.visits = { organic, paid, aiReferral, direct: visits - aiReferral - paid - organic };
}

function stepLevel(dice: Dice, product: Product, turn: number): void {
  const { index, phase } = product;
  if (phase.monthsLeft === 0) product.phase = nextPhase(dice, product, turn);
  else phase.monthsLeft -= 1;
  const ratio = product.level / product.baseVisits;
  const pull = ratio > FAR_UP ? -PULL : ratio < FAR_DOWN && product.bornAt === 0 ? PULL : 0;
  const spread = 0.02 * dice.fraction(TOPIC.phaseRate, index, -turn - 1) - 0.01;
  if (turn > product.bornAt) product.level *= 1 + product.phase.rate + pull + spread;
}

function nextPhase(dice: Dice, { index, bornAt }: Product, turn: number): Product["phase"] {
  const rateDraw = dice.fraction(TOPIC.phaseRate, index, turn);
  if (turn === bornAt && bornAt > 0) return { rate: LAUNCH.rate * (0.3 + rateDraw), monthsLeft: LAUNCH.months };
  let draw = dice.fraction(TOPIC.phase, index, turn);
  const kind = PHASES.find(({ weight }) => (draw -= weight) < 0) ?? PHASES[2];
  const months = dice.between(kind.months[0], kind.months[1], TOPIC.phase, index, -turn - 1);
  return { rate: kind.rate[0] + (kind.rate[1] - kind.rate[0]) * rateDraw, monthsLeft: months - 1 };
}

function stepChannels(dice: Dice, product: Product, turn: number): void {
  const { index } = product;
  const ai = dice.fraction(TOPIC.aiShare, index, turn);
  // Visits from AI assistants usually grow each month; for a few products they jump.
  const growth = ai < CHANCE.aiJump ? 1.8 + 1.6 * dice.fraction(TOPIC.aiShare, index, -turn - 10) : 0.965 + 0.125 * ai;
  product.aiShare = Math.min(MOST_AI_SHARE, product.aiShare * growth);

  const ads = dice.fraction(TOPIC.paid, index, turn);
  if (product.paidShare === 0) {
    if (ads < CHANCE.adsBegin) product.paidShare = 0.02 + 0.1 * dice.fraction(TOPIC.paid, index, -turn - 10);
  } else if (ads < CHANCE.adsEnd) product.paidShare = 0;
  else product.paidShare = Math.min(0.35, product.paidShare * (0.9 + 0.2 * ads));
}

function stepLinks(dice: Dice, product: Product, turn: number): void {
  const { index } = product;
  const isSpike = dice.fraction(TOPIC.links, index, turn) < CHANCE.linkSpike;
  const rate = 0.006 + 0.02 * dice.fraction(TOPIC.links, index, -turn - 10);
  const added = 2 + Math.round(product.linkingDomains * rate * (isSpike ? 9 : 1));
  product.linkingDomains += added;
  if (product.ratingTenths === null) return;
  const drift = isSpike
    ? dice.between(12, 40, TOPIC.rating, index, turn)
    : dice.between(-4, 6, TOPIC.rating, index, turn);
  product.ratingTenths = Math.max(0, Math.min(980, product.ratingTenths + drift));
}
