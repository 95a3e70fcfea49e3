import type { EventState, InboxEntry } from "../../../kit/inbox/stored-events.js";
import { request } from "../../parts/request.js";
import type { EventsAnswer, ListedEvent, Overview } from "../inbox-api.js";

export interface Found {
  events: ListedEvent[];
  /** Where the next page begins; null at the end. */
  next: number | null;
  /** How many requests it took: with many, the search is slow. */
  requests: number;
}

/** The list without a search, as live messages tell it; undefined while none come. */
let newest: EventsAnswer | undefined;
const NEWEST = 50;

export const tellNewest = (told?: EventsAnswer): void => void (newest = told);

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
  if (newest !== undefined && search === "" && before === undefined && limit === NEWEST)
    return { ...newest, next: newest.nextBeforeSeq, requests: 0 };
  const found: Found = { events: [], next: before ?? null, requests: 0 };
  do {
    const most = Math.min(limit - found.events.length, MOST_IN_A_REQUEST);
    const query = { q: search, before: found.next ?? undefined, limit: most, titles };
    const answer = await request<EventsAnswer>("GET", "api/events", { query, signal });
    found.events.push(...answer.events);
    found.next = answer.nextBeforeSeq;
    found.requests += 1;
  } while (found.next !== null && found.events.length < limit && found.requests < MOST_REQUESTS);
  return found;
}

/**
 * @returns how the server is told of an event: by its id, on a page over several endpoints with its
 * endpoint before it
 */
export function keysOf(
  overview: Pick<Overview, "endpoints"> | undefined,
): (event: Pick<InboxEntry, "endpoint" | "eventId">) => string {
  const hasMany = (overview?.endpoints.length ?? 0) > 1;
  return ({ endpoint, eventId }) => (hasMany ? `${endpoint}/${eventId}` : eventId);
}

type Term = "endpoint" | "type" | "subject" | "state" | "after" | "before";

/** The words of a search, as the server reads them: a part in quotes may have blanks. */
export const wordsOf = (search: string): string[] => search.match(/(?:"[^"]*"|\S)+/g) ?? [];

const isOf = (term: Term, word: string): boolean =>
  (term === "subject" ? [term, "product"] : [term]).some((name) =>
    word.toLowerCase().startsWith(`${name}:`),
  );

/** What the search has for this term; empty without it. */
export function termIn(search: string, term: Term): string {
  const word = wordsOf(search).find((each) => isOf(term, each)) ?? "";
  return word.slice(word.indexOf(":") + 1).replaceAll('"', "");
}

/** The search with this term, or without it when the value is empty. */
export function withTerm(search: string, term: Term, value: string): string {
  const others = wordsOf(search).filter((word) => !isOf(term, word));
  return [
    ...others,
    ...(value === "" ? [] : [`${term}:${/\s/.test(value) ? `"${value}"` : value}`]),
  ].join(" ");
}

/** @param endpoint empty for all */
export function countOf(
  overview: Overview | undefined,
  state: EventState,
  endpoint: string,
): number {
  const of = overview?.endpoints.find((each) => each.endpoint === endpoint);
  return (endpoint === "" ? overview : of)?.counts[state] ?? 0;
}
