import { hash } from "node:crypto";
import { z } from "zod";
import { SignalboxError } from "../errors.js";
import { checkOptions } from "../options/option-error.js";
import { createBatcher, type BatcherConfig, type BatcherLimits } from "./batcher.js";
import { createDispatcher, type Dispatcher, type DispatcherConfig } from "./dispatcher.js";
import { inPortions } from "./in-portions.js";
import type { DurationStats } from "../time/durations.js";
import { replayEvents } from "./replay.js";
import { startRetention, type RetentionConfig } from "./retention.js";
import type { ClaimedEvent, InboxStore, MoveOutcome, NewEvent, ReplayOutcome, StoreDiagnostics } from "./store.js";
import {
  type Activity,
  type ActivityQuery,
  type SearchPage,
  type SearchQuery,
  EVENT_STATES,
  type InboxEntry,
  type ListQuery,
  type ReceivedDelivery,
  type StoredEvent,
  type StoreStats,
} from "./stored-events.js";

/** Numbers that are known without a slow query. */
export interface InboxVitals {
  /** For how many milliseconds the oldest event that waits for its hand-off has been due; 0 when none waits, null when unknown. */
  oldestReadyAgeMs: number | null;
  /** Events and bytes that wait for their commit. */
  queued: BatcherLimits;
  /** Number of running callbacks. */
  running: number;
  /** `open`: hand-offs are paused because the callback keeps failing. `probing`: one event is handed off, as a test. */
  breaker: "closed" | "open" | "probing";
  /** The durations of commits, from the first row to the last sync. */
  commits: DurationStats;
  /** The store's own, such as `SqliteDiagnostics`; null when the store has none, is not open, or fails. */
  medium: StoreDiagnostics | null;
}

/** {@link InboxVitals}, with the number of events in each state. */
export interface InboxStats extends StoreStats, InboxVitals {
  /** As in {@link InboxVitals}; never null. */
  oldestReadyAgeMs: number;
}

/** The events of a started receiver's endpoint. */
export interface Inbox {
  /** Lists events, the oldest first. @throws SignalboxError `option_unknown`, `option_invalid`, `store_failed` */
  list(query?: Omit<ListQuery, "endpoint">): Promise<InboxEntry[]>;
  /**
   * Searches the newest events. A page may have fewer entries than its limit: {@link SearchPage} says how to continue.
   *
   * @throws SignalboxError `option_unknown`, `option_invalid`, `store_failed`
   */
  search(query?: SearchQuery): Promise<SearchPage>;
  /** Counts what happened lately, by spans of minutes. @throws SignalboxError `option_unknown`, `option_invalid`, `store_failed` */
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
   * Deletes the payload of a `dead` or `quarantined` event, which becomes `done`. Its id stays known.
   *
   * @throws SignalboxError `option_invalid`, `store_failed`
   */
  discard(eventId: string): Promise<MoveOutcome>;
  /** Discards several events. @returns one outcome for each, in order */
  discard(eventIds: readonly string[]): Promise<MoveOutcome[]>;
  /** Counts the events in each state. @throws SignalboxError `store_failed` */
  stats(): Promise<InboxStats>;
}

/** An authentic event, from the receiver. */
export interface AcceptedInput {
  eventId: string;
  type: string;
  /** `handOff`: to the callback. `keep`: stored as `done`. `quarantine`: stored as `quarantined`, with this reason. */
  fate: { kind: "handOff"; parsed: unknown } | { kind: "keep" } | { kind: "quarantine"; reason: string };
  /** As the store keeps them. */
  facts: Pick<NewEvent, "signalType" | "product">;
  received: ReceivedDelivery;
  body: Uint8Array;
}

export type Acceptance = { status: "accepted" } | { status: "duplicate"; sameBody: boolean };

export interface InboxConfig extends Omit<DispatcherConfig, "batcher" | "leasesExpire" | "leasedSince"> {
  store: InboxStore;
  endpoint: string;
  maxQueued: BatcherLimits;
  retention: RetentionConfig;
  /** Called with the error of a failed commit, and with null when commits work again. Like `onRetentionError`, it must not throw. */
  onHealth: (failure: unknown) => void;
  onCommit: BatcherConfig["onCommit"];
  onRetentionError: (error: unknown) => void;
}

