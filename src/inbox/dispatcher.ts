import type { ClockTimer } from "../time/clock.js";
import { oncePerTurn, withDeadline } from "../time/timers.js";
import {
  createAttempts,
  type Attempts,
  type AttemptsConfig,
  type AttemptsObserver,
  type QueuedEvent,
} from "./attempts.js";
import type { Batcher } from "./batcher.js";
import { createBreaker } from "./breaker.js";
import { createDrains, type Drains } from "./drains.js";
import { asIfNeverClaimed } from "./settlement.js";
import { createSlots } from "./slots.js";
import {
  CRASH_LOOP,
  SUSPECT_CRASHES,
  type ClaimedEvent,
  type CrashedEvent,
  type Settlement,
  type SettleResult,
} from "./store.js";

export interface DispatcherConfig extends AttemptsConfig {
  batcher: Batcher;
  concurrency: number;
  /** Whether other processes take over a lease that has expired. */
  leasesExpire: boolean;
  /** Leases that were asked for before this time, by `clock.elapsed()`, may have been taken over; `Infinity`: new ones too. */
  leasedSince: () => number;
  observe: DispatcherObserver;
}

export interface DispatcherObserver extends AttemptsObserver {
  /** The settlement was too late, because another process had taken over the lease. */
  leaseLost(event: ClaimedEvent): void;
  /** The settlement was not written: the store refused it, or was down until the close. The event stays leased. */
  notSettled(event: ClaimedEvent): void;
  /** `open`: hand-offs pause. `closed`: hand-offs continue. */
  breaker(state: "closed" | "open"): void;
  /** `unsure`: other processes may have taken this one for dead, so hand-offs pause. `sure`: hand-offs continue. */
  leases(state: "sure" | "unsure"): void;
}

/**
 * Leases due events and hands each to the callback, at most `concurrency` at the same time.
 *
 *                              a slot is free           resolved ──────▶ done
 *     take (born leased) ─┐          │                 ╱
 *                         ├▶ waiting ──▶ running ──▶ ended ── rejected, timed out ──▶ ready again, or dead
 *     claim (from store) ─┘      │                     ╲
 *                                │                      closing ──▶ ready, possibly repeated
 *                                └─ given back ──▶ ready, as if it was never claimed
 *
 * An event is held from its lease to the commit of its settlement. Waiting events are given back when the breaker opens,
 * the receiver closes, or too little of their lease is left to start them.
 *
 * A suspect is an event that was held at two crashes or more. It is leased alone: nothing new is leased until the held events
 * have ended. Then the suspect is claimed, and no other event is leased until the suspect has ended. So a crash counts either
 * against the suspect or against other events, never against both. A suspect that hangs does not stop all hand-offs: after it
 * has ended, only other events are claimed for as long as the suspect's turn lasted.
 */
export interface Dispatcher {
  /** Reserves a slot for a new event, to be freed with `take` or `unreserve`. @returns false if the event must be born `ready` */
  reserve(): boolean;
  unreserve(): void;
  /** Hands off an event that was born leased in a reserved slot. */
  take(queued: QueuedEvent): void;
  expectCompletion: Attempts["expectCompletion"];
  /** Reports events that crashes made dead. */
  reportCrashed(events: readonly CrashedEvent[]): void;
  /** To be called when events may have become due in the store. */
  nudge(): void;
  start(): void;
  /** How long a lease lasts. */
  readonly leaseMs: number;
  /** The `seq` of each held event, as a copy. */
  held(): number[];
  breakerState(): "closed" | "open" | "probing";
  running(): number;
  /** For how many milliseconds the oldest event has waited that is leased and that no callback has yet; 0 when none waits. */
  oldestWaitingAgeMs(): number;
  drain: Drains["drain"];
  /**
   * Stops claiming, gives back the waiting events, waits `graceMs` for running callbacks, then aborts them and gives back
   * their events too. No attempt is used up.
   */
  close(graceMs: number): Promise<void>;
}

/**
 * This many events can be held in addition to those that run. An event that is born leased needs no claim, which would be an
 * extra commit.
 */
const PREFETCH = 256;
/** Most events of one claim. */
const CLAIM_LIMIT = 64;
/** When the callbacks of a turn have blocked the event loop for this long, the others start in later turns. */
const TURN_MS = 10;
/**
 * When a claim has waited for this long, new events are born ready until it was made. Otherwise, under overload, they would take
 * each slot before a due retry. A burst is over sooner.
 */
const CLAIM_PATIENCE_MS = 100;
/** How often the store is asked for events that the command line or another process made ready. */
const POLL_MS = 1000;
/** A lease is longer than the callback's timeout by this, because the event waits for a slot and its settlement for a commit. */
const LEASE_MARGIN_MS = 30_000;
/** A waiting event is given back after this time, so that the rest of the margin is left for its settlement. */
const MOST_WAIT_MS = 20_000;

