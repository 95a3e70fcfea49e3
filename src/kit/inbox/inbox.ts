import { createHash, hash } from "node:crypto";
import { safely, SignalboxError } from "../../base/errors.js";
import type { ClockTimer } from "../../base/time/clock.js";
import { nextTurn, withDeadline } from "../../base/time/timers.js";
import type { AcceptResult, ClaimedEvent, Fact, NewEvent } from "./batch.js";
import { createBatcher, type BatcherConfig, type BatcherLimits } from "./batcher.js";
import { createDispatcher, type DispatcherConfig } from "./dispatch/dispatcher.js";
import { firstIdOf, ownIdOf, createSeenBodies } from "./identity.js";
import type { Lane } from "./lane.js";
import { openInbox, type Inbox, type InboxVitals } from "./open-inbox.js";
import { startRetention, type RetentionConfig } from "./deleting/retention.js";
import type { BodyHashes, InboxStore, ReadAgain } from "./store.js";

/** An authentic event, from the receiver. */
export interface AcceptedInput extends Pick<
  NewEvent,
  "eventId" | "type" | "subtype" | "subject" | "received" | "body"
> {
  /**
   * `handOff`: to the callback. `keep`: stored as `done`. `quarantine`: stored as `quarantined`,
   * with this reason.
   */
  disposition:
    | { kind: "handOff"; parsed: unknown }
    | { kind: "keep"; reason: string | null }
    | { kind: "quarantine"; reason: string };
  /** Null: it has no order. */
  lane: Lane | null;
}

export type Acceptance = ({ status: "accepted" } | { status: "duplicate"; sameBody: boolean }) & {
  /**
   * The id under which it is stored, where that is not the one that was delivered: another event
   * has that.
   */
  ownId?: string | undefined;
  /** Its bytes were seen lately under another id. */
  isRepeated?: boolean;
};

export interface InboxConfig extends Omit<DispatcherConfig, "batcher" | "shared" | "leasedSince"> {
  store: InboxStore;
  /** The receiver has the option `order`. */
  ordered: boolean;
  /** The receiver has the option `tenant`, so each id begins with one. */
  hasTenants: boolean;
  endpoint: string;
  /** Null for the default one. */
  sender: string | null;
  /** As the sender has them. */
  unsignedId: boolean;
  unsignedFacts: readonly Fact[];
  repeatedBody: "keep" | "drop";
  readAgain: ReadAgain;
  maxQueued: BatcherLimits;
  retention: RetentionConfig;
  /**
   * Called with the error of a failed commit, and with null when commits work again. Like
   * `onRetentionError`, it must not throw.
   */
  onHealth: (failure: unknown) => void;
  onCommit: BatcherConfig["onCommit"];
  onRetentionError: (error: unknown) => void;
}

