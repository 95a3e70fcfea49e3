/**
 * The purposes of drawn numbers. A number depends only on the seed, the topic, the subject and the turn (usually the month),
 * but not on other draws. Because the same seed must give the same data, never change or reuse the number of a topic.
 */
export const TOPIC = {
  productName: 1,
  sector: 2,
  size: 3,
  phase: 4,
  phaseRate: 5,
  visitsNoise: 6,
  channels: 7,
  aiShare: 8,
  paid: 9,
  countries: 10,
  rating: 11,
  links: 12,
  offer: 13,
  offerChange: 14,
  text: 15,
  listing: 16,
  observed: 17,
  features: 18,
  aiSources: 19,
  presence: 20,
  presenceChange: 21,
  endings: 22,
  births: 23,
  secondSector: 24,
  keywordPick: 25,
  keywordShape: 26,
  keywordSlots: 27,
  keywordSize: 28,
  keywordTrend: 29,
  keywordSample: 30,
  slotNoise: 31,
  positioning: 33,
} as const;
export type Topic = (typeof TOPIC)[keyof typeof TOPIC];

/** Draws numbers that are the same on every machine, so it avoids `Math.random`, `Math.pow` and `Math.exp`. */
export interface Dice {
  /** At least 0, below 1. */
  fraction(topic: Topic, subject: number, turn?: number): number;
  /** A whole number, at least 0, below `count`. */
  below(count: number, topic: Topic, subject: number, turn?: number): number;
  /** A whole number between `from` and `to`, both included. */
  between(from: number, to: number, topic: Topic, subject: number, turn?: number): number;
}

/** @param seed a whole number */
export function createDice(seed: number): Dice {
  // The seed's upper half is included, so that seeds above 2^32 differ too.
  const start = scramble((seed >>> 0) ^ Math.imul(Math.floor(seed / 2 ** 32) | 0, 0x9e3779b1));

  function draw(topic: number, subject: number, turn: number): number {
    let state = Math.imul(start ^ Math.imul(topic, 0x9e3779b1), 0x85ebca6b);
    state = Math.imul(state ^ (state >>> 15) ^ Math.imul(subject, 0xc2b2ae35), 0x27d4eb2f);
    state = Math.imul(state ^ (state >>> 13) ^ Math.imul(turn, 0x165667b1), 0x85ebca77);
    return scramble(state);
  }

  const fraction = (topic: number, subject: number, turn = 0): number => draw(topic, subject, turn) / 2 ** 32;
  const below = (count: number, topic: number, subject: number, turn = 0): number =>
    Math.floor(fraction(topic, subject, turn) * count);
  return {
    fraction,
    below,
    between: (from, to, topic, subject, turn = 0) => from + below(to - from + 1, topic, subject, turn),
  };
}

/** The final mix of the 32-bit MurmurHash3: each bit of the input changes about half of the output's bits. */
function scramble(input: number): number {
  let state = input;
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  return (state ^ (state >>> 16)) >>> 0;
}

/** Returns the item at an index. An index after the last item starts again at the first item. */
export function pick<Item>(items: readonly Item[], index: number): Item {
  const item = items[index % items.length];
  if (item === undefined) throw new RangeError("nothing to pick from");
  return item;
}
