import { oncePerMicrotask, oncePerTurn, withDeadline } from "../../../base/time/timers.js";
import type {
  ClaimedEvent,
  ClaimResult,
  CrashedEvent,
  Settlement,
  SettleResult,
} from "../batch.js";
import type { Batcher } from "../batcher.js";
import { CRASH_LOOP } from "../crashes.js";
import { createAttempts, dueForMs, type AttemptsConfig, type LeasedEvent } from "./attempts.js";
import { createBreaker } from "./breaker.js";
import { createClaims, createSlots } from "./claims.js";
import { createDrains } from "./drains.js";
import { createOutcomes, type OutcomesConfig, released } from "./outcomes.js";
import { createWaitingCounts } from "./waiting-counts.js";

export interface DispatcherConfig extends AttemptsConfig, OutcomesConfig {
  batcher: Batcher;
  concurrency: number;
  /** Whether other processes hand off the same events, and reclaim leases that have expired. */
  shared: boolean;
  /**
   * Leases that were asked for before this time, by `clock.elapsed()`, may be lost to another
   * process; `Infinity`: all may be.
   */
  leasedSince: () => number;
}

/**
 * Why hand-offs are paused. `not_running`: the receiver has not started, or closes.
 * `callback_failing`: the breaker is not closed, and only a probe may run. `leases_unsure`: the
 * last heartbeats failed, so other processes may have reclaimed our leases.
 */
export type PauseReason = "not_running" | "callback_failing" | "leases_unsure";

/**
 * Most events that wait beside those that run; fewer if their bodies are large. A new event among
 * them needs no claim.
 */
const PREFETCH = 256;
const CLAIM_LIMIT = 64;
/**
 * From so many events a probe is chosen: the one with the fewest attempts, so that events which
 * always fail cannot fill all probes.
 */
const PROBE_LIMIT = 16;
/**
 * When the callbacks of a turn have blocked the event loop for this long, the others start in later
 * turns.
 */
const TURN_MS = 10;
/**
 * A lease is longer than the callback's timeout by this, because the event waits for its turn and
 * its settlement for a commit.
 */
export const LEASE_MARGIN_MS = 30_000;
/**
 * A waiting event is released after this time, so that the rest of the margin is left for its
 * settlement.
 */
const MOST_WAIT_MS = 20_000;

/**
 * Leases due events and hands each to the callback, at most `concurrency` at the same time.
 *
 *                          fewer than `concurrency` run   resolved ──────▶ done
 *     take (new, leased) ─┐          │                   ╱
 *                         ├▶ waiting ──▶ running ──▶ ended ── rejected, timed out ──▶ ready again, or dead
 *     claim (from store) ─┘      │                       ╲
 *                                │                        aborted by a close ──▶ ready, possibly repeated
 *                                └─ released ──▶ ready, as if it was never leased
 *
 * An event takes a slot from its lease until a commit has tried its settlement. If a transaction of
 * the callback still has the row, it is then `locked`. Waiting events are released when hand-offs
 * pause, the receiver closes, or too little of their lease is left.
 */
