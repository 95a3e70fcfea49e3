import type { Failure } from "../../kit/inbox/inbox-facts.js";
import { inPortions } from "../../kit/inbox/in-portions.js";
import type { InboxVitals } from "../../kit/inbox/inbox-reader.js";
import { readInboxState } from "../../kit/inbox/read-situation.js";
import type { Refusals } from "../../kit/inbox/inbox-facts.js";
import { replayEvents } from "../../kit/inbox/replay.js";
import type { SituationFacts } from "../../kit/inbox/situation.js";
import type { Receiver } from "../../kit/receiver/receiver.js";
import type { InboxStore, MoveOutcome, ReadAgain, ReplayOutcome } from "../../kit/inbox/store.js";
import type {
  Activity,
  ActivityQuery,
  InboxEntry,
  SearchPage,
  SearchQuery,
  StoredEvent,
  StoreStats,
} from "../../kit/inbox/stored-events.js";

/** What a person asks first of one endpoint. `paused` and `shortage` are those of a receiver. */
export interface EndpointState {
  endpoint: string;
  stats: StoreStats;
  facts: SituationFacts;
  failures: Failure[];
  refusals: Refusals;
  paused: InboxVitals["paused"];
  shortage: InboxVitals["shortage"];
}

/**
 * What the page does with an inbox: that of a receiver, an opened store without one, or several of
 * these.
 */
export interface PageInbox {
  readonly endpoints: readonly string[];
  /** With `endpoint`, only events of that endpoint. */
  search(query: SearchQuery & { endpoint?: string | undefined }): Promise<SearchPage>;
  activity(query: ActivityQuery): Promise<Activity[]>;
  get(eventId: string): Promise<StoredEvent | undefined>;
  states(now: number): Promise<EndpointState[]>;
  replay(eventIds: readonly string[]): Promise<ReplayOutcome[]>;
  discard(eventIds: readonly string[]): Promise<MoveOutcome[]>;
  /** Without ids: tries one event of each receiver whose hand-offs are paused. */
  retryNow(eventIds: readonly string[]): Promise<MoveOutcome[]>;
}

/** The inbox of a receiver in this process. */
export function receiverInbox({ inbox, health }: Receiver, store: InboxStore): PageInbox {
  const { endpoint } = health();
  return {
    ...inbox,
    endpoints: [endpoint],
    search: ({ endpoint: _endpoint, ...query }) => inbox.search(query),
    async states(now) {
      const state = await readInboxState(store, endpoint, now);
      const { paused, pause, shortage } = health();
      // What the receiver says now, in place of what it has stored.
      return [
        {
          ...state,
          endpoint,
          paused,
          shortage,
          facts: { ...state.facts, pause, hasReceiver: true },
        },
      ];
    },
    retryNow: (eventIds) => inbox.retryNow(eventIds),
  };
}

/** An opened store, whose receiver is in another process if it runs. */
export function storedInbox(
  endpoint: string,
  store: InboxStore,
  readAgain: () => Promise<ReadAgain>,
): PageInbox {
  const keysOf = (eventIds: readonly string[]) =>
    eventIds.map((eventId) => ({ endpoint, eventId }));
  return {
    endpoints: [endpoint],
    search: ({ endpoint: _endpoint, ...query }) => store.search(endpoint, query),
    activity: (query) => store.activity(endpoint, query),
    get: (eventId) => store.get(endpoint, eventId),
    states: async (now) => [
      { ...(await readInboxState(store, endpoint, now)), endpoint, paused: null, shortage: null },
    ],
    replay: (eventIds) =>
      inPortions(eventIds, async (portion) =>
        replayEvents(store, endpoint, portion, await readAgain()),
      ),
    discard: (eventIds) => inPortions(eventIds, (portion) => store.discard(keysOf(portion))),
    retryNow: (eventIds) => inPortions(eventIds, (portion) => store.retryNow(keysOf(portion))),
  };
}

/**
 * Several inboxes as one. The id of an event can have its endpoint before it, as a delivery key
 * has: `stripe/evt_1`.
 *
 * @param inboxes of different endpoints
 */
export function joinedInbox(inboxes: readonly PageInbox[]): PageInbox {
  const [only, ...others] = inboxes as [PageInbox, ...PageInbox[]];
  if (others.length === 0) return only;
  const byEndpoint = new Map(
    inboxes.flatMap((inbox) => inbox.endpoints.map((endpoint) => [endpoint, inbox] as const)),
  );

  function placeOf(key: string): { inbox: PageInbox; eventId: string } | undefined {
    const slash = key.indexOf("/");
    const inbox = byEndpoint.get(key.slice(0, Math.max(0, slash)));
    return inbox && { inbox, eventId: key.slice(slash + 1) };
  }

  /** Moves the events of each inbox together. */
  async function move<Outcome extends ReplayOutcome>(
    keys: readonly string[],
    act: (inbox: PageInbox, eventIds: readonly string[]) => Promise<Outcome[]>,
  ): Promise<Outcome[]> {
    const places = keys.map(placeOf);
    const outcomes = keys.map(() => "not_found" as Outcome);
    for (const inbox of new Set(byEndpoint.values())) {
      const indexes = places.flatMap((place, index) => (place?.inbox === inbox ? [index] : []));
      if (keys.length > 0 && indexes.length === 0) continue;
      const moved = await act(
        inbox,
        indexes.map((index) => places[index]?.eventId ?? ""),
      );
      moved.forEach((outcome, position) => (outcomes[indexes[position] ?? 0] = outcome));
    }
    return outcomes;
  }

  return {
    endpoints: [...byEndpoint.keys()],
    async search({ endpoint, limit = 50, ...query }) {
      const searched =
        endpoint === undefined
          ? inboxes
          : inboxes.filter((inbox) => inbox.endpoints.includes(endpoint));
      const pages = await Promise.all(searched.map((inbox) => inbox.search({ ...query, limit })));
      return mergePages(pages, limit);
    },
    async activity(query) {
      const found = await Promise.all(inboxes.map((inbox) => inbox.activity(query)));
      return addActivities(found.flat());
    },
    async get(key) {
      const place = placeOf(key);
      if (place !== undefined) return place.inbox.get(place.eventId);
      for (const inbox of inboxes) {
        const found = await inbox.get(key);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    states: async (now) => (await Promise.all(inboxes.map((inbox) => inbox.states(now)))).flat(),
    replay: (keys) => move(keys, (inbox, eventIds) => inbox.replay(eventIds)),
    discard: (keys) => move(keys, (inbox, eventIds) => inbox.discard(eventIds)),
    retryNow: (keys) => move(keys, (inbox, eventIds) => inbox.retryNow(eventIds)),
  };
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
  const sums = new Map<number, Activity>();
  for (const { at, accepted, handedOff, failed } of activities) {
    const sum = sums.get(at) ?? { at, accepted: 0, handedOff: 0, failed: 0 };
    sums.set(at, {
      at,
      accepted: sum.accepted + accepted,
      handedOff: sum.handedOff + handedOff,
      failed: sum.failed + failed,
    });
  }
  return [...sums.values()].sort((a, b) => a.at - b.at);
}
