import { z } from "zod";
import { SignalboxError } from "../../base/errors.js";
import { checkOptions } from "../../base/options/option-error.js";
import type { DurationStats } from "./durations.js";
import type { BatcherLimits } from "./batcher.js";
import type { Dispatcher, PauseReason } from "./dispatch/dispatcher.js";
import { readFailures } from "./failure-groups.js";
import type { Failure, Pause } from "./inbox-facts.js";
import { inPortions } from "./in-portions.js";
import { replayEvents } from "./replay.js";
import type { InboxStore, ReadAgain, StoreDiagnostics } from "./store.js";
import {
  EVENT_STATES,
  type Activity,
  type ActivityQuery,
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
   * Deletes the payload of a `dead` or `quarantined` event, which becomes `done`. Its id stays
   * known.
   *
   * @throws SignalboxError `option_invalid`, `store_failed`
   */
  discard(eventId: string): Promise<MoveOutcome>;
  /** Discards several events. @returns one outcome for each, in order */
  discard(eventIds: readonly string[]): Promise<MoveOutcome[]>;
  /** Counts the events in each state. @throws SignalboxError `store_failed` */
  stats(): Promise<InboxStats>;
}

/** Makes the part of an inbox that users call: it reads events, and moves them by hand. */
export function createInboxReader(
  store: InboxStore,
  endpoint: string,
  dispatcher: Pick<Dispatcher, "nudge" | "probeNow" | "oldestWaitingAgeMs">,
  vitals: () => InboxVitals,
  readAgain: ReadAgain,
): Inbox {
  function move(
    name: "replay" | "discard" | "retryNow",
    moveAll: (eventIds: readonly string[]) => Promise<ReplayOutcome[]>,
  ) {
    return async (ids: string | readonly string[]): Promise<unknown> => {
      const all: unknown = typeof ids === "string" ? [ids] : ids;
      assertIds(name, all);
      const moved = await inPortions(all.filter(canBeStored), async (eventIds) => {
        const outcomes = await moveAll(eventIds);
        dispatcher.nudge();
        return outcomes;
      });
      const outcomes = all.map((id) => (canBeStored(id) ? moved.shift() : "not_found"));
      return typeof ids === "string" ? outcomes[0] : outcomes;
    };
  }

  const retry = move("retryNow", (eventIds) =>
    store.retryNow(eventIds.map((eventId) => ({ endpoint, eventId }))),
  );

  return {
    list: async (query) =>
      store.list({
        ...checkOptions({ name: "inbox.list", page: "docs/receiver.md" }, querySchema, query),
        endpoint,
      }),
    search: async (query) =>
      store.search(
        endpoint,
        checkOptions({ name: "inbox.search", page: "docs/receiver.md" }, searchSchema, query),
      ),
    activity: async (query) =>
      store.activity(
        endpoint,
        checkOptions({ name: "inbox.activity", page: "docs/receiver.md" }, activitySchema, query),
      ),
    async get(eventId) {
      assertIds("get", [eventId]);
      return canBeStored(eventId) ? store.get(endpoint, eventId) : undefined;
    },
    replay: move("replay", (eventIds) =>
      replayEvents(store, endpoint, eventIds, readAgain),
    ) as Inbox["replay"],
    discard: move("discard", (eventIds) =>
      store.discard(eventIds.map((eventId) => ({ endpoint, eventId }))),
    ) as Inbox["discard"],
    failures: () => readFailures(store, endpoint),
    retryNow: (async (ids: string | readonly string[] = []) => {
      const outcomes = await retry(ids);
      dispatcher.probeNow();
      return outcomes;
    }) as Inbox["retryNow"],
    async stats() {
      const stats = await store.stats(endpoint);
      const oldestReadyAgeMs = Math.max(
        stats.oldestReadyAgeMs ?? 0,
        dispatcher.oldestWaitingAgeMs(),
      );
      return {
        ...stats,
        ...vitals(),
        oldestReadyAgeMs,
        oldestReceivedAgeMs: stats.oldestReceivedAgeMs ?? 0,
      };
    },
  };
}

function assertIds(name: string, ids: unknown): asserts ids is readonly string[] {
  if (Array.isArray(ids) && ids.every((id) => typeof id === "string")) return;
  const help = `Pass the eventId of an entry of inbox.list().`;
  throw new SignalboxError("option_invalid", `inbox.${name} was given no event id.`, help);
}

/**
 * No event has another id. A database refuses NUL in a text, and takes a lone surrogate for another
 * character.
 */
function canBeStored(eventId: string): boolean {
  return eventId.isWellFormed() && !eventId.includes("\0");
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
