import { parseEvent } from "../events/parse-event.js";
import { signalFacts } from "./signal-facts.js";
import type { InboxStore, ReadAgain, ReplayOutcome } from "./store.js";

/**
 * Makes `dead` and `done` events `ready` in one transaction, and `quarantined` events if this version of signalbox can read
 * them. If a receiver runs on the inbox, it hands them off within a second.
 */
export function replayEvents(
  store: InboxStore,
  endpoint: string,
  eventIds: readonly string[],
): Promise<ReplayOutcome[]> {
  const events = eventIds.map((eventId) => ({ endpoint, eventId }));
  return store.replay(events, readAgain);
}

const readAgain: ReadAgain = (body) => {
  const parsed = parseEvent(body);
  if (parsed.kind !== "known") return null;
  const { id: eventId, type } = parsed.event;
  return { eventId, type, ...signalFacts(parsed.event) };
};
