import type { Dice, Range } from "./dice.js";

/** What happens to a figure in a month: it is multiplied, then something is added. */
interface Move {
  growth: Range;
  added: Range;
}

/**
 * How a figure starts, and how it moves: in a usual month, and in the few months in which it jumps.
 */
interface Walk extends Move {
  /** The share of products that have the figure from the start. For the others it is 0. */
  share: number;
  start: Range;
  jump: Move & { chance: number };
  most: number;
}

const walkOf = (given: Partial<Omit<Walk, "jump">> & { jump?: Partial<Walk["jump"]> }): Walk => {
  const still: Move = { growth: [1, 1], added: [0, 0] };
  return {
    ...still,
    share: 1,
    start: [0, 0],
    most: Infinity,
    ...given,
    jump: { ...still, chance: 0, ...given.jump },
  };
};

/** The figures that move by chance. The jumps cause signals. */
const WALKS = {
  /** The part of the visits that AI assistants send. It usually grows. */
  aiShare: walkOf({
    start: [0.004, 0.054],
    growth: [0.965, 1.09],
    jump: { chance: 0.012, growth: [1.8, 3.4] },
    most: 0.45,
  }),
  /** The part of the visits that are paid, while the product advertises. */
  paidShare: walkOf({ start: [0.02, 0.14], growth: [0.9, 1.1], most: 0.35 }),
  adCreatives: walkOf({
    start: [3, 30],
    growth: [0.85, 1.13],
    jump: { chance: 0.05, growth: [2, 4] },
    most: 400,
  }),
  /** Websites that link to the product, for each of its usual visits. */
  links: walkOf({
    start: [0.003, 0.015],
    growth: [1.006, 1.026],
    jump: { chance: 0.015, growth: [1.1, 1.25] },
    most: 0.5,
  }),
  /** Users of the browser extension, for each usual visit. */
  extension: walkOf({
    share: 0.18,
    start: [0.2, 0.6],
    growth: [0.99, 1.04],
    jump: { chance: 0.03, growth: [1.5, 2.1] },
    most: 5,
  }),
  plainUrls: walkOf({
    start: [30, 3000],
    growth: [0.99, 1.02],
    jump: { chance: 0.02, growth: [0.1, 2.6] },
    most: 50_000,
  }),
  /** Addresses with one generated pattern. */
  patternUrls: walkOf({
    share: 0.2,
    start: [100, 900],
    jump: { chance: 0.008, added: [400, 4400] },
  }),
  /** Addresses with a language, region or use case in the path. */
  marketUrls: walkOf({ share: 0.3, start: [8, 120], jump: { chance: 0.007, added: [60, 360] } }),
  /** Published in the month. */
  articles: walkOf({
    growth: [0, 0],
    added: [0, 2.4],
    jump: { chance: 0.01, growth: [0, 0], added: [5, 13] },
  }),
  directories: walkOf({ start: [0, 6], added: [0, 0.1], jump: { chance: 0.01, added: [4, 10] } }),
};
const ENTRIES = Object.entries(WALKS) as [keyof typeof WALKS, Walk][];

type Figures = Record<keyof typeof WALKS, number>;

export function firstFigures(dice: Dice): Figures {
  return Object.fromEntries(
    ENTRIES.map(([name, { share, start }]) => [
      name,
      dice.chance(share) ? dice.number(...start) : 0,
    ]),
  ) as Figures;
}

/** Advances the figures by a month. */
export function stepFigures(dice: Dice, figures: Figures): void {
  for (const [name, walk] of ENTRIES) {
    const { growth, added } = dice.chance(walk.jump.chance) ? walk.jump : walk;
    const moved =
      figures[name] * dice.number(growth[0], growth[1]) + dice.number(added[0], added[1]);
    figures[name] = Math.min(walk.most, moved);
  }
}

/**
 * The visits of the smallest products, and the lowest draw, which limits the visits of the largest
 * products.
 */
const SMALLEST_BASE = 2200;
const SMALLEST_DRAW = 0.0012;
/**
 * The traffic of a new product before its first month, relative to its base, and its growth in that
 * month.
 */
const START = { level: 0.12, rate: 0.8 } as const;

/** How much of a month's growth is left in the next month. */
const MOMENTUM = 0.55;
/** How fast traffic is pulled back to the base. */
const PULL = 0.03;
/** The chance of each event in a month. */
const CHANCE = { surge: 0.025, adsBegin: 0.012, adsEnd: 0.03 } as const;

export interface Traffic {
  /** The product's usual monthly visits. Higher or lower traffic moves back toward this number. */
  base: number;
  level: number;
  /** The growth in this month. */
  rate: number;
  organicShare: number;
  advertises: boolean;
  visits: { organic: number; paid: number; aiReferral: number; direct: number };
  /** The organic visits of this month that no keyword has brought yet. */
  unassigned: number;
}

export function firstTraffic(dice: Dice, isNew: boolean): Traffic {
  // Follows Pareto's law: most products are small, and a few have millions of visits. Roots are
  // exact on every machine.
  const draw = dice.number(SMALLEST_DRAW, 1);
  const base = SMALLEST_BASE / (draw * Math.sqrt(Math.sqrt(draw)));
  return {
    base,
    level: base * (isNew ? START.level : dice.number(0.6, 1.4)),
    rate: isNew ? START.rate / MOMENTUM : 0,
    organicShare: dice.number(0.35, 0.75),
    advertises: dice.chance(0.4),
    visits: { organic: 0, paid: 0, aiReferral: 0, direct: 0 },
    unassigned: 0,
  };
}

/**
 * Advances a product's traffic by a month. The growth of a month partly lasts, and sometimes
 * traffic surges or collapses.
 */
export function stepTraffic(dice: Dice, traffic: Traffic, { aiShare, paidShare }: Figures): void {
  const usual = traffic.rate * MOMENTUM + dice.number(-0.035, 0.04);
  traffic.rate = dice.chance(CHANCE.surge) ? dice.number(-0.4, 1) : usual;
  const pull = PULL * (1 - traffic.level / traffic.base);
  traffic.level *= Math.max(0.3, 1 + traffic.rate + pull);
  if (dice.chance(traffic.advertises ? CHANCE.adsEnd : CHANCE.adsBegin))
    traffic.advertises = !traffic.advertises;

  const visits = Math.max(40, Math.round(traffic.level * dice.number(0.93, 1.07)));
  const aiReferral = Math.round(visits * aiShare);
  const paid = traffic.advertises ? Math.round(visits * paidShare) : 0;
  const organic = Math.round((visits - aiReferral - paid) * traffic.organicShare);
  traffic.visits = { organic, paid, aiReferral, direct: visits - aiReferral - paid - organic };
  traffic.unassigned = organic;
}
