import type { Clock, ClockTimer } from "../time/clock.js";
import { withDeadline } from "../time/deadline.js";
import { AbortHandle, namedError, type LazyAbort } from "./abort-handle.js";
import type { Backoff } from "./backoff.js";
import type { Batcher } from "./batcher.js";
import { createBreaker } from "./breaker.js";
import type { DispatcherObserver } from "./dispatcher-observer.js";
import { judgeFailure } from "./judge-failure.js";
import { oncePerTurn } from "./once-per-turn.js";
import { planClaim, type ClaimPlan } from "./plan-claim.js";
import { repeatEvery } from "./repeat-every.js";
import { asIfNeverClaimed, doneAfter } from "./settlements.js";
import { createSlots } from "./slots.js";
import { CRASH_LOOP, type ClaimedEvent, type CrashedEvent, type Settlement } from "./store.js";
import { createTimeoutQueue } from "../time/timeout-queue.js";
import { createWakeTimer } from "./wake-timer.js";

export interface DispatcherConfig {
  endpoint: string;
  batcher: Batcher;
  clock: Clock;
  concurrency: number;
  timeoutMs: number;
  maxAttempts: number;
  backoff: Backoff;
  /** Other processes take a lease over when its time is up. */
  leasesExpire: boolean;
  /** Calls the user. `abort` fires when the attempt's time or the receiver's grace is over. */
  handOff: (queued: QueuedEvent, attempt: number, abort: LazyAbort) => unknown;
  observe: DispatcherObserver;
  /** The end of an attempt, whatever it was, is durable. */
  onSettled: (eventId: string) => void;
}

/** A claimed event in the hands of this process. */
export interface QueuedEvent {
  event: ClaimedEvent;
  leaseUntil: number;
  /** Its parsed form, when this process parsed it a moment ago. */
  parsed: unknown;
}

