/** From a number to another one. */
export type Range = readonly [from: number, to: number];

export type Dice = ReturnType<typeof createDice>;

/**
 * Draws numbers that are the same on every machine, so it avoids `Math.random`, `Math.pow` and
 * `Math.exp`. Each number depends on how many were drawn before.
 *
 * @param seed a whole number; the same seed gives the same numbers in the same order
 */
export function createDice(seed: number) {
  // The hash is FNV-1a, the generator mulberry32.
  let state = 0x811c9dc5;
  for (const char of String(seed)) state = Math.imul(state ^ char.charCodeAt(0), 0x01000193);

  function fraction(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  return {
    /** At least `from`, below `to`. */
    number: (from: number, to: number) => from + (to - from) * fraction(),
    /** A whole number between `from` and `to`, both included. */
    whole: (from: number, to: number) => from + Math.floor((to - from + 1) * fraction()),
    /** Whether something happens that has this probability. */
    chance: (probability: number) => fraction() < probability,
    pick: <Item>(items: readonly Item[]) => pick(items, Math.floor(items.length * fraction())),
  };
}

/** Returns the item at an index. An index after the last item starts again at the first item. */
export function pick<Item>(items: readonly Item[], index: number): Item {
  const item = items[index % items.length];
  if (item === undefined) throw new RangeError("nothing to pick from");
  return item;
}
