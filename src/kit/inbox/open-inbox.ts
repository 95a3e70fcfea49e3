import { z } from "zod";
import { isSignalboxError, SignalboxError } from "../../base/errors.js";
import { checkOptions } from "../../base/options/option-error.js";
import { nextTurn } from "../../base/time/timers.js";
import type { BatcherLimits } from "./batcher.js";
import type { Dispatcher, PauseReason } from "./dispatch/dispatcher.js";
import type { DurationStats } from "./durations.js";
import { erase, findEvents, type EraseQuery, type Erasure } from "./deleting/erase.js";
import { readFailures } from "./situation/failure-groups.js";
import { laneKey } from "./lane.js";
import { readInboxState, type InboxState } from "./situation/situation.js";
import type { EventKey, InboxStore, ReadAgain, StoreDiagnostics } from "./store.js";
import type { Activity, ActivityQuery } from "./activity.js";
import type { Failure, Pause } from "./situation/trouble.js";
import {
  EVENT_STATES,
  isStorable,
  type InboxEntry,
  type ListQuery,
  type MoveOutcome,
  type ReplayOutcome,
  type SearchPage,
  type SearchQuery,
  type StoredEvent,
  type StoreStats,
} from "./stored-events.js";

/** Numbers that are known without a slow query. */
export interface InboxVitals {
  /**
   * With the option `order`: how many events wait behind another one. Counted once a minute, but in
   * `stats()` now.
   */
  waiting: number;
  /**
   * For how many milliseconds the oldest event that waits for its hand-off has been due; 0 when
   * none waits, null when unknown.
   */
  oldestReadyAgeMs: number | null;
  /** Events and bytes that wait for their commit. */
  queued: BatcherLimits;
  /** Number of running callbacks. */
  running: number;
  /** Why no hand-off begins; null when hand-offs run. */
  paused: PauseReason | null;
  /**
   * For how many milliseconds the oldest event that waits for its hand-off has been stored; 0 when
   * none waits, null when unknown.
   */
  oldestReceivedAgeMs: number | null;
  /**
   * Facts about the pause with `breaker: "open"` or `"probing"`; null when the breaker is closed.
   */
  pause: Pause | null;
  /**
   * `open`: hand-offs are paused because the callback keeps failing. `probing`: one event is handed
   * off, as a test.
   */
  breaker: "closed" | "open" | "probing";
  /** For how many milliseconds the oldest commit in flight has lasted; 0 when none is in flight. */
  commitInFlightMs: number;
  /** The durations of commits, from the first row to the last sync. */
  commits: DurationStats;
  /**
   * What the store has too little of for `handoff.concurrency`, with the fix, such as connections
   * of a pool; null when it has enough.
   */
  shortage: string | null;
  /**
   * The store's own, such as `SqliteDiagnostics`; null when the store has none, is not open, or
   * fails.
   */
  medium: StoreDiagnostics | null;
}

/** {@link InboxVitals}, with the number of events in each state. */
export interface InboxStats extends StoreStats, InboxVitals {
  /** As in {@link InboxVitals}; never null. */
  oldestReadyAgeMs: number;
  oldestReceivedAgeMs: number;
}

/** The events of a started receiver's endpoint. */
export interface Inbox {
  /**
   * Lists events, the oldest first. @throws SignalboxError `option_unknown`, `option_invalid`,
   * `store_failed`
   */
  list(query?: Omit<ListQuery, "endpoint">): Promise<InboxEntry[]>;
  /**
   * Searches the newest events. A page may have fewer entries than its limit: {@link SearchPage}
   * says how to continue.
   *
   * @throws SignalboxError `option_unknown`, `option_invalid`, `store_failed`
   */
  search(query?: SearchQuery): Promise<SearchPage>;
  /**
   * Counts what happened lately, by spans of minutes. @throws SignalboxError `option_unknown`,
   * `option_invalid`, `store_failed`
   */
  activity(query?: Partial<ActivityQuery>): Promise<Activity[]>;
  /** One event with its headers and bytes. @throws SignalboxError `store_failed` */
  get(eventId: string): Promise<StoredEvent | undefined>;
  /**
   * Hands off a `dead`, `done` or `quarantined` event again. Its payload must still be kept.
   *
   * @throws SignalboxError `option_invalid`, `store_failed`
   */
  replay(eventId: string): Promise<ReplayOutcome>;
  /** Replays several events. @returns one outcome for each, in order */
  replay(eventIds: readonly string[]): Promise<ReplayOutcome[]>;
  /**
   * The events that fail now, grouped by their error: those that wait after a failed attempt, and
   * the dead ones. Of each state it looks at the newest 5,000. The largest group is first.
   *
   * @throws SignalboxError `store_failed`
   */
  failures(): Promise<Failure[]>;
  /**
   * Tries one event now if hand-offs are paused because the callback keeps failing.
   *
   * @throws SignalboxError `store_failed`
   */
  retryNow(): Promise<void>;
  /**
   * The same, and makes this waiting event due now. @throws SignalboxError `option_invalid`,
   * `store_failed`
   */
  retryNow(eventId: string): Promise<MoveOutcome>;
  /** The same for several events. @returns one outcome for each, in order */
  retryNow(eventIds: readonly string[]): Promise<MoveOutcome[]>;
  /**
   * Deletes the payload of a `done`, `dead` or `quarantined` event, which is `done` then. Its id
   * stays known.
   *
   * @throws SignalboxError `option_invalid`, `store_failed`
   */
  discard(eventId: string): Promise<MoveOutcome>;
  /** Discards several events. @returns one outcome for each, in order */
  discard(eventIds: readonly string[]): Promise<MoveOutcome[]>;
  /**
   * Erases what is stored of events in any state: their payload, errors, history, subject and key of
   * the option `order`. Those that wait are not handed off any more. Their ids and types stay, so
   * that a redelivery is a duplicate; an id with the text or subject that was given is replaced by
   * its hash. See docs/personal-data.md.
   *
   * @throws SignalboxError `option_invalid`, `store_failed`
   */
  erase(query: EraseQuery): Promise<Erasure>;
  /**
   * With the option `order`: lets the events behind a `dead` one with this key go on. The dead one
   * stays dead.
   *
   * @returns whether a dead event was in their way
   * @throws SignalboxError `option_invalid`, `store_failed`
   */
  unblock(key: string): Promise<boolean>;
  /** Counts the events in each state. @throws SignalboxError `store_failed` */
  stats(): Promise<InboxStats>;
}

