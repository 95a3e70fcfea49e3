import type { ClaimedEvent } from "./store.js";

/** Above this number of held bytes, new events are born `ready`, and their bodies are not kept in memory. */
const MAX_HELD_BYTES = 16 * 1024 * 1024;

/** Which events a dispatcher holds, and how many more it can hold. */
export interface Slots {
  /** Reserves slots for events that will be held. @returns false, with no slot reserved, when not enough are free */
  reserve(count: number): boolean;
  unreserve(count: number): void;
  hold(event: ClaimedEvent): void;
  release(event: ClaimedEvent): void;
  /** Tokens by seq of the events that wait, run, or have a settlement that is not durable yet. */
  held(): ReadonlyMap<number, number>;
  free(): number;
  /** True when no event is held and no slot is reserved. */
  isEmpty(): boolean;
  /** Resolves when no event is held. */
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
      // The commit that ended this lease may also have claimed the event again. The new lease stays.
      if (held.get(seq) === token) held.delete(seq);
      heldBytes -= body.byteLength;
      if (held.size === 0) onEmpty?.();
    },
    held: () => held,
    free,
    isEmpty: () => held.size + reserved === 0,
    whenEmpty: () => (held.size === 0 ? Promise.resolve() : new Promise((resolve) => (onEmpty = resolve))),
  };
}
