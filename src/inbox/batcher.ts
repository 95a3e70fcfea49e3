import type { Clock, ClockTimer } from "../time/clock.js";
import { oncePerTurn } from "../time/timers.js";
import { signalboxCode } from "../errors.js";
import { createDurations, type DurationStats } from "../time/durations.js";
import type {
  AcceptResult,
  Batch,
  BatchResult,
  ClaimRequest,
  ClaimResult,
  InboxStore,
  NewEvent,
  Settlement,
  SettleResult,
} from "./store.js";
import { halve, unwrap, type Waiting, type WaitingBatch, type WaitingSettlement } from "./waiting-batch.js";

/** How many new events wait for their commit, or how many are allowed to wait. */
export interface BatcherLimits {
  events: number;
  /** Bytes of their bodies. */
  bytes: number;
}

export interface BatcherConfig {
  store: InboxStore;
  endpoint: string;
  clock: Clock;
  maxQueued: BatcherLimits;
  /** Called with the error of each failed commit, and with null when commits work again. Must not throw. */
  onHealth: (failure: unknown) => void;
  /** Called when a commit begins. What it returns is called at the end, with the error or null. Must not throw. */
  onCommit?: ((batch: Batch) => ((error: unknown) => void) | undefined) | undefined;
  /**
   * Frees events that are `leased` in the store but that no dispatcher has, because a failed commit may have been applied.
   * Runs before each commit while the store fails, and once more afterwards: a failed commit may have settled an event and
   * claimed it again, and the dispatcher holds that event under its old lease until the settlement is repeated. No other commit
   * is in flight, and the dispatcher holds everything that earlier commits leased.
   */
  recover: () => Promise<void>;
}

/** Delay between two attempts to write settlements while the store is down, or while a callback's transaction is open. */
const SETTLE_RETRY_MS = 1000;

/**
 * A full disk refuses new events but accepts settlements. So after new events were refused, the store counts as failing for
 * at least this time, unless a commit with new events succeeds.
 */
const RED_FOR_MS = 10_000;

/**
 * This many new events are committed before the turn ends, so that the disk syncs them while the turn's other requests are
 * read. Otherwise the requests of a sender with a few dozen connections all wait for one sync.
 */
const EARLY_ACCEPTS = 32;

/**
 * Writes wait for a turn that brings no more, but not for more turns than this. When the event loop is idle a turn takes some
 * microseconds. Without it settlements would often be a commit by themselves, and the new events behind them wait for its sync.
 */
const MOST_TURNS = 4;

/** At most this many new events, and bytes of their bodies, go into one commit, so that it blocks for about 3 ms. */
const MOST_ACCEPTS = 256;
const MOST_BYTES = 1024 * 1024;

/**
 * Collects the writes of receiver and dispatcher into batches for the store. Writes that arrive while a commit is in flight
 * become the next batch. There is no timer: while no commit is in flight, writes are committed at the end of a turn of the
 * event loop that brings no more (see {@link MOST_TURNS}), or as soon as there are {@link EARLY_ACCEPTS} new events.
 */
export interface Batcher {
  /** Whether there is room for another body of this size. */
  hasRoom(bytes: number): boolean;
  /** Resolves once the event is durable. Rejects when it might not be. */
  accept(event: NewEvent): Promise<AcceptResult>;
  /**
   * Writes the settlement; while the store is down, it is tried again and again.
   *
   * @param settled called with the result, once the settlement is durable; with null when the store refused it, or was still
   * down when the batcher closed. Called with `locked` for each try that found it so.
   */
  settle(settlement: Settlement, settled: (result: SettleResult | null) => void): void;
  claim(request: ClaimRequest): Promise<ClaimResult>;
  /** The durations of commits, from the first row to the last sync. */
  commits(): DurationStats;
  /** True when nothing waits and no commit is in flight. */
  isIdle(): boolean;
  /** Events and bytes that wait for their commit. */
  queued(): BatcherLimits;
  /** Writes what waits, unless the store is down, and leaves no timer behind. */
  close(): Promise<void>;
}

