import type { ClaimedEvent } from "../batch.js";

/** From this number of held bytes on, a new event is stored as `ready`, not `leased`, and its body is not kept in memory. */
const MAX_HELD_BYTES = 16 * 1024 * 1024;

/** Counts the events that a dispatcher holds, and how many more it can hold. */
export function createSlots(capacity: number) {
  const held = new Map<number, ClaimedEvent>();
  let heldBytes = 0;
  let reserved = 0;
  let onEmpty: (() => void) | null = null;

  const free = (): number => (heldBytes >= MAX_HELD_BYTES ? 0 : capacity - held.size - reserved);

  return {
    /** Reserves slots for events that will be held. @returns false, with no slot reserved, when not enough are free */
    reserve(count: number): boolean {
      if (free() < count) return false;
      reserved += count;
      return true;
    },
    unreserve(count: number): void {
      reserved -= count;
    },
    hold(event: ClaimedEvent): void {
      held.set(event.seq, event);
      heldBytes += event.body.byteLength;
    },
    release({ seq, token, body }: ClaimedEvent): void {
      // The commit that ended this lease may also have claimed the event again. The new lease, which has another token, stays.
      if (held.get(seq)?.token === token) held.delete(seq);
      heldBytes -= body.byteLength;
      if (held.size === 0) onEmpty?.();
    },
    /** The events that wait, run, or have a settlement that no commit has tried yet. */
    held: (): ClaimedEvent[] => [...held.values()],
    free,
    reserved: (): number => reserved,
    /** True when no event is held and no slot is reserved. */
    isEmpty: () => held.size + reserved === 0,
    /** Resolves when no event is held. */
    whenEmpty: () => new Promise<void>((resolve) => (held.size === 0 ? resolve() : (onEmpty = resolve))),
  };
}

export type Slots = ReturnType<typeof createSlots>;
