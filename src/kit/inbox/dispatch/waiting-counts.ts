/** Of so many lanes the events are counted. */
const MOST_LANES = 10_000;

/**
 * How many events that this process has accepted may wait in each lane: no more than a guess, with
 * which a settlement and the claim of the event behind it are one commit.
 */
export function createWaitingCounts() {
  const counts = new Map<string, number>();

  return {
    /** @param lane its key */
    add(lane: Uint8Array): void {
      const key = keyOf(lane);
      const count = counts.get(key) ?? 0;
      if (count > 0 || counts.size < MOST_LANES) counts.set(key, count + 1);
    },
    /** The head of the lane has ended. @returns whether another event may follow */
    take(lane: Uint8Array): boolean {
      if (counts.size === 0) return false;
      const key = keyOf(lane);
      const count = counts.get(key);
      if (count === undefined) return false;
      if (count > 1) counts.set(key, count - 1);
      else counts.delete(key);
      return true;
    },
  };
}

function keyOf(lane: Uint8Array): string {
  return Buffer.from(lane).toString("latin1");
}
