import type { EventsAnswer, ListedEvent } from "../inbox-api.js";
import { request } from "../../parts/request.js";

export interface Found {
  events: ListedEvent[];
  /** Where the next page begins; null at the end. */
  next: number | null;
  /** How many requests it took: with many, the search is slow. */
  requests: number;
}

const MOST_IN_A_REQUEST = 200;
const MOST_REQUESTS = 25;

/**
 * Searches until there are enough events, or no more, or it has taken long: one request looks at a
 * bounded number of events.
 */
export async function findEvents(
  { search, before, titles }: { search: string; before?: number | undefined; titles?: "yes" },
  limit: number,
  signal?: AbortSignal,
): Promise<Found> {
  const found: Found = { events: [], next: before ?? null, requests: 0 };
  do {
    const most = Math.min(limit - found.events.length, MOST_IN_A_REQUEST);
    const query = { q: search, before: found.next ?? undefined, limit: most, titles };
    const { events, nextBeforeSeq } = await request<EventsAnswer>("GET", "api/events", {
      query,
      signal,
    });
    found.events.push(...events);
    found.next = nextBeforeSeq;
    found.requests += 1;
  } while (found.next !== null && found.events.length < limit && found.requests < MOST_REQUESTS);
  return found;
}
