import type { Clock, ClockTimer } from "../time/clock.js";
import { oncePerTurn } from "../time/timers.js";
import { isSignalboxError } from "../errors.js";
import { createDurations, type DurationStats } from "../time/durations.js";
import { guarded } from "./guarded.js";
import type {
  AcceptResult,
  Batch,
  BatchResult,
  ClaimRequest,
  ClaimResult,
  InboxStore,
  NewEvent,
  Settlement,
} from "./store.js";

/** New events before their commit: how many there are, or may be. */
export interface BatcherLimits {
  events: number;
  /** Bytes of their bodies. */
  bytes: number;
}

export interface BatcherConfig {
  store: InboxStore;
  clock: Clock;
  maxQueued: BatcherLimits;
  /** Called with the error of every commit that failed, and with null for the first that worked again. */
  onHealth: (failure: unknown) => void;
  /**
   * Runs before the first commit after one that failed. The failed one may have been applied: then its events are in the
   * store, born leased, and no dispatcher has them. At that moment no other commit is in flight.
   */
  recover: () => Promise<void>;
}

/** How long to wait between two tries to write settlements while the store is down. */
const SETTLE_RETRY_MS = 1000;

/**
 * A full disk refuses new events and takes settlements. So a commit without new events makes health green only this long
 * after new events were refused.
 */
const RED_FOR_MS = 10_000;

/**
 * So many new events do not wait for the turn to end: the disk syncs them while the rest of the turn's requests are read.
 * Otherwise a sender with a few dozen connections has all of them wait for one sync, and the loop with them.
 */
const EARLY_ACCEPTS = 32;

/** New events of one commit, and bytes of their bodies: about 3 ms of work. */
const MOST_ACCEPTS = 256;
const MOST_BYTES = 1024 * 1024;

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** A callback and no promise, which would cost each event. */
interface WaitingSettlement {
  item: Settlement;
  settled: (applied: boolean | null) => void;
}

/**
 * Stands between receiver, dispatcher and store: what arrives while a commit is in flight is the next batch. There is no
 * timer: the first event of an idle inbox is committed at the end of the event loop's turn that brought it, together with
 * the others of that turn; past a few dozen, at once.
 */
export interface Batcher {
  /** Whether another body of this size fits; ask before reading one. */
  hasRoom(bytes: number): boolean;
  /** Resolves once the event is durable. Rejects when that is not known. */
  accept(event: NewEvent): Promise<AcceptResult>;
  /**
   * Writes it, however long the store is down.
   *
   * @param settled called once it is durable, with whether its token was current; with null when the batcher closed before,
   * or the store refuses it
   */
  settle(settlement: Settlement, settled: (applied: boolean | null) => void): void;
  claim(request: ClaimRequest): Promise<ClaimResult>;
  /** How long commits take, from the first row to the last sync. */
  commits(): DurationStats;
  /** Nothing waits and nothing is in flight. */
  isIdle(): boolean;
  /** Events and bytes that wait for their commit. */
  queued(): BatcherLimits;
  /** Writes what waits, if the store takes it, and leaves no timer behind. */
  close(): Promise<void>;
}