/** A store with its batcher, dispatcher and retention. */
export interface RunningInbox extends Inbox {
  /** Opens the store and takes over the leases of a process that died. */
  open(): Promise<{ takenOver: number }>;
  drain: Dispatcher["drain"];
  close(graceMs: number): Promise<void>;
  hasRoom(bytes: number): boolean;
  /** Resolves once the event is durable. Rejects when it might not be. */
  accept(input: AcceptedInput): Promise<Acceptance>;
  vitals(): InboxVitals;
  /** `handoff.completeSql` of a running attempt. @throws SignalboxError `store_unsupported`, `handoff_ended` */
  completeSql(this: void, event: ClaimedEvent): string;
}

export function createInbox(config: InboxConfig): RunningInbox {
  const { store, endpoint, clock } = config;
  const batcher = createBatcher({
    store,
    endpoint,
    clock,
    maxQueued: config.maxQueued,
    onHealth: config.onHealth,
    onCommit: config.onCommit,
    recover: async () => {
      const { freed } = await store.takeOver({ endpoint, held: dispatcher.held(), crashed: false });
      // While the store is down this runs before each commit, and `nudge` causes a commit. Without the condition the
      // commits would never end.
      if (freed > 0) dispatcher.nudge();
    },
  });
  const dispatcher = createDispatcher({
    ...config,
    batcher,
    leasesExpire: store.shared,
    leasedSince: () => store.leasedSince?.(endpoint) ?? -Infinity,
  });
  let isOpen = false;
  let stopRetention: (() => void) | undefined;

  function accept({ eventId, type, fate, facts, received, body }: AcceptedInput): Promise<Acceptance> {
    const bodyHash = sha256(body);
    const leasedAt = clock.elapsed();
    // Until the slot is freed nothing may throw; otherwise the slot would be lost.
    const leased = fate.kind === "handOff" && dispatcher.reserve();
    const accepted = batcher.accept({
      eventId,
      type,
      received,
      body,
      state: leased ? "leased" : STATE_AT_BIRTH[fate.kind],
      leaseMs: leased ? dispatcher.leaseMs : null,
      bodyHash,
      reason: fate.kind === "quarantine" ? fate.reason : null,
      signalType: facts.signalType,
      product: facts.product,
    });
    return accepted.then(
      (result) => {
        if (result.status === "duplicate") {
          if (leased) dispatcher.unreserve();
          return result;
        }
        if (leased) {
          const event = {
            seq: result.seq,
            eventId,
            type,
            token: result.token,
            attempts: 0,
            crashes: 0,
            receivedAt: received.at,
            possiblyRepeated: false,
            replayed: false,
            traceParent: received.traceParent ?? null,
            body,
          };
          dispatcher.take({ event, leasedAt, parsed: fate.parsed });
        } else if (fate.kind === "handOff") dispatcher.nudge();
        return result;
      },
      (error: unknown) => {
        if (leased) dispatcher.unreserve();
        throw error;
      },
    );
  }

  async function move<Outcome>(
    name: "replay" | "discard",
    ids: string | readonly string[],
    moveAll: (eventIds: readonly string[]) => Promise<Outcome[]>,
  ): Promise<Outcome | Outcome[]> {
    const all: unknown = typeof ids === "string" ? [ids] : ids;
    if (!isTexts(all)) {
      const help = `Pass the eventId of an entry of inbox.list(), or a list of such ids.`;
      throw new SignalboxError("option_invalid", `inbox.${name} was given no event id.`, help);
    }
    const outcomes = await inPortions(all, async (eventIds) => {
      const moved = await moveAll(eventIds);
      dispatcher.nudge();
      return moved;
    });
    return typeof ids === "string" ? (outcomes[0] as Outcome) : outcomes;
  }

  function vitals(): InboxVitals {
    const readyAgeMs = orUndefined(() => store.oldestReadyAgeMs?.(endpoint));
    return {
      oldestReadyAgeMs: readyAgeMs === undefined ? null : Math.max(readyAgeMs ?? 0, dispatcher.oldestWaitingAgeMs()),
      queued: batcher.queued(),
      running: dispatcher.running(),
      breaker: dispatcher.breakerState(),
      commits: batcher.commits(),
      medium: orUndefined(() => store.diagnostics?.(endpoint)) ?? null,
    };
  }

  return {
    async open() {
      await store.open({ endpoint, clock });
      isOpen = true;
      try {
        const { freed, dead } = await store.takeOver({ endpoint, held: [], crashed: true });
        dispatcher.reportCrashed(dead);
        dispatcher.start();
        const { retention, onRetentionError } = config;
        stopRetention = startRetention({ store, endpoint, batcher, clock, retention, onError: onRetentionError });
        return { takenOver: freed };
      } catch (error) {
        isOpen = false;
        await store.close(endpoint);
        throw error;
      }
    },
    drain: dispatcher.drain,
    async close(graceMs) {
      // If `open` failed, another receiver may have this endpoint of the store open, so it is not closed.
      if (!isOpen) return;
      isOpen = false;
      stopRetention?.();
      await dispatcher.close(graceMs);
      await batcher.close();
      await store.close(endpoint);
    },
    hasRoom: (bytes) => batcher.hasRoom(bytes),
    accept,
    vitals,
    completeSql(event) {
      if (store.completeSql === undefined) {
        const message = `handoff.completeSql needs postgresStore, and the store of this receiver is "${store.name}".`;
        throw new SignalboxError(
          "store_unsupported",
          message,
          "docs/idempotent-effects.md shows what other stores need.",
        );
      }
      if (!dispatcher.expectCompletion(event)) {
        const message = "handoff.completeSql was read after the attempt had failed, timed out or ended.";
        throw new SignalboxError(
          "handoff_ended",
          message,
          "Await all work in the callback, and stop at handoff.abortSignal.",
        );
      }
      return store.completeSql(event);
    },
    list: async (query) => store.list({ ...checkOptions("inbox.list", querySchema, query), endpoint }),
    search: async (query) => store.search(endpoint, checkOptions("inbox.search", searchSchema, query)),
    activity: async (query) => store.activity(endpoint, checkOptions("inbox.activity", activitySchema, query)),
    get: (eventId) => store.get(endpoint, eventId),
    replay: ((ids: string | readonly string[]) =>
      move("replay", ids, (eventIds) => replayEvents(store, endpoint, eventIds))) as Inbox["replay"],
    discard: ((ids: string | readonly string[]) =>
      move("discard", ids, (eventIds) =>
        store.discard(eventIds.map((eventId) => ({ endpoint, eventId }))),
      )) as Inbox["discard"],
    async stats() {
      const stats = await store.stats(endpoint);
      const oldestReadyAgeMs = Math.max(stats.oldestReadyAgeMs ?? 0, dispatcher.oldestWaitingAgeMs());
      return { ...stats, ...vitals(), oldestReadyAgeMs };
    },
  };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** Hex is converted to bytes here, because `hash` allocates bytes in native memory, which takes longer than the hashing. */
function sha256(body: Uint8Array): Buffer {
  return Buffer.from(hash("sha256", body, "hex"), "hex");
}

/** Returns undefined for an error of the store, which must not break the application's health route. */
function orUndefined<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const querySchema = z
  .strictObject({
    state: z.enum(EVENT_STATES).optional(),
    type: z.string().optional(),
    afterSeq: z.int().min(0).optional(),
    limit: z.int().min(0).optional(),
  })
  .prefault({});

/** A database may refuse NUL in a text. */
const text = z.string().regex(/^[^\0]*$/, "must not contain NUL");

const searchSchema = z
  .strictObject({
    state: z.enum(EVENT_STATES).optional(),
    type: text.optional(),
    signalType: text.optional(),
    product: text.optional(),
    eventId: text.optional(),
    receivedBefore: z.int().optional(),
    beforeSeq: z.int().min(0).optional(),
    limit: z.int().min(1).max(1000).optional(),
  })
  .prefault({});

const activitySchema = z
  .strictObject({ minutes: z.int().min(1).max(1440).default(1), spans: z.int().min(1).max(1000).default(60) })
  .prefault({});

const STATE_AT_BIRTH = { handOff: "ready", keep: "done", quarantine: "quarantined" } as const;
