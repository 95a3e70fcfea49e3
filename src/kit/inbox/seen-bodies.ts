/** So many bodies are remembered, in about 8 MB. */
const MOST_SEEN = 100_000;

/**
 * The bodies that this process has seen lately, by 48 bits of their hashes. An index of the store
 * would know all of them, but each event would write to a random page of it.
 */
export function createSeenBodies(most = MOST_SEEN) {
  const seen = new Set<number>();
  const ring = new Float64Array(most);
  /** Where the next body goes, in the place of the oldest. */
  let next = 0;
  /** Where the next older body goes. */
  let older = most;

  return {
    /** @returns whether it was there */
    add(bodyHash: Uint8Array): boolean {
      const key = keyOf(bodyHash);
      if (seen.has(key)) return true;
      seen.delete(ring[next] as number);
      ring[next] = key;
      next = (next + 1) % most;
      seen.add(key);
      return false;
    },
    /**
     * For the bodies from before the start, the newest first, before any `add`. @returns whether
     * there is room for more
     */
    addOlder(bodyHash: Uint8Array): boolean {
      const key = keyOf(bodyHash);
      if (older > 0 && !seen.has(key)) {
        older -= 1;
        ring[older] = key;
        seen.add(key);
      }
      return older > 0;
    },
    /** Its event was not stored. */
    forget: (bodyHash: Uint8Array) => void seen.delete(keyOf(bodyHash)),
  };
}

function keyOf(bodyHash: Uint8Array): number {
  return Buffer.from(bodyHash.buffer, bodyHash.byteOffset, 6).readUIntBE(0, 6);
}
