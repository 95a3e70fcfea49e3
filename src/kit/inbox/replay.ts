import type { InboxStore, ReadAgain, ReplayOutcome } from "./store.js";

/**
 * Makes `dead` and `done` events `ready` in one transaction, and `quarantined` events if this
 * version of signalbox can read them. If a receiver runs on the inbox, it hands them off within a
 * second.
 */
export function replayEvents(
  store: InboxStore,
  endpoint: string,
  eventIds: readonly string[],
  readAgain: ReadAgain,
): Promise<ReplayOutcome[]> {
  const events = eventIds.map((eventId) => ({ endpoint, eventId }));
  return store.replay(events, readAgain);
}