/** A store with its batcher, dispatcher and retention. */
export function createInbox(config: InboxConfig) {
  const { store, endpoint, clock } = config;
  const batcher = createBatcher({
    store,
    endpoint,
    clock,
    maxQueued: config.maxQueued,
    onHealth: config.onHealth,
    onPromoted: () => dispatcher.nudge(),
    onCommit: config.onCommit,
    recover: async () => {
      const { freed } = await store.reclaim({ endpoint, held: dispatcher.held(), crashed: false });
      // While the store is down this runs before each commit, and `nudge` causes a commit. Without
      // the condition the commits would never end.
      if (freed > 0) dispatcher.nudge();
    },
  });
  const dispatcher = createDispatcher({
    ...config,
    batcher,
    shared: store.shared,
    leasedSince: () => store.leasedSince?.(endpoint) ?? -Infinity,
  });
  const dropsRepeated = config.repeatedBody === "drop";
  const seen = config.unsignedId && !dropsRepeated ? createSeenBodies() : null;
  let isOpen = false;
  let stopRetention: (() => void) | undefined;
  let tending: ClockTimer | undefined;
  /** How many events waited in their lanes at the last look. */
  let inLanes = 0;

  /** Resolves once the event is durable. Rejects when it might not be. */
  function accept(input: AcceptedInput): Promise<Acceptance> {
    // Hex is converted to bytes here, because `hash` allocates bytes in native memory, which takes
    // longer than the hashing.
    const bodyHash = Buffer.from(hash("sha256", input.body, "hex"), "hex");
    return config.unsignedId ? acceptUnsigned(input, bodyHash) : add(input, bodyHash, null, false);
  }

  /**
   * Whoever has a captured delivery can give it any unsigned id, type and subject. So a stored
   * event makes a duplicate only of a delivery that is the same in everything, and another one with
   * its id is stored too.
   */
  async function acceptUnsigned(input: AcceptedInput, bodyHash: Uint8Array): Promise<Acceptance> {
    const { unsignedFacts } = config;
    const { eventId: givenId, type, subtype, subject, disposition, lane, received, body } = input;
    const identity = { eventId: givenId, type, subtype, subject, bodyHash };
    const content = contentOf(givenId, bodyHash);
    const isRepeated = seen?.add(content) ?? false;
    let eventId = firstIdOf(identity, unsignedFacts);
    let contentKey = dropsRepeated ? contentKeyOf(type, content) : null;
    try {
      for (;;) {
        const event = { eventId, type, subtype, subject, disposition, lane, received, body };
        const result = await add(event, bodyHash, contentKey, isRepeated);
        const isSame =
          result.status === "accepted" ||
          result.isBackfilled ||
          (result.sameBody && !result.differing.some((fact) => unsignedFacts.includes(fact)));
        const otherThan = isSame ? null : result.otherThan;
        // The API writes a body in another way than a delivery, so of what came by it the id alone
        // counts, as of what is stored by it.
        const ownId =
          otherThan === "id" && received.backfilled !== true
            ? ownIdOf(identity, unsignedFacts)
            : eventId;
        if (otherThan === "content") contentKey = null;
        else if (ownId !== eventId) eventId = ownId;
        else return { ...result, ownId: eventId === givenId ? undefined : eventId, isRepeated };
      }
    } catch (error) {
      if (!isRepeated) seen?.forget(content);
      throw error;
    }
  }

  function add(
    input: AcceptedInput,
    bodyHash: Uint8Array,
    contentKey: Uint8Array | null,
    possiblyRepeated: boolean,
  ): Promise<AcceptResult> {
    const { eventId, type, disposition, subtype, subject, lane, received, body } = input;
    const leasedAt = clock.elapsed();
    // Until the slot is freed nothing may throw; otherwise the slot would be lost.
    const quiet = lane?.burst ?? null;
    const leased = disposition.kind === "handOff" && quiet === null && dispatcher.reserve();
    const accepted = batcher.accept({
      eventId,
      type,
      received,
      body,
      state: leased ? "leased" : STATE_AT_BIRTH[disposition.kind],
      leaseMs: leased ? dispatcher.leaseMs : null,
      bodyHash,
      reason: disposition.kind === "handOff" ? null : disposition.reason,
      subtype,
      subject,
      sender: config.sender,
      contentKey,
      possiblyRepeated,
      lane,
    });
    return accepted.then(
      (result) => {
        if (result.status === "duplicate") {
          if (leased) dispatcher.unreserve();
          return result;
        }
        if (leased && result.token === 0) {
          dispatcher.unreserve();
          if (lane != null) dispatcher.waitsInLane(lane.key);
        } else if (leased) {
          const event = {
            seq: result.seq,
            eventId,
            type,
            sender: config.sender,
            token: result.token,
            attempts: 0,
            possiblyRepeated,
            replayed: false,
            lane: lane?.key ?? null,
            dueForMs: 0,
            received,
            body,
          };
          dispatcher.take({ event, leasedAt, parsed: disposition.parsed });
        } else if (disposition.kind === "handOff") dispatcher.dueIn(quiet?.quietMs ?? 0);
        return result;
      },
      (error: unknown) => {
        if (leased) dispatcher.unreserve();
        throw error;
      },
    );
  }

  /** Makes due what waits in a lane whose head has ended, and so has nothing to wait for. */
  async function tendLanes(): Promise<void> {
    let delayMs = TEND_EVERY_MS;
    try {
      const { promoted, isAtEnd, waiting } = await store.tendLanes(endpoint, config.ordered);
      if (promoted > 0) dispatcher.nudge();
      inLanes = waiting ?? inLanes;
      if (!isAtEnd) delayMs = TEND_SOON_MS;
    } catch {
      // The batcher tells that the store fails.
    }
    if (isOpen) tending = clock.setTimeout(() => void tendLanes(), delayMs);
  }

  /** What makes two bodies one: the same bytes for another tenant are others. */
  function contentOf(eventId: string, bodyHash: Uint8Array): Uint8Array {
    return config.hasTenants ? contentKeyOf(eventId.replace(/\/.*/s, ""), bodyHash) : bodyHash;
  }

  /** So that a body that was stored before the start is known as repeated. */
  async function rememberBodies(): Promise<void> {
    if (seen === null) return;
    let beforeSeq: number | null = Number.MAX_SAFE_INTEGER;
    for (let portion = 0; beforeSeq !== null && portion < MOST_PORTIONS; portion += 1) {
      const found: BodyHashes = await store.bodyHashes(endpoint, beforeSeq, PORTION);
      const hasRoom = found.hashes.every(({ eventId, bodyHash }) =>
        seen.addOlder(contentOf(eventId, bodyHash)),
      );
      beforeSeq = hasRoom ? found.nextBeforeSeq : null;
      await nextTurn();
    }
  }

  function vitals(): InboxVitals {
    // An error of the store must not break the application's health route.
    const oldest = safely(() => store.oldestReady?.(endpoint), undefined);
    return {
      oldestReadyAgeMs:
        oldest === undefined
          ? null
          : Math.max(oldest.oldestReadyAgeMs ?? 0, dispatcher.oldestWaitingAgeMs()),
      oldestReceivedAgeMs: oldest === undefined ? null : (oldest.oldestReceivedAgeMs ?? 0),
      pause: dispatcher.pause(),
      waiting: inLanes,
      queued: batcher.queued(),
      running: dispatcher.running(),
      paused: dispatcher.pausedBy(),
      breaker: dispatcher.breakerState(),
      commitInFlightMs: batcher.inFlightMs(),
      commits: batcher.commits(),
      shortage: safely(() => store.shortage?.(config.concurrency), null) ?? null,
      medium: safely(() => store.diagnostics?.(endpoint), null) ?? null,
    };
  }

  const opened = openInbox(store, endpoint, () => config.readAgain, { ...dispatcher, vitals });
  const { endpoint: _endpoint, state: _state, retry: _retry, ...operations } = opened;
  /** As `receiver.inbox`. */
  const reader: Inbox = {
    ...operations,
    async stats() {
      const stats = await store.stats(endpoint);
      const oldestReadyAgeMs = Math.max(
        stats.oldestReadyAgeMs ?? 0,
        dispatcher.oldestWaitingAgeMs(),
      );
      const oldestReceivedAgeMs = stats.oldestReceivedAgeMs ?? 0;
      return { ...vitals(), ...stats, oldestReadyAgeMs, oldestReceivedAgeMs };
    },
  };

  return {
    /** Opens the store and reclaims the leases of a process that died. */
    async open(): Promise<{ reclaimed: number }> {
      await store.open({ endpoint, clock });
      isOpen = true;
      try {
        const { freed, dead } = await store.reclaim({ endpoint, held: [], crashed: true });
        dispatcher.reportCrashed(dead);
        await rememberBodies();
        dispatcher.start();
        await tendLanes();
        const { retention, onRetentionError } = config;
        stopRetention = startRetention({
          store,
          endpoint,
          batcher,
          clock,
          retention,
          onError: onRetentionError,
        });
        return { reclaimed: freed };
      } catch (error) {
        isOpen = false;
        // The error of `open` says what is wrong; one of `close` would hide it.
        await store.close(endpoint).catch(() => undefined);
        throw error;
      }
    },
    drain: dispatcher.drain,
    /**
     * @returns false when the store has not answered: its files or connections stay open until the
     * process ends
     */
    async close(graceMs: number): Promise<boolean> {
      // If `open` failed, another receiver may have this endpoint of the store open, so it is not
      // closed.
      if (!isOpen) return true;
      isOpen = false;
      stopRetention?.();
      tending?.cancel();
      const closed = (async () => {
        await dispatcher.close(graceMs);
        await batcher.close();
        await store.close(endpoint);
        return true;
      })();
      return withDeadline(closed, clock, graceMs + CLOSE_MARGIN_MS, false);
    },
    hasRoom: batcher.hasRoom,
    accept,
    vitals,
    pause: dispatcher.pause,
    saveReport: (reporter: string, report: string, isKnown: boolean) =>
      store.saveReport(endpoint, reporter, report, isKnown),
    /**
     * `handoff.completeSql` of a running attempt. @throws SignalboxError `store_unsupported`,
     * `handoff_ended`
     */
    completeSql(this: void, event: ClaimedEvent): string {
      if (store.completeSql === undefined) {
        const message = `handoff.completeSql needs postgresStore, and the store of this receiver is "${store.name}".`;
        const help = "docs/idempotent-effects.md of the package shows what other stores need.";
        throw new SignalboxError("store_unsupported", message, help);
      }
      if (!dispatcher.expectCompletion(event)) {
        const message =
          "handoff.completeSql was read after the attempt had failed, timed out or ended.";
        const help = "Await all work in the callback, and stop at handoff.abortSignal.";
        throw new SignalboxError("handoff_ended", message, help);
      }
      return store.completeSql(event);
    },
    reader,
    opened,
  };
}

export type RunningInbox = ReturnType<typeof createInbox>;

/** How often lanes are looked at, and after what delay when there are more of them. */
const TEND_EVERY_MS = 60_000;
const TEND_SOON_MS = 100;

/** The store reads so many events at a time for their bodies' hashes, and so many times. */
const PORTION = 1000;
const MOST_PORTIONS = 200;

/** A disk or a database that does not answer must not keep the process from ending. */
const CLOSE_MARGIN_MS = 15_000;

/**
 * With the type, because some senders send one body under two types, such as an order that is
 * created and paid.
 */
function contentKeyOf(type: string, bodyHash: Uint8Array): Uint8Array {
  return createHash("sha256").update(`${type}\n`).update(bodyHash).digest();
}

const STATE_AT_BIRTH = { handOff: "ready", keep: "done", quarantine: "quarantined" } as const;
