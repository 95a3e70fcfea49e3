import type { ClaimedEvent } from "../batch.js";

/**
 * From this number of held bytes on, a new event is stored as `ready`, not `leased`, and its body
 * is not kept in memory.
 */
const MAX_HELD_BYTES = 16 * 1024 * 1024;

/** Counts the events that a dispatcher holds, and how many more it can hold. */
export function createSlots(capacity: number) {
  const occupants = new Map<number, ClaimedEvent>();
  /**
   * Events whose settlement waits for the end of a callback's transaction. They take no slot, but
   * are held.
   */
  const locked = new Set<ClaimedEvent>();
  let heldBytes = 0;
  let reserved = 0;
  let onEmpty: (() => void) | null = null;

  const free = (): number =>
    heldBytes >= MAX_HELD_BYTES ? 0 : capacity - occupants.size - reserved;

  return {
    /**
     * Reserves slots for events that will be held. @returns false, with no slot reserved, when not
     * enough are free
     */
    reserve(count: number): boolean {
      if (free() < count) return false;
      reserved += count;
      return true;
    },
    unreserve(count: number): void {
      reserved -= count;
    },
    hold(event: ClaimedEvent): void {
      occupants.set(event.seq, event);
      heldBytes += event.body.byteLength;
    },
    release({ seq, token, body }: ClaimedEvent): void {
      // The commit that ended this lease may also have claimed the event again. The new lease,
      // which has another token, stays.
      if (occupants.get(seq)?.token === token) occupants.delete(seq);
      heldBytes -= body.byteLength;
      if (occupants.size === 0) onEmpty?.();
    },
    lock: (event: ClaimedEvent) => void locked.add(event),
    unlock: (event: ClaimedEvent) => void locked.delete(event),
    /**
     * The events whose lease has not ended: they wait, run, or have a settlement that is not
     * durable yet.
     */
    held: (): ClaimedEvent[] => [...occupants.values(), ...locked],
    free,
    reserved: (): number => reserved,
    /** True when no slot is taken or reserved. */
    isEmpty: () => occupants.size + reserved === 0,
    /** Resolves when no slot is taken. */
    whenEmpty: () =>
      new Promise<void>((resolve) => (occupants.size === 0 ? resolve() : (onEmpty = resolve))),
  };
}

export type Slots = ReturnType<typeof createSlots>;
