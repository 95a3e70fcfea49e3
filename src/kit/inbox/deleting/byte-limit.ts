import type { Clock } from "../../../base/time/clock.js";
import { MINUTE_MS } from "../../../base/time/units.js";
import type { InboxStore } from "../store.js";

/** So many payloads are looked at at once, in 2 to 4 ms. */
const LOOKED_AT = 1000;
/** After so many rounds, an hour, all are looked at again: what was done late is not in the sum. */
const ROUNDS = 60;

/**
 * Finds the age from which on payloads must go, so that those of done events take at most a number
 * of bytes. Their sum stands nowhere, because each settlement would pay for it. So the sum of each
 * minute in which events were done is kept here, and each payload is looked at once.
 *
 * @returns a function that does a small part
 */
export function createByteLimit(
  { store, endpoint, clock }: { store: InboxStore; endpoint: string; clock: Clock },
  maxBytes: number,
) {
  const sums = new Map<number, number>();
  let from = 0;
  let rounds = 0;
  /** The last minute whose payloads must go. */
  let last = -Infinity;

  return async (): Promise<{ ageMs: number; isAtEnd: boolean }> => {
    const now = clock.now();
    if (from === 0) sums.clear();
    const sizes = await store.payloadSizes(endpoint, from, LOOKED_AT);
    for (const { seq, ageMs, bytes } of sizes) {
      from = seq + 1;
      const minute = Math.floor((now - ageMs) / MINUTE_MS);
      if (bytes > 0) sums.set(minute, (sums.get(minute) ?? 0) + bytes);
    }
    const isAtEnd = sizes.length < LOOKED_AT;
    if (isAtEnd) {
      let left = maxBytes;
      for (const [minute, bytes] of [...sums].sort(([one], [other]) => other - one)) {
        left -= bytes;
        if (left >= 0) continue;
        sums.delete(minute);
        last = Math.max(last, minute);
      }
      rounds = (rounds + 1) % ROUNDS;
      if (rounds === 0) from = 0;
    }
    return { ageMs: Math.max(0, now - (last + 1) * MINUTE_MS), isAtEnd };
  };
}
