import type { Clock, ClockTimer } from "../../../base/time/clock.js";
import type { ClaimResult } from "../batch.js";
import type { Batcher } from "../batcher.js";
import type { Slots } from "./slots.js";

export interface ClaimsConfig {
  clock: Clock;
  batcher: Pick<Batcher, "claim">;
  slots: Slots;
  leaseMs: number;
  /** How many events may be leased now. */
  limit: () => number;
  /** The `seq` of each event that this process holds. */
  held: () => number[];
  began: () => void;
  /**
   * @param result null when the claim failed. @param leasedAt when the leases were asked for.
   * @param isEmpty nothing due is left
   */
  ended: (result: ClaimResult | null, leasedAt: number, isEmpty: boolean) => void;
  /** Called each second, and when an event is known to be due. Causes the next call of `begin`. */
  onPoll: () => void;
}

/** How often the store is asked for events that the command line or another process made ready. */
const POLL_MS = 1000;
/**
 * When a claim has waited for this long, due retries come first: new events take no slot until it
 * has begun.
 */
const CLAIM_PATIENCE_MS = 100;

/**
 * Asks the store for due events: when some may be due, and once a second. One claim is made at a
 * time.
 */
export function createClaims({
  clock,
  batcher,
  slots,
  leaseMs,
  limit,
  held,
  began,
  ended,
  onPoll,
}: ClaimsConfig) {
  let isStopped = false;
  let claiming: Promise<void> | null = null;
  /**
   * Since when events may be due in the store, by `clock.elapsed()`; null when a claim has shown
   * that none is.
   */
  let dueSince: number | null = null;
  let wakeUp: { at: number; timer: ClockTimer } | null = null;

  function expectDue(): void {
    dueSince ??= clock.elapsed();
  }

  /** Polls after the shortest of the given delays. Each poll sets the time of the next one. */
  function expectDueIn(delayMs: number): void {
    const at = clock.elapsed() + delayMs;
    if (isStopped || (wakeUp !== null && wakeUp.at <= at)) return;
    wakeUp?.timer.cancel();
    wakeUp = { at, timer: clock.setTimeout(poll, delayMs) };
  }

  function poll(): void {
    wakeUp = null;
    expectDueIn(POLL_MS);
    expectDue();
    onPoll();
  }

  async function claim(count: number): Promise<void> {
    const leasedAt = clock.elapsed();
    // The batcher has reported a failure, and the next poll tries again.
    const result = await batcher.claim({ leaseMs, limit: count, held: held() }).catch(() => null);
    claiming = null;
    slots.unreserve(count);
    if (typeof result?.nextDueInMs === "number") expectDueIn(result.nextDueInMs);
    const isFull = result?.events.length === count;
    if (isFull) expectDue();
    ended(result, leasedAt, result !== null && !isFull);
  }

  return {
    expectDue,
    expectDueIn,
    poll,
    isDue: () => dueSince !== null,
    /** Begins a claim if events may be due, there is room for them, and none is under way. */
    begin(): void {
      if (dueSince === null || claiming !== null) return;
      const count = limit();
      if (count === 0 || !slots.reserve(count)) return;
      dueSince = null;
      began();
      claiming = claim(count);
    },
    /** True while new events must be born ready. */
    isOverdue: () =>
      claiming === null && dueSince !== null && clock.elapsed() - dueSince >= CLAIM_PATIENCE_MS,
    /** Ends the polls, and waits for the claim that is under way. */
    async stop(): Promise<void> {
      isStopped = true;
      wakeUp?.timer.cancel();
      await claiming;
    },
  };
}