export interface Dispatcher {
  /** True: a slot is set aside, and the event may be born leased. Give it back with `take` or `unreserve`. */
  reserve(): boolean;
  unreserve(): void;
  /** Hands off an event that was born leased in a slot set aside. */
  take(queued: QueuedEvent): void;
  /** Tells of events that crashes made dead. */
  reportCrashed(events: readonly CrashedEvent[]): void;
  /** Something may be due in the store. */
  nudge(): void;
  start(): void;
  /** When a lease that begins now runs out. */
  leaseUntil(): number;
  /** Events in hand: their leases are alive. */
  held(): ReadonlyMap<number, number>;
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
/** Callbacks that compute keep the event loop: past this time the rest begin in later turns, with answers in between. */
const TURN_MS = 10;
/** How often the store is looked at for what others put there: the command line, another process. */
const POLL_MS = 1000;
/** A lease outlives the callback's time by this much, for the settlement's commit. */
const LEASE_MARGIN_MS = 30_000;

interface Running {
  event: ClaimedEvent;
  attempt: number;
  abort: AbortHandle;
  timeout: ClockTimer | null;
}

export function createDispatcher(config: DispatcherConfig): Dispatcher {
  const { batcher, clock, observe, endpoint } = config;
  const slots = createSlots(config.concurrency + PREFETCH);
  const waiting: QueuedEvent[] = [];
  /** By attempt, not by event: what another process took over may come back while its old callback still runs. */
  const running = new Set<Running>();

  let state: "idle" | "started" | "closing" = "idle";
  let claiming: Promise<void> | null = null;
  let mayBeDue = true;
  /** A suspect is due: nothing new starts until it had its turn alone. */
  let suspectDue = false;
  /** The suspect that has its turn, as long as it is in hand. */
  let suspect: number | null = null;
  let stopPolling: (() => void) | null = null;

  /** Once per turn: all acknowledgements of a batch go out before its first callback. */
  const schedulePump = oncePerTurn(pump);
  const breaker = createBreaker(clock, {
    onOpen() {
      observe.breaker("open");
      giveBackWaiting();
    },
    onProbe: schedulePump,
    onClose() {
      observe.breaker("closed");
      schedulePump();
    },
  });

  const timer = createWakeTimer(clock, nudge);
  const timeouts = createTimeoutQueue<Running>(clock, config.timeoutMs, (entry) => {
    const error = namedError("TimeoutError", `the callback did not settle within ${config.timeoutMs} ms`);
    entry.abort.abort(error);
    fail(entry, error, true);
  });

  const leaseUntil = (): number => clock.now() + config.timeoutMs + LEASE_MARGIN_MS;

  function mayLease(): boolean {
    const hasTurn = suspect !== null && slots.held().has(suspect);
    return state === "started" && breaker.state() === "closed" && !suspectDue && !hasTurn;
  }

  function pump(): void {
    if (state !== "started") return;
    const startedAt = clock.elapsed();
    while (waiting.length > 0 && running.size < config.concurrency) {
      const queued = waiting.shift() as QueuedEvent;
      // It waited so long that its lease could end under its callback, and another process begin with it too.
      if (config.leasesExpire && queued.leaseUntil - clock.now() < config.timeoutMs) giveBack(queued.event, false);
      else run(queued);
      if (clock.elapsed() - startedAt > TURN_MS) return schedulePump();
    }
    if (mayBeDue && claiming === null) claim();
  }

  function claim(): void {
    const isShort = waiting.length < config.concurrency;
    const plan = planClaim({ breaker, slots, mayLease: mayLease(), suspectDue, isShort });
    if (plan === null || !slots.reserve(plan.limit)) return;
    mayBeDue = false;
    claiming = carryOut(plan).finally(() => {
      slots.unreserve(plan.limit);
      claiming = null;
      if (state === "started" && breaker.state() !== "open") schedulePump();
      else giveBackWaiting();
    });
  }

  async function carryOut({ limit, alone, probing }: ClaimPlan): Promise<void> {
    const lease = leaseUntil();
    try {
      const request = { endpoint, now: clock.now(), leaseUntil: lease, limit, suspects: alone, held: slots.held() };
      const { events, dead, nextDueAt, suspectDue: sawSuspect } = await batcher.claim(request);
      reportCrashed(dead);
      if (alone) suspect = events[0]?.seq ?? null;
      suspectDue = sawSuspect && !alone;
      if (events.length === limit || alone || suspectDue) mayBeDue = true;
      if (nextDueAt !== null) timer.wakeAt(nextDueAt);
      for (const event of events) {
        slots.hold(event);
        waiting.push({ event, leaseUntil: lease, parsed: undefined });
      }
      if (probing && events.length === 0) breaker.probeUnused();
    } catch {
      // The batcher reported the failure; the next poll tries again.
      if (probing) breaker.probeUnused();
    }
  }

  function reportCrashed(events: readonly CrashedEvent[]): void {
    for (const event of events) observe.dead(event, event.attempts, CRASH_LOOP);
  }

  function nudge(): void {
    mayBeDue = true;
    schedulePump();
  }

  function run(queued: QueuedEvent): void {
    const { event } = queued;
    const attempt = event.attempts + 1;
    const entry: Running = { event, attempt, abort: new AbortHandle(), timeout: null };
    running.add(entry);
    entry.timeout = timeouts.add(entry);
    let outcome: unknown;
    try {
      outcome = config.handOff(queued, attempt, entry.abort);
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
    if (!running.delete(entry)) return false;
    entry.timeout?.cancel();
    return true;
  }

  function succeed(entry: Running): void {
    if (!end(entry)) return;
    breaker.succeeded();
    const { event, attempt } = entry;
    settle(event, doneAfter(event, attempt, clock.now()), () => observe.handedOff(event, attempt));
  }

  function fail(entry: Running, error: unknown, timedOut = false): void {
    if (!end(entry)) return;
    const { event, attempt } = entry;
    const { maxAttempts, backoff } = config;
    const judgement = judgeFailure({ event, attempt, error, timedOut, now: clock.now(), maxAttempts, backoff });
    const { kind, settlement, deadReason } = judgement;
    if (judgement.countsForBreaker) breaker.failed();
    const nextAttemptAt = deadReason === null ? settlement.dueAt : null;
    observe.handoffFailed(event, attempt, { kind, error, nextAttemptAt });
    settle(event, settlement, deadReason === null ? undefined : () => observe.dead(event, attempt, deadReason));
    if (nextAttemptAt !== null && state === "started") timer.wakeAt(nextAttemptAt);
  }

  function giveBack(event: ClaimedEvent, possiblyRepeated: boolean): void {
    settle(event, asIfNeverClaimed(event, possiblyRepeated, clock.now()));
  }

  function giveBackWaiting(): void {
    for (const { event } of waiting.splice(0)) giveBack(event, false);
    mayBeDue = true;
  }

  function settle(event: ClaimedEvent, settlement: Settlement, whenDurable?: () => void): void {
    batcher.settle(settlement, (applied) => {
      slots.release(event);
      if (waiting.length > 0 || mayBeDue) schedulePump();
      // Closed while the store was down: the event stays leased, and the next start takes it over.
      if (applied === null) return;
      if (applied) whenDurable?.();
      else observe.leaseLost(event);
      config.onSettled(event.eventId);
    });
    if (waiting.length > 0) schedulePump();
  }

  return {
    reserve: () => mayLease() && slots.reserve(1),
    unreserve() {
      slots.unreserve(1);
      if (mayBeDue) schedulePump();
    },
    take(queued) {
      slots.unreserve(1);
      slots.hold(queued.event);
      if (state !== "started" || breaker.state() !== "closed") return giveBack(queued.event, false);
      waiting.push(queued);
      schedulePump();
    },
    leaseUntil,
    nudge,
    reportCrashed,
    start() {
      if (state !== "idle") return;
      state = "started";
      stopPolling = repeatEvery(clock, POLL_MS, nudge);
      schedulePump();
    },
    held: () => slots.held(),
    breakerState: () => breaker.state(),
    running: () => running.size,
    async close(graceMs) {
      state = "closing";
      stopPolling?.();
      await claiming;
      timer.clear();
      giveBackWaiting();
      if (running.size > 0 && graceMs > 0) {
        const startGrace = (onOver: () => void) => clock.setTimeout(onOver, graceMs);
        await withDeadline(slots.whenEmpty(), startGrace, undefined);
      }
      breaker.close();
      timeouts.clear();
      const reason = namedError("AbortError", "the receiver is closing");
      for (const entry of running) {
        entry.abort.abort(reason);
        running.delete(entry);
        const { event, attempt } = entry;
        observe.handoffFailed(event, attempt, { kind: "shutdown", error: reason, nextAttemptAt: clock.now() });
        giveBack(event, true);
      }
    },
  };
}
