import { hash } from "node:crypto";
import { createBatcher, type BatcherLimits } from "./batcher.js";
import { createDispatcher, type DispatcherConfig } from "./dispatcher.js";
import type { DurationStats } from "./durations.js";
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
import { createWaiters, type WaitForOptions } from "./wait-for.js";

/** What can be told at once. */
export interface InboxVitals {
  /** How long the event that waits longest has been due, in milliseconds; 0 when none waits. */
  oldestReadyAgeMs: number;
  /** Events and bytes that wait for their commit. */
  queued: BatcherLimits;
  /** Callbacks that run. */
  running: number;
  /** Whether hand-offs are held back because the callback keeps failing. */
  breaker: "closed" | "open" | "probing";
  /** How long commits take, from the first row to the last sync. */
  commits: DurationStats;
  /** What the store tells of its medium; null when it tells nothing or is not open. */
  medium: Omit<StoreDiagnostics, "oldestReadyAt"> | null;
}

/** {@link InboxVitals}, with the number of events in each state. */
export interface InboxStats extends StoreStats, InboxVitals {}

/** What a person or a program does with the inbox of a started receiver. All of it is about its endpoint alone. */
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
  /**
   * Waits until an event is done, or in the state that is asked for; it need not have arrived yet. For tests: what a
   * program has to know, the events of `receiver.on` tell.
   *
   * @throws SignalboxError `wait_failed` when the time is over, the receiver is closed, or the event ended in another
   * state (dead instead of done), at once; the message has the state it is in and the text of its last error
   * @throws SignalboxError `store_failed`, `option_invalid`
   * @example
   * await receiver.inbox.waitFor(event.id);
   * await receiver.inbox.waitFor(event.id, { state: "dead" });
   */
  waitFor(eventId: string, options?: WaitForOptions): Promise<StoredEvent>;
}

/** What the receiver gives to the inbox. */
export interface AcceptedInput {
  eventId: string;
  type: string;
  /** `handOff`: to the callback. `keep`: done as soon as stored. `quarantine`: kept for a person, for this reason. */
  fate: { kind: "handOff"; parsed: unknown } | { kind: "keep" } | { kind: "quarantine"; reason: string };
  received: ReceivedDelivery;
  body: Uint8Array;
}

export type Acceptance = { status: "accepted" } | { status: "duplicate"; sameBody: boolean };

export interface InboxConfig extends Omit<DispatcherConfig, "batcher" | "leasesExpire" | "onSettled"> {
  store: InboxStore;
  maxQueued: BatcherLimits;
  retention: RetentionConfig;
  onHealth: (failure: unknown) => void;
  onRetentionError: (error: unknown) => void;
}

/** The inbox at work: batcher, dispatcher and retention around one store. */
export interface RunningInbox extends Inbox {
  /** Opens the store and takes over what a dead predecessor held. */
  open(): Promise<{ takenOver: number }>;
  close(graceMs: number): Promise<void>;
  hasRoom(bytes: number): boolean;
  /** Resolves once the event is durable. Rejects when it is not known to be. */
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
      // Only then: a claim is a commit too, and this runs before each as long as the store is down.
      if (freed > 0) dispatcher.nudge();
    },
  });
  const waiters = createWaiters({ get: (eventId) => store.get(endpoint, eventId), now: () => clock.now() });
  const dispatcher = createDispatcher({
    ...config,
    batcher,
    leasesExpire: store.shared,
    onSettled: waiters.changed,
  });
  let isOpen = false;
  let stopRetention: (() => void) | undefined;

  function accept({ eventId, type, fate, received, body }: AcceptedInput): Promise<Acceptance> {
    const bodyHash = sha256(body);
    const now = clock.now();
    const leaseUntil = dispatcher.leaseUntil();
    // From here on nothing throws before the slot is given back.
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
        waiters.changed(eventId);
        return result;
      },
      (error: unknown) => {
        if (leased) dispatcher.unreserve();
        throw error;
      },
    );
  }

  async function each<Outcome>(
    ids: string | readonly string[],
    act: (eventIds: readonly string[]) => Promise<Outcome[]>,
  ): Promise<Outcome | Outcome[]> {
    const outcomes = await act(typeof ids === "string" ? [ids] : ids);
    dispatcher.nudge();
    return typeof ids === "string" ? (outcomes[0] as Outcome) : outcomes;
  }

  function vitals(): InboxVitals {
    const diagnostics = diagnose();
    const { oldestReadyAt, ...medium } = diagnostics ?? { oldestReadyAt: null };
    return {
      oldestReadyAgeMs: ageOf(oldestReadyAt),
      queued: batcher.queued(),
      running: dispatcher.running(),
      breaker: dispatcher.breakerState(),
      commits: batcher.commits(),
      medium: diagnostics === null ? null : (medium as Omit<StoreDiagnostics, "oldestReadyAt">),
    };
  }

  /** A store that cannot even say how it is must not take the host's health route down with it. */
  function diagnose(): StoreDiagnostics | null {
    try {
      return store.diagnostics?.(endpoint) ?? null;
    } catch {
      return null;
    }
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
        const { retention, onRetentionError: onError } = config;
        stopRetention = startRetention({ store, endpoint, batcher, clock, retention, onError });
        return { takenOver: freed };
      } catch (error) {
        isOpen = false;
        await store.close(endpoint);
        throw error;
      }
    },
    async close(graceMs) {
      // What another receiver has open on the same store stays open.
      if (!isOpen) return;
      isOpen = false;
      stopRetention?.();
      await dispatcher.close(graceMs);
      await batcher.close();
      await waiters.close();
      await store.close(endpoint);
    },
    hasRoom: (bytes) => batcher.hasRoom(bytes),
    accept,
    vitals,
    list: (query = {}) => store.list({ ...query, endpoint }),
    get: (eventId) => store.get(endpoint, eventId),
    waitFor: waiters.waitFor,
    replay: ((ids: string | readonly string[]) =>
      each(ids, (eventIds) => replayEvents(store, endpoint, eventIds, clock.now()))) as Inbox["replay"],
    discard: ((ids: string | readonly string[]) =>
      each(ids, (eventIds) =>
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

/** By way of text: a hash that is asked for bytes makes memory of its own for them, which costs more than the hashing. */
function sha256(body: Uint8Array): Buffer {
  return Buffer.from(hash("sha256", body, "hex"), "hex");
}

const STATE_AT_BIRTH = { handOff: "ready", keep: "done", quarantine: "quarantined" } as const;
