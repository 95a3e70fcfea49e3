import { signalboxCode, ignore } from "../../base/errors.js";
import type { Clock, ClockTimer } from "../../base/time/clock.js";
import { nextTurn, oncePerTurn } from "../../base/time/timers.js";
import type {
  AcceptResult,
  Batch,
  BatchResult,
  ClaimRequest,
  ClaimResult,
  NewEvent,
  Settlement,
  SettleResult,
} from "./batch.js";
import { createDurations } from "./durations.js";
import type { InboxStore } from "./store.js";
import {
  halve,
  takeFirst,
  unwrap,
  type Waiting,
  type WaitingBatch,
  type WaitingSettlement,
} from "./waiting-batch.js";

type CommitEnded = (error: unknown, superseded: number) => void;

/** New events that wait for their commit, or may wait, and the bytes of their bodies. */
export interface BatcherLimits {
  events: number;
  bytes: number;
}

export interface BatcherConfig {
  store: InboxStore;
  endpoint: string;
  clock: Clock;
  maxQueued: BatcherLimits;
  /** Called when events that waited in their lanes are due. */
  onPromoted: () => void;
  /**
   * Called with the error of each failed commit, and with null when commits work again. Like
   * `onCommit`, it must not throw.
   */
  onHealth: (failure: unknown) => void;
  /**
   * Called when a commit begins. What it returns is called at the end, with the error or null, and
   * how many events were superseded.
   */
  onCommit?: ((batch: Batch) => CommitEnded | undefined) | undefined;
  /**
   * Releases leases in the store that no dispatcher holds: a failed commit may have been applied.
   * Runs before every commit after a failure, and before the first one after recovery. Never runs
   * beside another commit.
   */
  recover: () => Promise<void>;
}

/**
 * Delay between two attempts to write settlements while the store is down, or while a callback's
 * transaction is open.
 */
const SETTLE_RETRY_MS = 1000;

/**
 * A full disk refuses new events but accepts settlements. So after new events were refused, the
 * store counts as failing for at least this time, unless a commit with new events succeeds.
 */
const RED_FOR_MS = 10_000;

/**
 * This many new events are committed before the turn ends, so that the disk syncs them while the
 * turn's other requests are read. Otherwise the requests of a sender with a few dozen connections
 * all wait for one sync.
 */
const EARLY_ACCEPTS = 32;

/**
 * A commit waits until a turn of the event loop adds nothing, at most this many. So settlements
 * share the commit of the requests that follow them. When the event loop is idle, a turn takes some
 * microseconds.
 */
const MOST_TURNS = 4;

/**
 * What commits have shown of the store. While it is not `healthy`, each commit recovers first and is
 * the only one in flight.
 *
 *     healthy ──a commit fails──▶ failing ──one takes new events──▶ recovering
 *        ▲                                                              │
 *        └──────────────────── the next one begins ─────────────────────┘
 */
type StoreState = "healthy" | "failing" | "recovering";

/**
 * Collects the writes of receiver and dispatcher into batches for the store. There is no timer:
 * while fewer commits are in flight than the store allows, writes are committed at the end of a
 * turn of the event loop that brings no more (see {@link MOST_TURNS}), or as soon as there are
 * {@link EARLY_ACCEPTS} new events. Otherwise they become the next batch.
 *
 * Commits are answered in the order in which they began. After a failure none begins until none is
 * in flight.
 */
