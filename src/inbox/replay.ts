import { parseEvent } from "../events/parse-event.js";
import type { InboxStore, MoveOutcome, ReplayMove, StoredEvent } from "./store.js";

/** What became of one event of a replay. */
export type ReplayOutcome = MoveOutcome | "still_unusable";

/**
 * Puts events back to `ready`, in one transaction: `dead` and `done` ones as they are, `quarantined` ones only if this
 * release can read them. Works on a live inbox: its receiver hands them off within a second.
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

function readAgain({ rawBody }: StoredEvent): { eventId: string; type: string } | null | undefined {
  if (rawBody === null) return undefined;
  const parsed = parseEvent(rawBody);
  return parsed.kind === "known" ? { eventId: parsed.event.id, type: parsed.event.type } : null;
}
