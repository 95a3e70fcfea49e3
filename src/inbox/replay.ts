import { parseEvent } from "../events/parse-event.js";
import type { InboxStore, MoveOutcome, StoredEvent } from "./store.js";

/** What became of one event of a replay. */
export type ReplayOutcome = MoveOutcome | "still_unusable";

/**
 * Puts events back to `ready`: `dead` and `done` ones as they are, `quarantined` ones only if this release can
 * read them now. Works on a live inbox; its receiver hands them off within a second.
 */
export async function replayEvents(
  store: InboxStore,
  endpoint: string,
  eventIds: readonly string[],
  now: number,
): Promise<ReplayOutcome[]> {
  const outcomes: ReplayOutcome[] = [];
  for (const eventId of eventIds) outcomes.push(await replayEvent(store, endpoint, eventId, now));
  return outcomes;
}

async function replayEvent(store: InboxStore, endpoint: string, eventId: string, now: number): Promise<ReplayOutcome> {
  const stored = await store.get(endpoint, eventId);
  if (stored === undefined) return "not_found";
  const readAs = stored.state === "quarantined" || stored.type === "" ? readAgain(stored) : undefined;
  if (readAs === null) return "still_unusable";
  const [outcome] = await store.replay([{ endpoint, eventId, ...(readAs && { readAs }) }], now);
  return outcome ?? "not_found";
}

function readAgain({ rawBody }: StoredEvent): { eventId: string; type: string } | null | undefined {
  if (rawBody === null) return undefined;
  const parsed = parseEvent(rawBody);
  return parsed.kind === "known" ? { eventId: parsed.event.id, type: parsed.event.type } : null;
}
