import type { ClaimedEvent, Settlement } from "./store.js";

// Each names every property, in one order, instead of spreading another object: the engine gives what is spread into a
// shape of its own each time, and whoever reads that is slow.

/** The user's system owns it now. */
export function doneAfter({ seq, token, possiblyRepeated }: ClaimedEvent, attempts: number, now: number): Settlement {
  return { seq, token, state: "done", dueAt: now, settledAt: now, attempts, possiblyRepeated, lastError: null };
}

/** Back to `ready`, with no attempt used up. */
export function asIfNeverClaimed(event: ClaimedEvent, mayHaveBegun: boolean, now: number): Settlement {
  const { seq, token, attempts } = event;
  const possiblyRepeated = event.possiblyRepeated || mayHaveBegun;
  return { seq, token, state: "ready", dueAt: now, settledAt: now, attempts, possiblyRepeated, lastError: null };
}