export function createDispatcher(config: DispatcherConfig): Dispatcher {
  const { batcher, clock, concurrency, observe } = config;
  const leaseMs = config.timeoutMs + LEASE_MARGIN_MS;
  const slots = createSlots(concurrency + PREFETCH);
  const waiting: QueuedEvent[] = [];
  /** Events whose settlement waits for the end of a callback's transaction. They take no slot, but are held. */
  const locked = new Set<ClaimedEvent>();

  let state: "idle" | "started" | "closing" = "idle";
  let claiming: Promise<void> | null = null;
  /** Since when events may be due in the store, by `clock.elapsed()`; null when a claim has shown that none is. */
  let dueSince: number | null = null;
  let lastLeases: "sure" | "unsure" = "sure";
  /** True while only suspects are claimed: from the report of a due suspect until its settlement is durable. */
  let isSuspectsTurn = false;
  let suspectsTurnBeganAt = 0;
  /** Before this time no suspect is claimed, even if one is due. */
  let othersTurnEndsAt = -Infinity;
  let wakeUp: { at: number; timer: ClockTimer } | null = null;

  /** Runs at the end of the turn, so that all acknowledgements of a batch are sent before its first callback starts. */
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

  const drains = createDrains({
    clock,
    held,
    nudge,
    isPaused: () => state !== "started" || breaker.state() === "open",
  });

  const attempts = createAttempts(config, {
    succeeded: breaker.succeeded,
    failed: breaker.failed,
    settle,
    retryIn: (delayMs) => (delayMs === 0 ? nudge() : pollIn(delayMs)),
  });

  /** Polls after the shortest of the given delays. Each poll sets the time of the next one. */
  function pollIn(delayMs: number): void {
    const at = clock.elapsed() + delayMs;
    if (state !== "started" || (wakeUp !== null && wakeUp.at <= at)) return;
    wakeUp?.timer.cancel();
    wakeUp = { at, timer: clock.setTimeout(poll, delayMs) };
  }

  function poll(): void {
    wakeUp = null;
    pollIn(POLL_MS);
    const leases = mayLease() ? "sure" : "unsure";
    if (leases !== lastLeases) observe.leases((lastLeases = leases));
    nudge();
  }

  function nudge(): void {
    expectDue();
    schedulePump();
  }

  function expectDue(): void {
    dueSince ??= clock.elapsed();
  }

  /** Starts callbacks while slots are free, then starts a claim. No other function starts callbacks or claims. */
  function pump(): void {
    if (state !== "started") return;
    giveBackOld();
    const startedAt = clock.elapsed();
    while (waiting.length > 0 && attempts.running() < concurrency) {
      attempts.run(waiting.shift() as QueuedEvent);
      if (clock.elapsed() - startedAt > TURN_MS) return schedulePump();
    }
    if (dueSince !== null && claiming === null) claim();
  }

  // --- leasing

  function mayLease(): boolean {
    return config.leasedSince() !== Infinity;
  }

  function mayStart(): boolean {
    return state === "started" && breaker.state() === "closed";
  }

  /** True while new events must be born ready. */
  function isClaimOverdue(): boolean {
    if (dueSince === null || waiting.length < concurrency) return false;
    return clock.elapsed() - dueSince >= CLAIM_PATIENCE_MS;
  }

  function claim(): void {
    const limit = claimLimit();
    if (limit === 0 || !slots.reserve(limit)) return;
    dueSince = null;
    drains.claimBegan();
    claiming = carryOut(limit).finally(() => {
      slots.unreserve(limit);
      claiming = null;
      if (state === "started" && breaker.state() !== "open") schedulePump();
      else giveBackWaiting();
      drains.update();
    });
  }

  function claimLimit(): number {
    if (breaker.state() === "open" || !mayLease()) return 0;
    if (isSuspectsTurn || breaker.state() === "probing") return attempts.running() === 0 && slots.isEmpty() ? 1 : 0;
    // Each claim is a commit, so it is made only when few events wait.
    return waiting.length < concurrency ? Math.max(0, Math.min(CLAIM_LIMIT, slots.free())) : 0;
  }

  async function carryOut(limit: number): Promise<void> {
    const isProbe = breaker.state() === "probing";
    const suspects = isSuspectsTurn;
    const leasedAt = clock.elapsed();
    try {
      const request = { leaseMs, limit, held: held().map(seqOf), suspects };
      const { events, dead, nextDueInMs, isSuspectDue } = await batcher.claim(request);
      reportCrashed(dead);
      if (nextDueInMs !== null) pollIn(nextDueInMs);
      if (events.length === limit) expectDue();
      if (suspects) isSuspectsTurn = events.length > 0;
      else if (isSuspectDue) beginSuspectsTurnWhenDue();
      if (isProbe && events.length === 0 && !isSuspectsTurn) breaker.probeUnused();
      for (const event of events) {
        slots.hold(event);
        waiting.push({ event, leasedAt, parsed: undefined });
      }
      if (!suspects && !isSuspectDue && events.length < limit) drains.noneIsDue();
    } catch {
      // The batcher has reported the failure, and the next poll tries again.
      if (isProbe) breaker.probeUnused();
    }
  }

  function beginSuspectsTurnWhenDue(): void {
    const waitMs = othersTurnEndsAt - clock.elapsed();
    if (waitMs > 0) return pollIn(waitMs);
    isSuspectsTurn = true;
    expectDue();
    suspectsTurnBeganAt = clock.elapsed();
  }

  function endSuspectsTurn(): void {
    isSuspectsTurn = false;
    expectDue();
    othersTurnEndsAt = 2 * clock.elapsed() - suspectsTurnBeganAt;
  }

  function reportCrashed(events: readonly CrashedEvent[]): void {
    for (const event of events) observe.dead(event, event.attempts, CRASH_LOOP);
  }

  function held(): ClaimedEvent[] {
    return [...slots.held(), ...locked];
  }

  // --- ending a lease

  function giveBack(event: ClaimedEvent): void {
    expectDue();
    settle(event, asIfNeverClaimed(event, false));
  }

  function giveBackWaiting(): void {
    for (const { event } of waiting.splice(0)) giveBack(event);
  }

  /**
   * If a lease expired before its callback and settlement end, another process would hand off the event too and count a
   * crash. So waiting events with too little time left are given back. The poll calls this each second, even if no slot is free.
   *
   * Events that another process may have taken over meanwhile are given back too: here they would begin without a flag.
   */
  function giveBackOld(): void {
    if (!config.leasesExpire) return;
    const oldest = Math.max(clock.elapsed() - MOST_WAIT_MS, config.leasedSince());
    if (waiting.every(({ leasedAt }) => leasedAt >= oldest)) return;
    for (const queued of waiting.splice(0)) {
      if (queued.leasedAt < oldest) giveBack(queued.event);
      else waiting.push(queued);
    }
  }

  /** A lease may begin anew several times while an event waits, so a first attempt has waited since the event was received. */
  function waitingAgeMs({ event, leasedAt }: QueuedEvent): number {
    const isFirst = event.attempts === 0 && !event.replayed;
    return isFirst ? clock.now() - event.receivedAt : clock.elapsed() - leasedAt;
  }

  /** @param ended called with each result, of which those before the last are `locked` */
  function settle(event: ClaimedEvent, settlement: Settlement, ended?: (result: SettleResult | null) => void): void {
    let isHeld = true;
    batcher.settle(settlement, (result) => {
      // A transaction that stays open for long must not stop the hand-off of other events.
      if (isHeld) {
        isHeld = false;
        slots.release(event);
        if (event.crashes >= SUSPECT_CRASHES) endSuspectsTurn();
        if (waiting.length > 0 || dueSince !== null) schedulePump();
      }
      if (result === "locked") locked.add(event);
      else locked.delete(event);
      // With null the settlement was not written: the event stays leased, and the next start takes it over.
      ended?.(result);
      if (result === false) observe.leaseLost(event);
      if (result === null) observe.notSettled(event);
      if (result === "completed") observe.handedOff(event, event.attempts + 1);
      if (result !== "locked") drains.leaseEnded(event, settlement, result);
    });
    if (waiting.length > 0) schedulePump();
  }

  return {
    reserve: () => mayStart() && mayLease() && !isSuspectsTurn && !isClaimOverdue() && slots.reserve(1),
    unreserve() {
      slots.unreserve(1);
      if (waiting.length > 0 || dueSince !== null) schedulePump();
    },
    take(queued) {
      slots.unreserve(1);
      slots.hold(queued.event);
      if (!mayStart()) return giveBack(queued.event);
      waiting.push(queued);
      schedulePump();
    },
    expectCompletion: attempts.expectCompletion,
    leaseMs,
    nudge,
    reportCrashed,
    start() {
      if (state !== "idle") return;
      state = "started";
      poll();
    },
    held: () => held().map(seqOf),
    breakerState: () => breaker.state(),
    running: attempts.running,
    oldestWaitingAgeMs: () => Math.max(0, ...waiting.map(waitingAgeMs)),
    drain: drains.drain,
    async close(graceMs) {
      state = "closing";
      await claiming;
      wakeUp?.timer.cancel();
      giveBackWaiting();
      drains.update();
      if (attempts.running() > 0 && graceMs > 0) await withDeadline(slots.whenEmpty(), clock, graceMs, undefined);
      breaker.close();
      attempts.abortAll();
    },
  };
}

function seqOf({ seq }: ClaimedEvent): number {
  return seq;
}
