/**
 * What every random fault comes from. Print it when a test fails; run again with `FAULT_SEED=n`.
 */
export const SEED = Number(process.env["FAULT_SEED"] ?? Date.now() % 1_000_000);

/** mulberry32: the same seed gives the same numbers, each from 0 to below 1. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
