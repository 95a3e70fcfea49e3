import type { ClaimedEvent } from "./store.js";

/** Past this many bytes in hand, new events are born `ready`, and their bodies are not kept in memory. */
const MAX_HELD_BYTES = 16 * 1024 * 1024;

/** Which events a dispatcher has in hand, and how many more it may have. */
export interface Slots {
  /** Reserves slots for events on their way here; false, and none reserved, when there is no room. */
  reserve(count: number): boolean;
  unreserve(count: number): void;
  hold(event: ClaimedEvent): void;
  release(event: ClaimedEvent): void;
  /** Tokens by seq of what is in hand: waiting, running, or with a settlement that is not durable yet. */
  held(): ReadonlyMap<number, number>;
  free(): number;
  isEmpty(): boolean;
  /** One event is in hand, and none is on its way. */
  hasOne(): boolean;
  /** Resolves when nothing is in hand. */
  whenEmpty(): Promise<void>;
}

export function createSlots(capacity: number): Slots {
  const held = new Map<number, number>();
  let heldBytes = 0;
  let reserved = 0;
  let onEmpty: (() => void) | null = null;

  const free = (): number => (heldBytes >= MAX_HELD_BYTES ? 0 : capacity - held.size - reserved);

  return {
    reserve(count) {
      if (free() < count) return false;
      reserved += count;
      return true;
    },
    unreserve(count) {
      reserved -= count;
    },
    hold({ seq, token, body }) {
      held.set(seq, token);
      heldBytes += body.byteLength;
    },
    release({ seq, token, body }) {
      // One commit can carry the end of a lease and the claim that begins the next one, which goes on.
      if (held.get(seq) === token) held.delete(seq);
      heldBytes -= body.byteLength;
      if (held.size === 0) onEmpty?.();
    },
    held: () => held,
    free,
    isEmpty: () => held.size + reserved === 0,
    hasOne: () => held.size === 1 && reserved === 0,
    whenEmpty: () => (held.size === 0 ? Promise.resolve() : new Promise((resolve) => (onEmpty = resolve))),
  };
}