export function createDispatcher(config: DispatcherConfig) {
  const { batcher, clock, concurrency, shared, observe } = config;
  const leaseMs = config.timeoutMs + LEASE_MARGIN_MS;
  const slots = createSlots(concurrency + PREFETCH);
  const waiting: LeasedEvent[] = [];
  /**
   * Ordered events whose callback goes on after its time-out, and what ends the wait for it. They
   * take no slot.
   */
  const overdue = new Map<ClaimedEvent, { callback: Promise<unknown>; end: () => void }>();
  let mode: "idle" | "running" | "closing" = "idle";
  let lastLeases: "sure" | "unsure" = "sure";
  const inLanes = createWaitingCounts();
  /** When the last scheduled pump began. */
  let pumpBeganAt = -Infinity;

  /**
   * Pumps at the end of the turn, so that the acknowledgements of a batch are sent before its first
   * callback starts.
   */
  const schedulePump = oncePerTurn(() => {
    pumpBeganAt = clock.elapsed();
    pump();
  });
  /**
   * Pumps in this turn, after a callback has ended. Otherwise no turn would start more than
   * `concurrency` callbacks.
   */
  const pumpAgain = oncePerMicrotask(pump);
  const breaker = createBreaker(clock, {
    onOpen() {
      observe.breaker("open");
      releaseWaiting();
    },
    onProbe: schedulePump,
    onClose() {
      observe.breaker("closed");
      schedulePump();
    },
  });
  const outcomes = createOutcomes(config, breaker, settle, dueIn);
  const attempts = createAttempts(config, outcomes.ended);
  const claims = createClaims({
    clock,
    batcher,
    slots,
    leaseMs,
    limit: claimLimit,
    held: () => (shared ? heldSeqs() : []),
    began: () => drains.claimBegan(),
    ended: takeClaimed,
    onPoll() {
      const leases = areLeasesSure() ? "sure" : "unsure";
      if (leases !== lastLeases) observe.leases((lastLeases = leases));
      schedulePump();
    },
  });
  const isPaused = (): boolean => pausedBy() !== null && !mayProbe();
  const drains = createDrains({ clock, held: slots.held, nudge, isPaused });

  function areLeasesSure(): boolean {
    return config.leasedSince() !== Infinity;
  }

  /** Why no new event is leased now; null when hand-offs run. */
  function pausedBy(): PauseReason | null {
    if (mode !== "running") return "not_running";
    if (breaker.state() !== "closed") return "callback_failing";
    return areLeasesSure() ? null : "leases_unsure";
  }

  function mayProbe(): boolean {
    return mode === "running" && breaker.state() === "probing" && areLeasesSure();
  }

  /** To be called when events may have become due in the store. */
  function nudge(): void {
    claims.expectDue();
    schedulePump();
  }

  function dueIn(delayMs: number): void {
    if (delayMs <= 0) nudge();
    else claims.expectDueIn(delayMs);
  }

  /**
   * Starts callbacks while fewer than `concurrency` run, then a claim. No other function starts
   * callbacks or claims. While hand-offs pause, `waiting` is empty or has the probe alone, and
   * `claimLimit` allows no other claim.
   */
  function pump(): void {
    if (mode !== "running") return;
    releaseOld();
    while (waiting.length > 0 && attempts.count() < concurrency) {
      if (clock.elapsed() - pumpBeganAt > TURN_MS) return schedulePump();
      attempts.run(waiting.shift() as LeasedEvent);
    }
    claims.begin();
  }

  function pumpIfNeeded(): void {
    if (waiting.length > 0 || claims.isDue()) schedulePump();
  }

  // --- leasing

  /**
   * How many more events can be leased. Of a shared store another process could start a waiting
   * event sooner, so at most as many wait here as attempts lately ended in a second.
   */
  function room(): number {
    const ahead = shared ? Math.min(PREFETCH, attempts.pace()) : PREFETCH;
    return Math.min(
      slots.free(),
      concurrency + ahead - attempts.count() - waiting.length - slots.reserved(),
    );
  }

  function claimLimit(): number {
    if (mayProbe()) return attempts.count() === 0 && slots.isEmpty() ? PROBE_LIMIT : 0;
    // Each claim is a commit, so it is made only when few events wait.
    if (pausedBy() !== null || waiting.length >= concurrency) return 0;
    return Math.max(0, Math.min(CLAIM_LIMIT, room()));
  }

  function takeClaimed(result: ClaimResult | null, leasedAt: number, isEmpty: boolean): void {
    const { events, dead } = result ?? { events: [], dead: [] };
    reportCrashed(dead);
    const isProbe = breaker.state() === "probing";
    const probe = isProbe ? breaker.chooseProbe(events) : undefined;
    if (isProbe && probe === undefined) breaker.probeUnused();
    for (const event of events) {
      slots.hold(event);
      const leased = { event, leasedAt, parsed: undefined };
      if (isProbe && event !== probe) release(leased);
      else waiting.push(leased);
    }
    if (isEmpty) drains.noneIsDue();
    if (mode === "running" && breaker.state() !== "open") schedulePump();
    else releaseWaiting();
    drains.update();
  }

  function reportCrashed(events: readonly CrashedEvent[]): void {
    for (const event of events) observe.dead(event, event.attempts, CRASH_LOOP);
  }

  function heldSeqs(): number[] {
    return [...slots.held(), ...overdue.keys()].map(({ seq }) => seq);
  }

  // --- ending a lease

  function release(leased: LeasedEvent): void {
    claims.expectDue();
    endLease(leased.event, released(leased.event, false, dueForMs(leased, clock)));
  }

  function releaseWaiting(): void {
    for (const leased of waiting.splice(0)) release(leased);
  }

  /**
   * Releases waiting events whose lease could expire before their settlement: another process would
   * then hand them off too and count a crash. Those that another process may have reclaimed are
   * released too: here they would begin without `possiblyRepeated`.
   */
  function releaseOld(): void {
    if (!shared) return;
    const oldest = Math.max(clock.elapsed() - MOST_WAIT_MS, config.leasedSince());
    if (waiting.every(({ leasedAt }) => leasedAt >= oldest)) return;
    for (const leased of waiting.splice(0)) {
      if (leased.leasedAt < oldest) release(leased);
      else waiting.push(leased);
    }
  }

  /** For an event whose attempt has ended. */
  function settle(
    event: ClaimedEvent,
    settlement: Settlement,
    onResult: (result: SettleResult | null) => void,
  ): void {
    endLease(event, settlement, (result) => {
      onResult(result);
      if (result === false) observe.leaseLost(event);
      if (result === null) observe.notSettled(event);
    });
  }

  /** @param onResult called with each result, of which those before the last are `locked` */
  function endLease(
    event: ClaimedEvent,
    settlement: Settlement,
    onResult?: (result: SettleResult | null) => void,
  ): void {
    let hasSlot = true;
    const callback = attempts.overdue(event);
    if (callback !== undefined) {
      // The next one with its key must not begin beside it.
      hasSlot = false;
      slots.release(event);
      observe.overdue(event);
      pumpIfNeeded();
      overdue.set(event, { callback, end: write });
      drains.leaseEnded(event, settlement, true);
      void callback.then(() => overdue.get(event)?.end());
    } else write();

    function write(): void {
      if (overdue.delete(event)) slots.lock(event);
      batcher.settle(settlement, ended);
      // What waits behind it is claimed by the same commit.
      if (event.lane != null && settlement.state !== "ready" && inLanes.take(event.lane)) nudge();
    }

    function ended(result: SettleResult | null): void {
      // Also after `locked`: a transaction that stays open for long must not stop the hand-off of
      // other events.
      if (hasSlot) {
        hasSlot = false;
        slots.release(event);
        pumpIfNeeded();
      }
      if (result === "locked") slots.lock(event);
      else slots.unlock(event);
      onResult?.(result);
      if (result !== "locked") drains.leaseEnded(event, settlement, result);
    }
    // The attempt has ended, so another can start before this commit.
    if (waiting.length > 0) pumpAgain();
  }

  return {
    /**
     * Reserves a slot for a new event: `take` fills it, `unreserve` frees it. @returns false if it
     * must be stored as `ready`
     */
    reserve: (): boolean =>
      pausedBy() === null && !claims.isOverdue() && room() > 0 && slots.reserve(1),
    unreserve(): void {
      slots.unreserve(1);
      pumpIfNeeded();
    },
    /**
     * Queues an event that was stored as leased in a reserved slot; releases it while hand-offs
     * pause.
     */
    take(leased: LeasedEvent): void {
      slots.unreserve(1);
      slots.hold(leased.event);
      if (pausedBy() !== null) return release(leased);
      waiting.push(leased);
      schedulePump();
    },
    /**
     * The callback has read `completeSql`: its own transaction may end the lease. @returns false if
     * the attempt has ended
     */
    expectCompletion(event: ClaimedEvent): boolean {
      const isRunning = attempts.isRunning(event);
      if (isRunning) outcomes.sqlRead(event);
      return isRunning;
    },
    leaseMs,
    nudge,
    /** An event is due in the store after this delay. */
    dueIn,
    /** A new event waits in its lane. */
    waitsInLane: inLanes.add,
    reportCrashed,
    start(): void {
      if (mode !== "idle") return;
      mode = "running";
      claims.poll();
    },
    held: heldSeqs,
    pausedBy,
    breakerState: () => breaker.state(),
    pause: breaker.pause,
    probeNow: breaker.probeNow,
    running: attempts.count,
    /** For how many milliseconds the oldest waiting event has been due; 0 when none waits. */
    oldestWaitingAgeMs: () => Math.max(0, ...waiting.map((leased) => dueForMs(leased, clock))),
    drain: drains.drain,
    /**
     * Stops claiming and releases the waiting events. Waits at most `graceMs` until the running
     * callbacks have ended and their settlements are committed. Then aborts the others and releases
     * their events, which uses up no attempt. Settlements may still wait in the batcher, which is
     * closed next.
     */
    async close(graceMs: number): Promise<void> {
      mode = "closing";
      const claimed = claims.stop();
      releaseWaiting();
      drains.update();
      // The callbacks that run out of time meanwhile too.
      const allEnd = async (): Promise<void> => {
        await slots.whenEmpty();
        await Promise.all(Array.from(overdue.values(), ({ callback }) => callback));
      };
      if (attempts.count() + overdue.size > 0 && graceMs > 0)
        await withDeadline(allEnd(), clock, graceMs, undefined);
      breaker.close();
      attempts.abortAll();
      for (const { end } of overdue.values()) end();
      await claimed;
    },
  };
}

export type Dispatcher = ReturnType<typeof createDispatcher>;
