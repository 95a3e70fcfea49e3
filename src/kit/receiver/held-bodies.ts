import { ignore } from "../../base/errors.js";

/**
 * Memory that a chunk of a body needs in addition to its bytes. Measured on Node 20 with chunks of
 * one byte: the process grows by 450 to 500 bytes for each.
 */
export const CHUNK_OVERHEAD_BYTES = 512;

/**
 * The bodies in memory that the inbox does not have yet, because they are still arriving or wait
 * for their secret. They share one limit of bytes with the events that wait for their commit.
 *
 * When the limit is reached, the oldest body is evicted. Most bodies are held for milliseconds, so
 * the oldest one probably has a slow sender. If new bodies were refused instead, a few slow senders
 * could keep all others out.
 *
 * Queued events are never evicted. If they alone leave no room for a body, that body is refused.
 *
 * @param limits `hasRoom`: whether these bytes fit in memory, with the events that wait for their
 * commit
 */
export function createHeldBodies(limits: {
  hasRoom: (bytes: number) => boolean;
  maxBodies: number;
}) {
  const { hasRoom, maxBodies } = limits;
  /** The oldest is first, because a Map keeps the order of insertion. */
  const held = new Map<object, { bytes: number; evict: () => void }>();
  let heldBytes = 0;

  /** To be called when the delivery's bytes are dropped or given to the inbox. */
  function release(delivery: object): void {
    const body = held.get(delivery);
    if (body === undefined) return;
    held.delete(delivery);
    heldBytes -= body.bytes;
  }

  function evictOldestUntilFits(bytes: number): void {
    for (const [delivery, { evict }] of held) {
      if (held.size <= maxBodies && hasRoom(heldBytes + bytes)) return;
      release(delivery);
      evict();
    }
  }

  return {
    /**
     * To be called before more bytes of this delivery are kept. Other bodies may be evicted to make
     * room.
     *
     * @param evict called if this delivery is evicted later: its bytes must be dropped immediately
     * @returns false when there is no room: then the delivery is not held, and `evict` is not
     * called
     */
    hold(delivery: object, moreBytes: number, evict: () => void): boolean {
      const body = held.get(delivery) ?? { bytes: 0, evict };
      held.set(delivery, body);
      heldBytes += moreBytes;
      body.bytes += moreBytes;
      // An eviction of this body itself is reported by the result, not by the callback.
      body.evict = ignore;
      if (hasRoom(body.bytes)) evictOldestUntilFits(0);
      else release(delivery);
      body.evict = evict;
      return held.has(delivery);
    },
    release,
    /** Whether the inbox has room for a body of this size. Held bodies are evicted to make room. */
    makeRoom(bytes: number): boolean {
      if (!hasRoom(bytes)) return false;
      evictOldestUntilFits(bytes);
      return true;
    },
  };
}

export type HeldBodies = ReturnType<typeof createHeldBodies>;