export function createBatcher({ store, clock, maxQueued, onHealth, recover }: BatcherConfig): Batcher {
  const reportHealth = guarded(onHealth);
  let accepts: Waiting<NewEvent, AcceptResult>[] = [];
  let settlements: WaitingSettlement[] = [];
  let claim: Waiting<ClaimRequest, ClaimResult> | null = null;
  /** Settlements of a failed commit, which may have applied them. */
  const maybeApplied = new WeakSet<WaitingSettlement>();
  const durations = createDurations();
  let queuedEvents = 0;
  let queuedBytes = 0;
  let retry: ClockTimer | null = null;
  let inFlight: Promise<void> | null = null;
  let failing = false;
  /** When new events were last refused. */
  let refusedAt = -Infinity;
  let closed = false;

  const commitSoon = oncePerTurn(() => {
    if (inFlight === null && isWaiting()) void run();
  });

  function schedule(): void {
    if (inFlight === null) commitSoon();
  }

  function isWaiting(): boolean {
    return accepts.length > 0 || settlements.length > 0 || claim !== null;
  }

  /** As many as one commit takes: its rows are written on the event loop, which must not wait long. */
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

  /** One batch with what waits. Never rejects. */
  function run(): Promise<void> {
    const batch = { accepts: takeAccepts(), settlements, claim };
    settlements = [];
    claim = null;
    inFlight = commit(batch).then(() => {
      inFlight = null;
      if (accepts.length > 0 || claim !== null || (settlements.length > 0 && !failing)) schedule();
    });
    return inFlight;
  }

  async function commit(waiting: WaitingBatch): Promise<void> {
    let result: BatchResult;
    try {
      if (failing) await recover();
      const beganAt = clock.elapsed();
      result = await store.commit(unwrap(waiting));
      if (waiting.accepts.length + waiting.settlements.length > 0) durations.add(clock.elapsed() - beganAt);
    } catch (error) {
      const halves = isRowError(error) ? halve(waiting) : null;
      if (halves === null) {
        await refuse(waiting, error);
        return;
      }
      await commit(halves[0]);
      await commit(halves[1]);
      return;
    }
    if (failing && (waiting.accepts.length > 0 || clock.elapsed() - refusedAt > RED_FOR_MS)) {
      failing = false;
      reportHealth(null);
    }
    release(waiting.accepts);
    waiting.settlements.forEach((entry, index) => {
      // `false` does not mean that the lease was lost when a failed commit may have applied the settlement already.
      entry.settled(result.settlements[index] === true || maybeApplied.has(entry));
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
      return;
    }
    failing = true;
    reportHealth(error);
    if (closed && waiting.accepts.length === 0) {
      for (const { settled } of waiting.settlements) settled(null);
      return;
    }
    // No sender repeats a settlement: it is kept, and written when the store works again.
    for (const entry of waiting.settlements) maybeApplied.add(entry);
    if (waiting.accepts.length > 0 && waiting.settlements.length > 0) {
      // A full disk takes no new event, but it takes a settlement, which only overwrites.
      await commit({ accepts: [], settlements: waiting.settlements, claim: null });
      return;
    }
    settlements = [...waiting.settlements, ...settlements];
    // `close` runs what is left by itself.
    if (settlements.length > 0 && retry === null && !closed) {
      retry = clock.setTimeout(() => {
        retry = null;
        schedule();
      }, SETTLE_RETRY_MS);
    }
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
      // Each round writes what waits or, on a failing store, drops it.
      while (inFlight !== null || isWaiting()) await (inFlight ?? run());
    },
  };
}

interface WaitingBatch {
  accepts: Waiting<NewEvent, AcceptResult>[];
  settlements: WaitingSettlement[];
  claim: Waiting<ClaimRequest, ClaimResult> | null;
}

function unwrap({ accepts, settlements, claim }: WaitingBatch): Batch {
  return {
    accepts: accepts.map(({ item }) => item),
    settlements: settlements.map(({ item }) => item),
    claim: claim?.item ?? null,
  };
}

function isRowError(error: unknown): boolean {
  return isSignalboxError(error) && error.code === "store_row_refused";
}

/** Two batches that together are this one; null when it cannot be divided. */
function halve({ accepts, settlements, claim }: WaitingBatch): [WaitingBatch, WaitingBatch] | null {
  const rows = accepts.length + settlements.length;
  if (rows === 0 || (rows === 1 && claim === null)) return null;
  if (rows === 1) {
    return [
      { accepts, settlements, claim: null },
      { accepts: [], settlements: [], claim },
    ];
  }
  const middle = rows >> 1;
  const firstSettlements = Math.min(middle, settlements.length);
  const firstAccepts = middle - firstSettlements;
  return [
    { settlements: settlements.slice(0, firstSettlements), accepts: accepts.slice(0, firstAccepts), claim: null },
    { settlements: settlements.slice(firstSettlements), accepts: accepts.slice(firstAccepts), claim },
  ];
}