export function createBatcher(config: BatcherConfig) {
  const { store, endpoint, clock, maxQueued, onHealth, onCommit, recover } = config;
  const accepts: Waiting<NewEvent, AcceptResult>[] = [];
  let settlements: WaitingSettlement[] = [];
  let locked: WaitingSettlement[] = [];
  let claim: Waiting<ClaimRequest, ClaimResult> | null = null;
  const durations = createDurations();
  let queuedEvents = 0;
  let queuedBytes = 0;
  let retry: ClockTimer | null = null;
  /** When each commit in flight began, the oldest first. */
  const begun: number[] = [];
  /** Resolves when the newest commit in flight is answered. */
  let answered: Promise<void> = Promise.resolve();
  /** A commit has failed, or recovers first: no other begins until none is in flight. */
  let isDraining = false;
  /**
   * The next batch has settlements alone: the last one failed with new events, and a full disk
   * accepts settlements.
   */
  let settlementsAlone = false;
  let state: StoreState = "healthy";
  /**
   * True while the store rejects claims with `store_row_refused`. Events are accepted, but stored
   * events are not handed off.
   */
  let refusesClaims = false;
  /** When new events were last refused. */
  let refusedAt = -Infinity;
  let closed = false;

  /**
   * How many writes waited at the end of the last turn, and how many turns have brought more since
   * the last commit.
   */
  let counted = 0;
  let turns = 0;
  const commitSoon = oncePerTurn(() => {
    if (!mayBegin() || !isWaiting()) return;
    const count = accepts.length + settlements.length;
    if (count === counted || turns === MOST_TURNS) return run();
    counted = count;
    turns += 1;
    commitSoon();
  });

  function mayBegin(): boolean {
    if (begun.length === 0) return true;
    // Settlements alone wait for new events, or for the end of the commit in flight: they would
    // take the place of a full batch.
    if (accepts.length === 0) return false;
    return !isDraining && state === "healthy" && begun.length < (store.commitsInFlight?.() ?? 1);
  }

  function schedule(): void {
    if (mayBegin()) commitSoon();
  }

  function settleAgainLater(): void {
    // After a close no timer is needed, because the loop in `close` commits the rest.
    if (retry !== null || closed) return;
    retry = clock.setTimeout(() => {
      retry = null;
      takeLocked();
      schedule();
    }, SETTLE_RETRY_MS);
  }

  function takeLocked(): void {
    settlements.push(...locked);
    locked = [];
  }

  function isWaiting(): boolean {
    return accepts.length > 0 || settlements.length > 0 || claim !== null;
  }

  function takeBatch(): WaitingBatch {
    const batch = settlementsAlone
      ? { accepts: [], settlements, claim: null }
      : { accepts: takeFirst(accepts), settlements, claim };
    settlements = [];
    if (!settlementsAlone) claim = null;
    settlementsAlone = false;
    return batch;
  }

  function run(): void {
    counted = turns = 0;
    const mustRecover = state !== "healthy";
    if (mustRecover) isDraining = true;
    if (state === "recovering") state = "healthy";
    begun.push(clock.elapsed());
    const before = answered;
    const committed = commit(takeBatch(), mustRecover, before);
    answered = before.then(() => committed).then(end);
  }

  function end(tellResults: () => void): void {
    begun.shift();
    if (begun.length === 0) isDraining = false;
    // The disk syncs these while the senders of the last batch are answered. After a failure the
    // dispatcher must know first what that batch leased: see `recover`.
    if (accepts.length >= EARLY_ACCEPTS && mayBegin() && state === "healthy") run();
    tellResults();
    if (!mayBegin()) return;
    if (settlementsAlone) run();
    else if (
      accepts.length > 0 ||
      claim !== null ||
      (settlements.length > 0 && state !== "failing")
    )
      schedule();
    else if (settlements.length > 0) settleAgainLater();
  }

  /**
   * Never rejects.
   *
   * @param before resolves when the commit before this one is answered
   * @returns a function that passes the results on
   */
  async function commit(
    waiting: WaitingBatch,
    mustRecover: boolean,
    before: Promise<void>,
  ): Promise<() => void> {
    let result: BatchResult;
    let ended: CommitEnded | undefined;
    try {
      if (mustRecover) {
        // Those that the last commit answered must first hold what it leased.
        await nextTurn();
        await recover();
      }
      const batch = unwrap(endpoint, waiting);
      ended = onCommit?.(batch);
      const beganAt = clock.elapsed();
      result = await store.commit(batch);
      ended?.(null, result.superseded ?? 0);
      if (waiting.accepts.length + waiting.settlements.length > 0)
        durations.add(clock.elapsed() - beganAt);
    } catch (error) {
      isDraining = true;
      ended?.(error, 0);
      await before;
      const halves = isRowError(error) ? halve(waiting) : null;
      if (halves === null) {
        refuse(waiting, error);
        return ignore;
      }
      // Beside another commit none recovers; a later one does, since the store stays `failing`.
      const mayRecover = (): boolean => state === "failing" && begun.length === 1;
      const tellFirstHalf = await commit(halves[0], mayRecover(), before);
      tellFirstHalf();
      return commit(halves[1], mayRecover(), before);
    }
    await before;
    const wasRed = isRed();
    const takesEvents = waiting.accepts.length > 0 || clock.elapsed() - refusedAt > RED_FOR_MS;
    // A commit that began before the failure shows nothing.
    if (state === "failing" && mustRecover && takesEvents) state = "recovering";
    if (waiting.claim !== null) refusesClaims = false;
    if (wasRed && !isRed()) onHealth(null);
    release(waiting.accepts);
    return () => tell(waiting, result);
  }

  function tell(waiting: WaitingBatch, result: BatchResult): void {
    waiting.settlements.forEach((entry, index) => {
      const settled = result.settlements[index] ?? false;
      if (settled === "locked") {
        locked.push(entry);
        settleAgainLater();
      }
      entry.settled(settled);
    });
    waiting.accepts.forEach((entry, index) => entry.resolve(result.accepts[index] as AcceptResult));
    if (waiting.claim !== null && result.claim !== null) waiting.claim.resolve(result.claim);
    if ((result.promoted ?? 0) > 0) config.onPromoted();
  }

  function refuse(waiting: WaitingBatch, error: unknown): void {
    release(waiting.accepts);
    if (waiting.accepts.length > 0) refusedAt = clock.elapsed();
    for (const entry of waiting.accepts) entry.reject(error);
    waiting.claim?.reject(error);
    if (isRowError(error)) {
      for (const { settled } of waiting.settlements) settled(null);
      // Without claims no stored event is handed off, so the refusal counts as a failure of the
      // store.
      if (waiting.claim === null) return;
      refusesClaims = true;
      onHealth(error);
      return;
    }
    state = "failing";
    onHealth(error);
    if (closed && waiting.accepts.length === 0) {
      for (const { settled } of waiting.settlements) settled(null);
      return;
    }
    // Nobody sends a settlement again, so it is kept and written when the store works. If the
    // failed commit did apply it, the store knows (G5).
    settlements = [...waiting.settlements, ...settlements];
    if (settlements.length === 0) return;
    if (waiting.accepts.length > 0) settlementsAlone = true;
    else settleAgainLater();
  }

  function isRed(): boolean {
    return state === "failing" || refusesClaims;
  }

  function release(entries: readonly Waiting<NewEvent, AcceptResult>[]): void {
    queuedEvents -= entries.length;
    for (const { item } of entries) queuedBytes -= item.body.byteLength;
  }

  return {
    /** Whether there is room for another body of this size. */
    hasRoom: (bytes: number): boolean =>
      queuedEvents < maxQueued.events && queuedBytes + bytes <= maxQueued.bytes,
    /** Resolves once the event is durable. Rejects when it might not be. */
    accept(item: NewEvent): Promise<AcceptResult> {
      queuedEvents += 1;
      queuedBytes += item.body.byteLength;
      return new Promise((resolve, reject) => {
        accepts.push({ item, resolve, reject });
        if (accepts.length >= EARLY_ACCEPTS && mayBegin()) run();
        else schedule();
      });
    },
    /**
     * Writes the settlement; while the store is down, it is tried again and again.
     *
     * @param settled called with the result, once the settlement is durable; with null when the
     * store refused it, or was still down when the batcher closed. Called with `locked` for each
     * try that found it so.
     */
    settle(item: Settlement, settled: (result: SettleResult | null) => void): void {
      settlements.push({ item, settled });
      schedule();
    },
    claim(item: ClaimRequest): Promise<ClaimResult> {
      return new Promise((resolve, reject) => {
        claim = { item, resolve, reject };
        schedule();
      });
    },
    /** The durations of commits, from the first row to the last sync. */
    commits: durations.stats,
    /**
     * For how many milliseconds the oldest commit in flight has lasted; 0 when none is in flight.
     */
    inFlightMs: (): number => (begun[0] === undefined ? 0 : clock.elapsed() - begun[0]),
    /** True when nothing waits and no commit is in flight. */
    isIdle: (): boolean => begun.length === 0 && !isWaiting(),
    /** Events and bytes that wait for their commit. */
    queued: (): BatcherLimits => ({ events: queuedEvents, bytes: queuedBytes }),
    /** Writes what waits, unless the store is down, and leaves no timer behind. */
    async close(): Promise<void> {
      closed = true;
      retry?.cancel();
      takeLocked();
      // Each round writes what waits or, if the store fails, drops it.
      while (begun.length > 0 || isWaiting()) {
        if (begun.length === 0) run();
        await answered;
      }
      // A transaction of the application still has these rows.
      for (const { settled } of locked.splice(0)) settled(null);
    },
  };
}

export type Batcher = ReturnType<typeof createBatcher>;

function isRowError(error: unknown): boolean {
  return signalboxCode(error) === "store_row_refused";
}
