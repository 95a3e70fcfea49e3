import { parseEvent } from "../events/parse-event.js";
import type { InboxStore, MoveOutcome, ReplayMove, StoredEvent } from "./store.js";

/** The result of a replay for one event. */
export type ReplayOutcome = MoveOutcome | "still_unusable";

/**
 * Makes `dead` and `done` events `ready` in one transaction, and `quarantined` events if this version of signalbox can read
 * them. If a receiver runs on the inbox, it hands them off within a second.
 */
export async function replayEvents(
  store: InboxStore,
  endpoint: string,
  eventIds: readonly string[],
  now: number,
): Promise<ReplayOutcome[]> {
  const readings: (ReplayMove | "still_unusable")[] = [];
  for (const eventId of eventIds) {
    const stored = await store.get(endpoint, eventId);
    const readAs = stored?.state === "quarantined" || stored?.type === "" ? readAgain(stored) : undefined;
    readings.push(readAs === null ? "still_unusable" : { endpoint, eventId, ...(readAs && { readAs }) });
  }
  const moves = readings.filter((reading) => reading !== "still_unusable");
  const outcomes = moves.length === 0 ? [] : await store.replay(moves, now);
  return readings.map((reading) => (reading === "still_unusable" ? reading : (outcomes.shift() ?? "not_found")));
}

/** @returns the real id and type; null for a body that is still unusable, undefined when the body was deleted */
function readAgain({ rawBody }: StoredEvent): { eventId: string; type: string } | null | undefined {
  if (rawBody === null) return undefined;
  const parsed = parseEvent(rawBody);
  return parsed.kind === "known" ? { eventId: parsed.event.id, type: parsed.event.type } : null;
}
