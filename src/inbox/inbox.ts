import { hash } from "node:crypto";
import { createBatcher, type BatcherLimits } from "./batcher.js";
import { createDispatcher, type DispatcherConfig } from "./dispatcher.js";
import type { DurationStats } from "../time/durations.js";
import { guarded } from "./guarded.js";
import { replayEvents, type ReplayOutcome } from "./replay.js";
import { startRetention, type RetentionConfig } from "./retention.js";
import type { StoreDiagnostics } from "./store-diagnostics.js";
import type {
  InboxEntry,
  InboxStore,
  ListQuery,
  MoveOutcome,
  ReceivedDelivery,
  StoredEvent,
  StoreStats,
} from "./store.js";

/** What is known at once. */
export interface InboxVitals {
  /** How long the event that waits longest has been due, in milliseconds; 0 when none waits, null when that is not known. */
  oldestReadyAgeMs: number | null;
  /** Events and bytes that wait for their commit. */
  queued: BatcherLimits;
  /** Callbacks that run. */
  running: number;
  /** Whether hand-offs pause because the callback keeps failing. */
  breaker: "closed" | "open" | "probing";
  /** How long commits take, from the first row to the last sync. */
  commits: DurationStats;
  /** The store's own figures; null when it has none, is not open, or fails to give them. */
  medium: StoreDiagnostics | null;
}

/** {@link InboxVitals}, with the number of events in each state. */
export interface InboxStats extends StoreStats, InboxVitals {
  oldestReadyAgeMs: number;
}

/** What a person or a program does with the inbox of a started receiver. Everything concerns its own endpoint only. */
export interface Inbox {
  /** Oldest first. @throws SignalboxError `store_failed` */
  list(query?: Omit<ListQuery, "endpoint">): Promise<InboxEntry[]>;
  /** One event with its headers and bytes. @throws SignalboxError `store_failed` */
  get(eventId: string): Promise<StoredEvent | undefined>;
  /**
   * Hands events off again: `dead`, `done` and `quarantined` ones whose payload is still there.
   */
  replay(eventId: string): Promise<ReplayOutcome>;
  /** The same for several: one outcome for each, in order. */
  replay(eventIds: readonly string[]): Promise<ReplayOutcome[]>;
  /** Gives up `dead` or `quarantined` events: the payload is dropped, the id stays known. */
  discard(eventId: string): Promise<MoveOutcome>;
  /** The same for several: one outcome for each, in order. */
  discard(eventIds: readonly string[]): Promise<MoveOutcome[]>;
  /** Counts the events in each state. @throws SignalboxError `store_failed` */
  stats(): Promise<InboxStats>;
}

/** An authentic event, from the receiver. */
export interface AcceptedInput {
  eventId: string;
  type: string;
  /** `handOff`: to the callback. `keep`: done as soon as stored. `quarantine`: kept for a person, for this reason. */
  fate: { kind: "handOff"; parsed: unknown } | { kind: "keep" } | { kind: "quarantine"; reason: string };
  received: ReceivedDelivery;
  body: Uint8Array;
}

export type Acceptance = { status: "accepted" } | { status: "duplicate"; sameBody: boolean };

export interface InboxConfig extends Omit<DispatcherConfig, "batcher" | "leasesExpire"> {
  store: InboxStore;
  maxQueued: BatcherLimits;
  retention: RetentionConfig;
  onHealth: (failure: unknown) => void;
  onRetentionError: (error: unknown) => void;
}

/** The inbox at work: batcher, dispatcher and retention around one store. */
export interface RunningInbox extends Inbox {
  /** Opens the store and takes over the leases of a process that died. */
  open(): Promise<{ takenOver: number }>;
  close(graceMs: number): Promise<void>;
  hasRoom(bytes: number): boolean;
  /** Resolves once the event is durable. Rejects when that is not known. */
  accept(input: AcceptedInput): Promise<Acceptance>;
  vitals(): InboxVitals;
}

