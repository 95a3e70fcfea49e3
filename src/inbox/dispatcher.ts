import type { Clock, ClockTimer } from "../clock.js";
import type { RetryLater } from "../errors.js";
import { isSignalboxError } from "../errors.js";
import type { Backoff } from "./backoff.js";
import type { Batcher } from "./batcher.js";
import { createBreaker, type Breaker } from "./breaker.js";
import type { ClaimedEvent, Settlement } from "./store.js";

export interface DispatcherConfig {
  endpoint: string;
  batcher: Batcher;
  clock: Clock;
  concurrency: number;
  timeoutMs: number;
  maxAttempts: number;
  backoff: Backoff;
  /** Calls the user. `abort` fires when the attempt's time or the receiver's grace is over. */
  handOff: (event: QueuedEvent, attempt: number, abort: LazyAbort) => unknown;
  observe: DispatcherObserver;
}

/** What the dispatcher tells of its work. */
export interface DispatcherObserver {
  handedOff(event: ClaimedEvent, attempt: number): void;
  handoffFailed(event: ClaimedEvent, attempt: number, failure: HandoffFailure): void;
  dead(event: ClaimedEvent, attempt: number, reason: string): void;
  /** The settlement came too late: another process had taken the lease over. */
  leaseLost(event: ClaimedEvent): void;
  breaker(state: "closed" | "open" | "probing"): void;
}

export interface HandoffFailure {
  kind: "rejected" | "timeout" | "permanent" | "later" | "shutdown";
  error: unknown;
  /** Milliseconds since 1970 of the next attempt; null when there is none. */
  nextAttemptAt: number | null;
}

/** A claimed event, with its parsed form when this process parsed it a moment ago. */
export interface QueuedEvent extends ClaimedEvent {
  parsed?: unknown;
}

/** An abort signal that is made only when somebody asks for it: most callbacks never do. */
export interface LazyAbort {
  readonly signal: AbortSignal;
}

export interface Dispatcher {
  /** True: a slot is set aside, and the event may be born leased. Give it back with `take` or `unreserve`. */
  reserve(): boolean;
  unreserve(): void;
  /** Hands off an event that was born leased in a slot set aside. */
  take(event: QueuedEvent): void;
  /** Something may be due in the store. */
  nudge(): void;
  start(): void;
  /** When a lease that begins now runs out. */
  leaseUntil(): number;
  /** Events in hand: their leases are alive. */
  held(): ReadonlySet<number>;
  breakerState(): "closed" | "open" | "probing";
  running(): number;
  /**
   * Stops claiming, gives back what did not begin, waits `graceMs` for callbacks that run, then aborts them
   * and gives their events back too. No attempt is used up.
   */
  close(graceMs: number): Promise<void>;
}

/** Events in hand beyond those that run. They spare the common path its claim; a claim costs a commit. */
const PREFETCH = 256;
/** Past this many bytes in hand, new events are born `ready` and their bodies leave memory. */
const MAX_HELD_BYTES = 16 * 1024 * 1024;
const CLAIM_LIMIT = 64;
/** How often the store is looked at for what others put there: the command line, another process. */
const POLL_MS = 1000;
/** A lease outlives the callback's time by this much, for the settlement's commit. */
const LEASE_MARGIN_MS = 30_000;

interface Running {
  event: QueuedEvent;
  attempt: number;
  startedAt: number;
  abort: AbortHandle;
}