/** What became of an event at `retry`. `due_now`: it waited, and is due now. */
export type RetryOutcome = ReplayOutcome | "due_now";

/** Everything that a person asks first of an endpoint. */
export interface EndpointState extends InboxState, Pick<InboxVitals, "paused" | "shortage"> {
  endpoint: string;
}

/** The inbox of one endpoint: what users call, and what only the page and the command line do. */
export interface OpenInbox extends Omit<Inbox, "stats"> {
  readonly endpoint: string;
  /** @param mostBytes as `get` of the port has it */
  get(eventId: string, mostBytes?: number): Promise<StoredEvent | undefined>;
  /** @param since as {@link readInboxState} has it */
  state(now: number, since?: number): Promise<EndpointState>;
  /** The events that `erase` would erase, page by page. */
  find(query: EraseQuery): AsyncGenerator<readonly EventKey[]>;
  /** `replay`, and `retryNow` for what waits. */
  retry(eventIds: readonly string[]): Promise<RetryOutcome[]>;
}

/** The receiver in this process that has the inbox open. */
export interface RunningReceiver extends Pick<Dispatcher, "nudge" | "probeNow"> {
  vitals(): InboxVitals;
}

/**
 * Reads the events of an endpoint of an open store, and moves them by hand: for a receiver, for the
 * page and for the command line.
 *
 * @param readAgain makes what reads a stored event as its sender does; called once it is needed
 * @param receiver undefined in a tool, beside which a receiver may run
 */
export function openInbox(
  store: InboxStore,
  endpoint: string,
  readAgain: () => ReadAgain | Promise<ReadAgain>,
  receiver?: RunningReceiver,
): OpenInbox {
  function move(
    name: "replay" | "discard" | "retryNow",
    moveAll: (events: readonly EventKey[]) => Promise<RetryOutcome[]>,
  ) {
    return async (ids: string | readonly string[]): Promise<unknown> => {
      const all: unknown = typeof ids === "string" ? [ids] : ids;
      assertIds(name, all);
      const keys = all.filter(isStorable).map((eventId) => ({ endpoint, eventId }));
      const ordered = name === "replay" ? await oldestFirst(store, keys) : keys;
      const moved = await inPortions(ordered, async (portion) => {
        const outcomes = await moveAll(portion);
        receiver?.nudge();
        return outcomes;
      });
      const outcomeOf = new Map(ordered.map((key, index) => [key, moved[index]]));
      const left = keys.map((key) => outcomeOf.get(key));
      const outcomes = all.map((id) => (isStorable(id) ? left.shift() : "not_found"));
      return typeof ids === "string" ? outcomes[0] : outcomes;
    };
  }

  const replayAll = async (events: readonly EventKey[]): Promise<RetryOutcome[]> =>
    store.replay(events, await readAgain());
  const makeDue = move("retryNow", (events) => store.retryNow(events));

  return {
    endpoint,
    list: async (query) =>
      store.list({ ...checkQuery("inbox.list", querySchema, query), endpoint }),
    search: async (query) =>
      store.search(endpoint, checkQuery("inbox.search", searchSchema, query)),
    activity: async (query) =>
      store.activity(endpoint, checkQuery("inbox.activity", activitySchema, query)),
    async get(eventId, mostBytes) {
      assertIds("get", [eventId]);
      return isStorable(eventId) ? store.get(endpoint, eventId, mostBytes) : undefined;
    },
    replay: move("replay", replayAll) as OpenInbox["replay"],
    discard: move("discard", (events) => store.discard(events)) as OpenInbox["discard"],
    find: (query) => findEvents(store, endpoint, query),
    async erase(query) {
      const result = await erase(store, endpoint, query);
      receiver?.nudge();
      return result;
    },
    failures: () => readFailures(store, endpoint),
    async unblock(key) {
      if (typeof key !== "string" || key === "") {
        const message = "inbox.unblock was given no key.";
        throw new SignalboxError("option_invalid", message, "Pass what order.by returns.");
      }
      const wasBlocked = await store.unblock(endpoint, laneKey(key));
      receiver?.nudge();
      return wasBlocked;
    },
    retryNow: (async (ids: string | readonly string[] = []) => {
      const outcomes = await makeDue(ids);
      receiver?.probeNow();
      return outcomes;
    }) as OpenInbox["retryNow"],
    retry: move("replay", async (events) => {
      const outcomes = await replayAll(events);
      const waiting = events.filter((_event, index) => outcomes[index] === "wrong_state");
      const due = waiting.length === 0 ? [] : await store.retryNow(waiting);
      return outcomes.map((outcome) =>
        outcome === "wrong_state" && due.shift() === "moved" ? "due_now" : outcome,
      );
    }) as OpenInbox["retry"],
    async state(now, since) {
      const { facts, ...state } = await readInboxState(store, endpoint, now, since);
      // What the receiver says now, in place of what it has stored.
      const { pause = facts.pause, paused = null, shortage = null } = receiver?.vitals() ?? {};
      const hasReceiver = receiver === undefined ? facts.hasReceiver : true;
      return { ...state, endpoint, facts: { ...facts, pause, hasReceiver }, paused, shortage };
    },
  };
}

