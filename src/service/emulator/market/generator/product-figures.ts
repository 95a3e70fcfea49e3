import type { Dice, Range } from "./dice.js";
import { marketFile } from "../market-file.js";

/** What happens to a figure in a month: it is multiplied, then something is added. */
interface Move {
  growth: Range;
  added: Range;
}

/**
 * How a figure starts, and how it moves: in a usual month, and in the few months in which it jumps.
 * The jumps cause signals.
 */
interface Walk extends Move {
  /** The share of products that have the figure from the start. For the others it is 0. */
  share: number;
  start: Range;
  jump: Move & { chance: number };
  /** Null: there is no limit. */
  most: number | null;
}

/** The figures of a product that move by chance. */
export interface Figures {
  /** The part of the visits that AI assistants send. It usually grows. */
  aiShare: number;
  /** The part of the visits that are paid, while the product advertises. */
  paidShare: number;
  adCreatives: number;
  /** Websites that link to the product, for each of its usual visits. */
  links: number;
  /** Users of the browser extension, for each usual visit. */
  extension: number;
  plainUrls: number;
  /** Addresses with one generated pattern. */
  patternUrls: number;
  /** Addresses with a language, region or use case in the path. */
  marketUrls: number;
  /** Published in the month. */
  articles: number;
  directories: number;
}

const WALKS = Object.entries(marketFile<Record<keyof Figures, Walk>>("figures.json")) as [
  keyof Figures,
  Walk,
][];

export function firstFigures(dice: Dice): Figures {
  const entries = WALKS.map(([name, { share, start }]) => {
    return [name, dice.chance(share) ? dice.number(...start) : 0];
  });
  return Object.fromEntries(entries) as Figures;
}

/** Advances the figures by a month. */
export function stepFigures(dice: Dice, figures: Figures): void {
  for (const [name, walk] of WALKS) {
    const { growth, added } = dice.chance(walk.jump.chance) ? walk.jump : walk;
    const moved = figures[name] * dice.number(...growth) + dice.number(...added);
    figures[name] = Math.min(walk.most ?? Infinity, moved);
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