export function createDispatcher(config: DispatcherConfig): Dispatcher {
  const { batcher, clock, observe, endpoint } = config;
  const capacity = config.concurrency + PREFETCH;

  const waiting: QueuedEvent[] = [];
  /** In the order of their start, so that the first is the first to run out of time. */
  const running = new Map<number, Running>();
  /** Waiting, running, or with a settlement that is not durable yet. */
  const held = new Set<number>();
  let heldBytes = 0;
  let reserved = 0;

  let state: "idle" | "started" | "closing" = "idle";
  let pumpScheduled = false;
  let claiming: Promise<void> | null = null;
  let mayBeDue = true;
  /** A suspect is due: nothing new starts until it had its turn alone. */
  let suspectDue = false;
  let suspectRuns = false;
  let due: { at: number; timer: ClockTimer } | null = null;
  let timeoutTimer: ClockTimer | null = null;
  let onQuiet: (() => void) | null = null;

  const breaker: Breaker = createBreaker(clock, (next) => {
    observe.breaker(next);
    if (next === "open") giveBackWaiting();
    schedulePump();
  });

  function leaseUntil(): number {
    return clock.now() + config.timeoutMs + LEASE_MARGIN_MS;
  }

  function mayLease(): boolean {
    return state === "started" && breaker.state() === "closed" && !suspectDue && !suspectRuns;
  }

  /** One pump per turn of the event loop: all acknowledgements of a batch go out before its first callback. */
  function schedulePump(): void {
    if (pumpScheduled) return;
    pumpScheduled = true;
    setImmediate(() => {
      pumpScheduled = false;
      pump();
    });
  }

  function pump(): void {
    if (state !== "started") return;
    while (waiting.length > 0 && running.size < config.concurrency) run(waiting.shift() as QueuedEvent);
    if (mayBeDue && claiming === null) claim();
  }

  function claim(): void {
    const probing = breaker.state() === "probing";
    const alone = suspectDue && held.size === 0 && reserved === 0;
    if (!alone && !probing && !mayLease()) return;
    if (probing && held.size > 0) return;
    const limit = probing || alone ? 1 : Math.min(CLAIM_LIMIT, capacity - held.size - reserved);
    if (limit <= 0) return;

    mayBeDue = false;
    reserved += limit;
    claiming = claimUpTo(limit, alone, probing).finally(() => {
      reserved -= limit;
      claiming = null;
      if (state === "started") schedulePump();
      else giveBackWaiting();
    });
  }

  async function claimUpTo(limit: number, alone: boolean, probing: boolean): Promise<void> {
    try {
      const now = clock.now();
      const result = await batcher.claim({ endpoint, now, leaseUntil: leaseUntil(), limit, suspects: alone });
      if (result.events.length === limit) mayBeDue = true;
      if (result.nextDueAt !== null) wakeAt(result.nextDueAt);
      if (alone) {
        suspectRuns = result.events.length > 0;
        suspectDue = false;
        mayBeDue = true;
      } else if (result.suspectDue) {
        suspectDue = true;
        mayBeDue = true;
      }
      for (const event of result.events) hold(event);
      if (probing && result.events.length === 0) breaker.probeUnused();
    } catch {
      // The batcher reported the failure; the next poll tries again.
      if (probing) breaker.probeUnused();
    }
  }

  function hold(event: QueuedEvent): void {
    held.add(event.seq);
    heldBytes += event.body.byteLength;
    waiting.push(event);
  }

  function wakeAt(at: number): void {
    if (due !== null && due.at <= at) return;
    due?.timer.cancel();
    const wake = (): void => {
      due = null;
      nudge();
    };
    due = { at, timer: clock.setTimeout(wake, Math.max(0, at - clock.now())) };
  }

  function nudge(): void {
    mayBeDue = true;
    schedulePump();
  }

  function run(event: QueuedEvent): void {
    const attempt = event.attempts + 1;
    const entry: Running = { event, attempt, startedAt: clock.elapsed(), abort: createAbort() };
    running.set(event.seq, entry);
    armTimeout();
    let outcome: unknown;
    try {
      outcome = config.handOff(event, attempt, entry.abort);
    } catch (error) {
      fail(entry, error);
      return;
    }
    Promise.resolve(outcome).then(
      () => succeed(entry),
      (error: unknown) => fail(entry, error),
    );
  }

  // --- the end of an attempt. Each takes the entry out of `running` first; whoever comes second does nothing.

  function end(entry: Running): boolean {
    if (running.get(entry.event.seq) !== entry) return false;
    running.delete(entry.event.seq);
    if (suspectRuns && running.size === 0) suspectRuns = false;
    return true;
  }

  function succeed(entry: Running): void {
    if (!end(entry)) return;
    breaker.succeeded();
    const { event, attempt } = entry;
    settle(event, { state: "done", dueAt: clock.now(), attempts: attempt, lastError: null }, () =>
      observe.handedOff(event, attempt),
    );
  }

  function fail(entry: Running, error: unknown, kind: "rejected" | "timeout" = "rejected"): void {
    if (!end(entry)) return;
    const { event, attempt } = entry;
    const now = clock.now();
    if (isSignalboxError(error) && error.code === "retry_later") {
      const dueAt = now + (error as RetryLater).delayMs;
      settle(event, { state: "ready", dueAt, attempts: event.attempts, lastError: describe(error) });
      observe.handoffFailed(event, attempt, { kind: "later", error, nextAttemptAt: dueAt });
      wakeAt(dueAt);
      return;
    }
    const permanent = isSignalboxError(error) && error.code === "permanent_failure";
    // One event that can never work says nothing about the system behind the callback.
    if (!permanent) breaker.failed();
    const possiblyRepeated = event.possiblyRepeated || kind === "timeout";
    const lastError = describe(error);
    if (permanent || attempt >= config.maxAttempts) {
      const reason = permanent ? "permanent_failure" : "attempts_exhausted";
      observe.handoffFailed(event, attempt, { kind: permanent ? "permanent" : kind, error, nextAttemptAt: null });
      settle(event, { state: "dead", dueAt: now, attempts: attempt, lastError, possiblyRepeated }, () =>
        observe.dead(event, attempt, reason),
      );
      return;
    }
    const dueAt = now + config.backoff(attempt);
    observe.handoffFailed(event, attempt, { kind, error, nextAttemptAt: dueAt });
    settle(event, { state: "ready", dueAt, attempts: attempt, lastError, possiblyRepeated });
    wakeAt(dueAt);
  }

  /** Back to `ready` as if never claimed. */
  function giveBack(event: QueuedEvent, possiblyRepeated: boolean): void {
    settle(event, {
      state: "ready",
      dueAt: clock.now(),
      attempts: event.attempts,
      lastError: null,
      possiblyRepeated: event.possiblyRepeated || possiblyRepeated,
    });
  }

  function giveBackWaiting(): void {
    for (const event of waiting.splice(0)) giveBack(event, false);
    mayBeDue = true;
  }

  function settle(
    event: QueuedEvent,
    change: Omit<Settlement, "seq" | "token" | "possiblyRepeated"> & { possiblyRepeated?: boolean },
    whenDurable?: () => void,
  ): void {
    const settlement = { possiblyRepeated: event.possiblyRepeated, ...change, seq: event.seq, token: event.token };
    batcher
      .settle(settlement)
      .then(
        (applied) => (applied ? whenDurable?.() : observe.leaseLost(event)),
        // Closed while the store was down: the event stays leased, and the next start takes it over.
        () => undefined,
      )
      .finally(() => {
        held.delete(event.seq);
        heldBytes -= event.body.byteLength;
        if (held.size === 0) onQuiet?.();
        if (waiting.length > 0 || mayBeDue) schedulePump();
      });
    if (waiting.length > 0) schedulePump();
  }

  // --- time

  /** One timer for all that run: they have the same time, so the oldest runs out first. */
  function armTimeout(): void {
    if (timeoutTimer !== null) return;
    const oldest = running.values().next().value;
    if (oldest === undefined) return;
    const left = oldest.startedAt + config.timeoutMs - clock.elapsed();
    timeoutTimer = clock.setTimeout(
      () => {
        timeoutTimer = null;
        expire();
        armTimeout();
      },
      Math.max(1, left),
    );
  }

  function expire(): void {
    const now = clock.elapsed();
    for (const entry of running.values()) {
      if (entry.startedAt + config.timeoutMs > now) break;
      const error = new Error(`onSignal did not settle within ${config.timeoutMs} ms`);
      error.name = "TimeoutError";
      entry.abort.abort(error);
      fail(entry, error, "timeout");
    }
  }

  let pollTimer: ClockTimer | null = null;
  function poll(): void {
    pollTimer = clock.setTimeout(() => {
      nudge();
      poll();
    }, POLL_MS);
  }

  function quiet(): Promise<void> {
    if (held.size === 0) return Promise.resolve();
    return new Promise((resolve) => (onQuiet = resolve));
  }

  return {
    reserve() {
      if (!mayLease() || held.size + reserved >= capacity || heldBytes >= MAX_HELD_BYTES) return false;
      reserved += 1;
      return true;
    },
    unreserve() {
      reserved -= 1;
      if (mayBeDue) schedulePump();
    },
    take(event) {
      reserved -= 1;
      hold(event);
      if (state === "started") schedulePump();
      else giveBackWaiting();
    },
    leaseUntil,
    nudge,
    start() {
      if (state !== "idle") return;
      state = "started";
      poll();
      schedulePump();
    },
    held: () => held,
    breakerState: () => breaker.state(),
    running: () => running.size,
    async close(graceMs) {
      state = "closing";
      for (const timer of [pollTimer, due?.timer]) timer?.cancel();
      breaker.close();
      await claiming;
      giveBackWaiting();
      if (running.size > 0 && graceMs > 0) {
        let graceTimer: ClockTimer | undefined;
        const grace = new Promise<void>((resolve) => (graceTimer = clock.setTimeout(resolve, graceMs)));
        await Promise.race([quiet(), grace]);
        graceTimer?.cancel();
      }
      timeoutTimer?.cancel();
      const reason = new Error("the receiver is closing");
      reason.name = "AbortError";
      for (const entry of [...running.values()]) {
        entry.abort.abort(reason);
        running.delete(entry.event.seq);
        const { event, attempt } = entry;
        observe.handoffFailed(event, attempt, { kind: "shutdown", error: reason, nextAttemptAt: clock.now() });
        giveBack(event, true);
      }
    },
  };
}

interface AbortHandle extends LazyAbort {
  abort(reason: unknown): void;
}

function createAbort(): AbortHandle {
  let controller: AbortController | null = null;
  let aborted: { reason: unknown } | null = null;
  return {
    get signal() {
      if (controller === null) {
        controller = new AbortController();
        if (aborted !== null) controller.abort(aborted.reason);
      }
      return controller.signal;
    },
    abort(reason) {
      aborted = { reason };
      controller?.abort(reason);
    },
  };
}

/** Longest text of an error that is kept with an event. */
const MAX_ERROR_LENGTH = 1000;

/** Name and message of whatever was thrown. Kept in the inbox, never logged: it may quote the payload. */
function describe(error: unknown): string {
  let text: string;
  try {
    text = error instanceof Error ? `${error.name}: ${error.message}` : `thrown: ${String(error)}`;
  } catch {
    text = "thrown: a value without text";
  }
  return text.slice(0, MAX_ERROR_LENGTH).toWellFormed();
}
