import { nextTurn } from "../../base/time/timers.js";
import type { EndpointState, OpenInbox, RetryOutcome } from "../../kit/inbox/open-inbox.js";
import type { EventKey } from "../../kit/inbox/store.js";
import {
  addActivity,
  noActivity,
  type Activity,
  type ActivityCounts,
  type ActivityQuery,
} from "../../kit/inbox/activity.js";
import type {
  InboxEntry,
  SearchPage,
  SearchQuery,
  StoredEvent,
} from "../../kit/inbox/stored-events.js";

/**
 * The inboxes of a page or a command as one. If there are several, the key of an event is its id
 * with its endpoint before it, as a delivery key has it: `stripe/evt_1`.
 */
export type PageInbox = ReturnType<typeof joinInboxes>;

type Move = "replay" | "discard" | "retryNow" | "retry";

/** @param inboxes of different endpoints */
export function joinInboxes(inboxes: readonly OpenInbox[]) {
  const only = inboxes.length === 1 ? inboxes[0] : undefined;
  const byEndpoint = new Map(inboxes.map((inbox) => [inbox.endpoint, inbox]));

  function placeOf(key: string): { inbox: OpenInbox; eventId: string } | undefined {
    if (only !== undefined) return { inbox: only, eventId: key };
    const slash = key.indexOf("/");
    const inbox = byEndpoint.get(key.slice(0, Math.max(0, slash)));
    return inbox && { inbox, eventId: key.slice(slash + 1) };
  }

  return {
    endpoints: [...byEndpoint.keys()] as readonly string[],
    keyOf: ({ endpoint, eventId }: EventKey): string =>
      only === undefined ? `${endpoint}/${eventId}` : eventId,
    /** With `endpoint`, only events of that endpoint. */
    async search({
      endpoint,
      limit = 50,
      ...query
    }: SearchQuery & { endpoint?: string | undefined }): Promise<SearchPage> {
      const searched = inboxes.filter((inbox) => inbox.endpoint === (endpoint ?? inbox.endpoint));
      const pages = await Promise.all(searched.map((inbox) => inbox.search({ ...query, limit })));
      return mergePages(pages, limit);
    },
    /** With `endpoint`, only of that endpoint. */
    async activity(query: ActivityQuery, endpoint?: string | null): Promise<Activity[]> {
      const asked = inboxes.filter((inbox) => inbox.endpoint === (endpoint ?? inbox.endpoint));
      const found = await oneByOne(asked, (inbox) => inbox.activity(query));
      return addActivities(found.flat());
    },
    /** An id without an endpoint finds the first event that has it. */
    async get(key: string, mostBytes?: number): Promise<StoredEvent | undefined> {
      const place = placeOf(key);
      if (place !== undefined) return place.inbox.get(place.eventId, mostBytes);
      for (const inbox of inboxes) {
        const found = await inbox.get(key, mostBytes);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    /** What a person asks first of each endpoint. */
    states: (now: number, since?: number): Promise<EndpointState[]> =>
      oneByOne(inboxes, (inbox) => inbox.state(now, since)),
    /**
     * Moves the events of each inbox together. Without keys, `retryNow` tries one event of each
     * receiver whose hand-offs are paused.
     */
    async move(how: Move, keys: readonly string[]): Promise<RetryOutcome[]> {
      const places = keys.map(placeOf);
      const outcomes = keys.map((): RetryOutcome => "not_found");
      for (const inbox of inboxes) {
        const indexes = places.flatMap((place, index) => (place?.inbox === inbox ? [index] : []));
        if (keys.length > 0 && indexes.length === 0) continue;
        const moved = await inbox[how](indexes.map((index) => places[index]?.eventId ?? ""));
        moved.forEach((outcome, position) => (outcomes[indexes[position] ?? 0] = outcome));
      }
      return outcomes;
    },
  };
}

/**
 * Each has a turn of the event loop: a store in this process answers without one, and the host
 * would wait for all of them.
 */
async function oneByOne<Result>(
  inboxes: readonly OpenInbox[],
  ask: (inbox: OpenInbox) => Promise<Result>,
): Promise<Result[]> {
  const answers: Result[] = [];
  for (const inbox of inboxes) {
    await nextTurn();
    answers.push(await ask(inbox));
  }
  return answers;
}

/**
 * The newest of several pages. Two stores can have the same `seq`, so events of one `seq` stay on
 * one page.
 */
function mergePages(pages: readonly SearchPage[], limit: number): SearchPage {
  // Below this, not every search has looked.
  const lookedTo = Math.max(0, ...pages.map(({ nextBeforeSeq }) => nextBeforeSeq ?? 0));
  const found = pages.flatMap(({ entries }) => entries).filter(({ seq }) => seq >= lookedTo);
  const sorted = found.sort((a, b) => b.seq - a.seq);
  const last: InboxEntry | undefined = sorted[limit - 1];
  const entries = last === undefined ? sorted : sorted.filter(({ seq }) => seq >= last.seq);
  const isEnd = entries.length === sorted.length && lookedTo === 0;
  return { entries, nextBeforeSeq: isEnd ? null : Math.max(lookedTo, last?.seq ?? 0) };
}

function addActivities(activities: readonly Activity[]): Activity[] {
  const sums = new Map<number, ActivityCounts & { at: number }>();
  for (const activity of activities) {
    const { at } = activity;
    sums.set(at, addActivity(sums.get(at) ?? { at, ...noActivity() }, activity));
  }
  return [...sums.values()].sort((a, b) => a.at - b.at);
}