export function createInbox(config: InboxConfig): RunningInbox {
  const { store, endpoint, clock } = config;
  const batcher = createBatcher({
    store,
    clock,
    maxQueued: config.maxQueued,
    onHealth: config.onHealth,
    recover: async () => {
      const { freed } = await store.takeOver({ endpoint, now: clock.now(), held: dispatcher.held(), crashed: false });
      // Not otherwise: a claim is a commit too, and this runs before each commit as long as the store is down.
      if (freed > 0) dispatcher.nudge();
    },
  });
  const dispatcher = createDispatcher({ ...config, batcher, leasesExpire: store.shared });
  let isOpen = false;
  let stopRetention: (() => void) | undefined;

  function accept({ eventId, type, fate, received, body }: AcceptedInput): Promise<Acceptance> {
    const bodyHash = sha256(body);
    const now = clock.now();
    const leaseUntil = dispatcher.leaseUntil();
    // From here on nothing may throw before the slot is given back.
    const leased = fate.kind === "handOff" && dispatcher.reserve();
    const accepted = batcher.accept({
      endpoint,
      eventId,
      type,
      received,
      body,
      state: leased ? "leased" : STATE_AT_BIRTH[fate.kind],
      dueAt: leased ? leaseUntil : now,
      bodyHash,
      reason: fate.kind === "quarantine" ? fate.reason : null,
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
            token: 1,
            attempts: 0,
            crashes: 0,
            received,
            possiblyRepeated: false,
            replayed: false,
            body,
          };
          dispatcher.take({ event, leaseUntil, parsed: fate.parsed });
        } else if (fate.kind === "handOff") dispatcher.nudge();
        return result;
      },
      (error: unknown) => {
        if (leased) dispatcher.unreserve();
        throw error;
      },
    );
  }

  /** Ids in portions: each is one transaction, and the event loop waits for it. */
  async function move<Outcome>(
    ids: string | readonly string[],
    moveAll: (eventIds: readonly string[]) => Promise<Outcome[]>,
  ): Promise<Outcome | Outcome[]> {
    const all = typeof ids === "string" ? [ids] : ids;
    const outcomes: Outcome[] = [];
    for (let from = 0; from < all.length; from += MOVED_AT_ONCE) {
      outcomes.push(...(await moveAll(all.slice(from, from + MOVED_AT_ONCE))));
      dispatcher.nudge();
    }
    return typeof ids === "string" ? (outcomes[0] as Outcome) : outcomes;
  }

  function vitals(): InboxVitals {
    const oldestReadyAt = orUndefined(() => store.oldestReadyAt?.(endpoint));
    return {
      oldestReadyAgeMs: oldestReadyAt === undefined ? null : ageOf(oldestReadyAt),
      queued: batcher.queued(),
      running: dispatcher.running(),
      breaker: dispatcher.breakerState(),
      commits: batcher.commits(),
      medium: orUndefined(() => store.diagnostics?.(endpoint)) ?? null,
    };
  }

  function ageOf(dueAt: number | null): number {
    return dueAt === null ? 0 : Math.max(0, clock.now() - dueAt);
  }

  return {
    async open() {
      const now = clock.now();
      await store.open({ endpoint });
      isOpen = true;
      try {
        const { freed, dead } = await store.takeOver({ endpoint, now, held: new Set(), crashed: true });
        dispatcher.reportCrashed(dead);
        dispatcher.start();
        const { retention, onRetentionError } = config;
        const onError = guarded(onRetentionError);
        stopRetention = startRetention({ store, endpoint, batcher, clock, retention, onError });
        return { takenOver: freed };
      } catch (error) {
        isOpen = false;
        await store.close(endpoint);
        throw error;
      }
    },
    async close(graceMs) {
      // Another receiver may have the same endpoint of this store open: it stays open.
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
    list: (query = {}) => store.list({ ...query, endpoint }),
    get: (eventId) => store.get(endpoint, eventId),
    replay: ((ids: string | readonly string[]) =>
      move(ids, (eventIds) => replayEvents(store, endpoint, eventIds, clock.now()))) as Inbox["replay"],
    discard: ((ids: string | readonly string[]) =>
      move(ids, (eventIds) =>
        store.discard(
          eventIds.map((eventId) => ({ endpoint, eventId })),
          clock.now(),
        ),
      )) as Inbox["discard"],
    async stats() {
      const stats = await store.stats(endpoint);
      return { ...stats, ...vitals(), oldestReadyAgeMs: ageOf(stats.oldestReadyAt) };
    },
  };
}

/** As text first: a hash that is asked for bytes allocates them in native memory, which costs more than the hashing. */
function sha256(body: Uint8Array): Buffer {
  return Buffer.from(hash("sha256", body, "hex"), "hex");
}

/** A store that fails must not take the host's health route down with it. */
function orUndefined<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Events that one transaction of `replay` or `discard` moves. */
const MOVED_AT_ONCE = 500;

const STATE_AT_BIRTH = { handOff: "ready", keep: "done", quarantine: "quarantined" } as const;
