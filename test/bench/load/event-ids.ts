/**
 * Odd, so that multiplying by it modulo 2^32 maps no two numbers to one (Knuth's multiplicative
 * hash).
 */
const SCATTER = 2_654_435_761;

/**
 * The id of the n-th event, n below 2^32. No id repeats, and the ids are in no order, as those of
 * the service. So an index over them is written at random places and not only at its end.
 */
export function scatteredEventIds(n: number): { signalId: number; productId: number } {
  const signalId = Math.imul(n, SCATTER) >>> 0;
  return { signalId, productId: 1000 + (signalId % 90_000) };
}

/** Where the generator's events begin; those that a file was filled with beforehand come before. */
export const FIRST_SENT = 1_000_000_000;
