/**
 * The bodies in memory that the inbox does not have yet: they still arrive, or wait for their secret. They share one bound
 * of bytes with the events that wait for their commit.
 *
 * When the bound is reached, the body that was here first is evicted. A body is here for milliseconds unless its sender is
 * slow on purpose. If the newest body were refused instead, or announced lengths were counted, a few slow senders could
 * keep all others out.
 *
 * Queued events are never evicted. If the queue alone leaves no room for a body, that body is refused.
 */
export interface HeldBodies {
  /**
   * Counts more bytes for this delivery, before they are kept. Other bodies may be evicted for them.
   *
   * @param evict called once when this delivery is evicted: its bytes must be dropped at once
   * @returns false when there is no room: the delivery is not held any more, and `evict` is not called
   */
  hold(delivery: object, moreBytes: number, evict: () => void): boolean;
  /** The delivery's bytes were dropped, or belong to the inbox now. */
  release(delivery: object): void;
  /** Whether the inbox can take a body of this size now. Held bodies are evicted for it. */
  makeRoom(bytes: number): boolean;
}

export interface HeldBodiesConfig {
  /** Whether so many bytes fit beside the events that wait for their commit. */
  hasRoom: (bytes: number) => boolean;
  maxBodies: number;
}

/**
 * Memory that a piece of a body takes beside its bytes. Measured on Node 20 with pieces of one byte: 200 bytes of heap, 450
 * to 500 of the process.
 */
export const PIECE_OVERHEAD_BYTES = 512;

export function createHeldBodies({ hasRoom, maxBodies }: HeldBodiesConfig): HeldBodies {
  /** The oldest first: a Map keeps the order of insertion. */
  const held = new Map<object, HeldBody>();
  let heldBytes = 0;

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
    hold(delivery, moreBytes, evict) {
      const body = held.get(delivery) ?? { bytes: 0, evict };
      held.set(delivery, body);
      heldBytes += moreBytes;
      body.bytes += moreBytes;
      // If this delivery itself is evicted now, the caller learns it from the result.
      body.evict = ignore;
      if (hasRoom(body.bytes)) evictOldestUntilFits(0);
      else release(delivery);
      body.evict = evict;
      return held.has(delivery);
    },
    release,
    makeRoom(bytes) {
      if (!hasRoom(bytes)) return false;
      evictOldestUntilFits(bytes);
      return true;
    },
  };
}

interface HeldBody {
  bytes: number;
  evict: () => void;
}

function ignore(): void {}
