/**
 * The bodies in memory that are not the inbox's yet: they still arrive, or wait for their secret. With what waits for its
 * commit they share one bound of bytes.
 *
 * When there is no room for another, the one that has been here longest gives way. A delivery is here for milliseconds
 * unless its sender dribbles; so those who dribble cannot keep the others out, which they could if the newcomer were
 * refused, or if announced lengths were counted.
 */
export interface HeldBodies {
  /**
   * This many bytes are about to be in memory for this delivery, in all.
   *
   * @param giveWay called once, when others need the room; the bytes must be let go at once
   * @returns false when there is no room: nothing is held for it any more, and `giveWay` is not called
   */
  hold(delivery: object, bytes: number, giveWay: () => void): boolean;
  /** Its bytes are gone, or somebody else's. */
  release(delivery: object): void;
  /** Whether the inbox may take a body of this size now; whoever is in its way has given way then. */
  makeRoom(bytes: number): boolean;
}

export interface HeldBodiesConfig {
  /** Whether so many bytes fit beside what waits for its commit. */
  hasRoom: (bytes: number) => boolean;
  maxBodies: number;
}

export function createHeldBodies({ hasRoom, maxBodies }: HeldBodiesConfig): HeldBodies {
  /** Who came first is first. */
  const held = new Map<object, Held>();
  let heldBytes = 0;

  function release(delivery: object): void {
    const entry = held.get(delivery);
    if (entry === undefined) return;
    held.delete(delivery);
    heldBytes -= entry.bytes;
  }

  /** Until these bytes fit too. */
  function clear(bytes: number): void {
    for (const [delivery, { giveWay }] of held) {
      if (held.size <= maxBodies && hasRoom(heldBytes + bytes)) return;
      release(delivery);
      giveWay();
    }
  }

  return {
    hold(delivery, bytes, giveWay) {
      const entry = held.get(delivery) ?? { bytes: 0, giveWay };
      held.set(delivery, entry);
      heldBytes += bytes - entry.bytes;
      entry.bytes = bytes;
      // The caller is told by the answer.
      entry.giveWay = ignore;
      // What waits for its commit gives way to nobody: nobody else is refused for what cannot fit.
      if (hasRoom(bytes)) clear(0);
      else release(delivery);
      entry.giveWay = giveWay;
      return held.has(delivery);
    },
    release,
    makeRoom(bytes) {
      if (!hasRoom(bytes)) return false;
      clear(bytes);
      return true;
    },
  };
}

interface Held {
  bytes: number;
  giveWay: () => void;
}

function ignore(): void {}