function checkQuery<Schema extends z.ZodType>(
  name: string,
  schema: Schema,
  query: unknown,
): z.output<Schema> {
  return checkOptions({ name, page: "docs/receiver.md" }, schema, query);
}

function assertIds(name: string, ids: unknown): asserts ids is readonly string[] {
  if (Array.isArray(ids) && ids.every((id) => typeof id === "string")) return;
  const help = `Pass the eventId of an entry of inbox.list().`;
  throw new SignalboxError("option_invalid", `inbox.${name} was given no event id.`, help);
}

/** Most events in one transaction of a move. */
const AT_ONCE = 50;

/**
 * Lists have the newest event first; but of those with one key, the first that is replayed is handed
 * off first.
 */
async function oldestFirst(
  store: InboxStore,
  keys: readonly EventKey[],
): Promise<readonly EventKey[]> {
  if (keys.length < 2) return keys;
  const seqs = new Map<EventKey, number>();
  for (let from = 0; from < keys.length; from += AT_ONCE) {
    if (from > 0) await nextTurn();
    const portion = keys.slice(from, from + AT_ONCE);
    await Promise.all(
      portion.map(async (key) =>
        seqs.set(key, (await store.get(key.endpoint, key.eventId, 0))?.seq ?? 0),
      ),
    );
  }
  return keys.toSorted((a, b) => (seqs.get(a) ?? 0) - (seqs.get(b) ?? 0));
}

/**
 * Moves a portion of the events in each turn of the event loop, because each transaction blocks the
 * event loop.
 *
 * @throws SignalboxError the error of `move`; after the first portion, its message says how many
 * events were moved
 */
async function inPortions(
  events: readonly EventKey[],
  move: (events: readonly EventKey[]) => Promise<RetryOutcome[]>,
): Promise<RetryOutcome[]> {
  const outcomes: RetryOutcome[] = [];
  for (let from = 0; from < events.length; from += AT_ONCE) {
    if (from > 0) await nextTurn();
    try {
      outcomes.push(...(await move(events.slice(from, from + AT_ONCE))));
    } catch (error) {
      if (from === 0 || !isSignalboxError(error)) throw error;
      const moved = outcomes.filter((each) => each === "moved" || each === "due_now").length;
      const message = `Of the first ${from} of ${events.length} events ${moved} were moved. The others failed: ${error.message}`;
      throw new SignalboxError(error.code, message, "", { cause: error });
    }
  }
  return outcomes;
}

/** A database may refuse NUL in a text. */
const text = z.string().regex(/^[^\0]*$/, "must not contain NUL");

const querySchema = z
  .strictObject({
    state: z.enum(EVENT_STATES).optional(),
    type: text.optional(),
    afterSeq: z.int().min(0).optional(),
    limit: z.int().min(0).optional(),
  })
  .prefault({});

const searchSchema = z
  .strictObject({
    state: z.enum(EVENT_STATES).optional(),
    type: text.optional(),
    subtype: text.optional(),
    typeOrSubtype: text.optional(),
    subject: text.optional(),
    eventId: text.optional(),
    error: text.max(1000).optional(),
    receivedAfter: z.int().optional(),
    receivedBefore: z.int().optional(),
    beforeSeq: z.int().min(0).optional(),
    limit: z.int().min(1).max(1000).optional(),
  })
  .prefault({});

const activitySchema = z
  .strictObject({
    minutes: z.int().min(1).max(1440).default(1),
    spans: z.int().min(1).max(1000).default(60),
  })
  .prefault({});
