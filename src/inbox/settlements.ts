import type { ClaimedEvent, Settlement } from "./store.js";

type Change = Omit<Settlement, "seq" | "token">;

/** The user's system owns it now. */
export function doneAfter({ possiblyRepeated }: ClaimedEvent, attempts: number, now: number): Change {
  return { state: "done", dueAt: now, settledAt: now, attempts, possiblyRepeated, lastError: null };
}

/** Back to `ready`, with no attempt used up. */
export function asIfNeverClaimed(event: ClaimedEvent, possiblyRepeated: boolean, now: number): Change {
  return {
    state: "ready",
    dueAt: now,
    settledAt: now,
    attempts: event.attempts,
    possiblyRepeated: event.possiblyRepeated || possiblyRepeated,
    lastError: null,
  };
}