export function createBatcher(config: BatcherConfig): Batcher {
  const { store, endpoint, clock, maxQueued, onHealth, onCommit, recover } = config;
  let accepts: Waiting<NewEvent, AcceptResult>[] = [];
  let settlements: WaitingSettlement[] = [];
  let locked: WaitingSettlement[] = [];
  let claim: Waiting<ClaimRequest, ClaimResult> | null = null;
  const durations = createDurations();
  let queuedEvents = 0;
  let queuedBytes = 0;
  let retry: ClockTimer | null = null;
  let inFlight: Promise<void> | null = null;
  let failing = false;
  /** True from the end of a failure until the next batch. */
  let hasFailed = false;
  /** True while the store rejects claims with `store_row_refused`. Events are accepted, but stored events are not handed off. */
  let refusesClaims = false;
  /** When new events were last refused. */
  let refusedAt = -Infinity;
  let closed = false;

  /** How many writes waited at the end of the last turn, and how many turns have brought more since the last commit. */
  let counted = 0;
  let turns = 0;

  const commitSoon = oncePerTurn(() => {
    if (inFlight !== null || !isWaiting()) return;
    const count = accepts.length + settlements.length;
    if (count === counted || turns === MOST_TURNS) {
      void run();
      return;
    }
    counted = count;
    turns += 1;
    commitSoon();
  });

  function schedule(): void {
    if (inFlight === null) commitSoon();
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

  /** Limits the size of a commit, since it writes rows on the event loop, which must not wait long. */
  function takeAccepts(): Waiting<NewEvent, AcceptResult>[] {
    let bytes = 0;
    const tooMany = accepts.findIndex(({ item }, index) => {
      bytes += item.body.byteLength;
      return index > 0 && (index >= MOST_ACCEPTS || bytes > MOST_BYTES);
    });
    if (tooMany !== -1) return accepts.splice(0, tooMany);
    const all = accepts;
    accepts = [];
    return all;
  }

  /** Commits what waits as one batch. Never rejects. */
  function run(): Promise<void> {
    counted = turns = 0;
    const batch = { accepts: takeAccepts(), settlements, claim };
    settlements = [];
    claim = null;
    const mustRecover = failing || hasFailed;
    hasFailed = false;
    inFlight = commit(batch, mustRecover).then((tellResults) => {
      inFlight = null;
      // The disk syncs these while the senders of the last batch are answered. After a failure the dispatcher must know first
      // what that batch leased: see `recover`.
      if (accepts.length >= EARLY_ACCEPTS && !failing && !hasFailed) void run();
      tellResults();
      if (accepts.length > 0 || claim !== null || (settlements.length > 0 && !failing)) schedule();
    });
    return inFlight;
  }

  /** @returns a function that passes the results on */
  async function commit(waiting: WaitingBatch, mustRecover = failing): Promise<() => void> {
    let result: BatchResult;
    let ended: ((error: unknown) => void) | undefined;
    try {
      if (mustRecover) await recover();
      const batch = unwrap(endpoint, waiting);
      ended = onCommit?.(batch);
      const beganAt = clock.elapsed();
      result = await store.commit(batch);
      ended?.(null);
      if (waiting.accepts.length + waiting.settlements.length > 0) durations.add(clock.elapsed() - beganAt);
    } catch (error) {
      ended?.(error);
      const halves = isRowError(error) ? halve(waiting) : null;
      if (halves === null) {
        await refuse(waiting, error);
        return ignore;
      }
      (await commit(halves[0]))();
      return commit(halves[1]);
    }
    const wasRed = failing || refusesClaims;
    if (failing && (waiting.accepts.length > 0 || clock.elapsed() - refusedAt > RED_FOR_MS)) {
      failing = false;
      hasFailed = true;
    }
    if (waiting.claim !== null) refusesClaims = false;
    if (wasRed && !failing && !refusesClaims) onHealth(null);
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
  }

  async function refuse(waiting: WaitingBatch, error: unknown): Promise<void> {
    release(waiting.accepts);
    if (waiting.accepts.length > 0) refusedAt = clock.elapsed();
    for (const entry of waiting.accepts) entry.reject(error);
    waiting.claim?.reject(error);
    if (isRowError(error)) {
      for (const { settled } of waiting.settlements) settled(null);
      // Without claims no stored event is handed off, so the refusal counts as a failure of the store.
      if (waiting.claim === null) return;
      refusesClaims = true;
      onHealth(error);
      return;
    }
    failing = true;
    onHealth(error);
    if (closed && waiting.accepts.length === 0) {
      for (const { settled } of waiting.settlements) settled(null);
      return;
    }
    // Nobody sends a settlement again, so it is kept and written when the store works. If the failed commit did apply it, the
    // store knows (G5).
    if (waiting.accepts.length > 0 && waiting.settlements.length > 0) {
      // A full disk accepts settlements, which only overwrite. So they are tried again without the new events.
      (await commit({ accepts: [], settlements: waiting.settlements, claim: null }))();
      return;
    }
    settlements = [...waiting.settlements, ...settlements];
    if (settlements.length > 0) settleAgainLater();
  }

  function release(entries: readonly Waiting<NewEvent, AcceptResult>[]): void {
    queuedEvents -= entries.length;
    for (const { item } of entries) queuedBytes -= item.body.byteLength;
  }

  return {
    hasRoom: (bytes) => queuedEvents < maxQueued.events && queuedBytes + bytes <= maxQueued.bytes,
    accept(item) {
      queuedEvents += 1;
      queuedBytes += item.body.byteLength;
      return new Promise((resolve, reject) => {
        accepts.push({ item, resolve, reject });
        if (accepts.length >= EARLY_ACCEPTS && inFlight === null) void run();
        else schedule();
      });
    },
    settle(item, settled) {
      settlements.push({ item, settled });
      schedule();
    },
    claim(item) {
      return new Promise((resolve, reject) => {
        claim = { item, resolve, reject };
        schedule();
      });
    },
    commits: durations.stats,
    isIdle: () => inFlight === null && !isWaiting(),
    queued: () => ({ events: queuedEvents, bytes: queuedBytes }),
    async close() {
      closed = true;
      retry?.cancel();
      takeLocked();
      // Each round writes what waits or, if the store fails, drops it.
      while (inFlight !== null || isWaiting()) await (inFlight ?? run());
      // A transaction of the application still has these rows.
      for (const { settled } of locked.splice(0)) settled(null);
    },
  };
}

function ignore(): void {}

function isRowError(error: unknown): boolean {
  return signalboxCode(error) === "store_row_refused";
}
