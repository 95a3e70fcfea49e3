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

export type Figures = Record<keyof typeof WALKS, number>;

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
