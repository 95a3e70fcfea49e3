import type { Clock, ClockTimer } from "../../../base/time/clock.js";
import type { ClaimResult, ClaimedEvent } from "../batch.js";
import type { Batcher } from "../batcher.js";

interface ClaimsConfig {
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

/**
 * From this number of held bytes on, a new event is stored as `ready`, not `leased`, and its body
 * is not kept in memory.
 */
const MAX_HELD_BYTES = 16 * 1024 * 1024;

/** Counts the events that a dispatcher holds, and how many more it can hold. */
export function createSlots(capacity: number) {
  const occupants = new Map<number, ClaimedEvent>();
  /**
   * Events whose settlement waits for the end of a callback's transaction. They take no slot, but
   * are held.
   */
  const locked = new Set<ClaimedEvent>();
  let heldBytes = 0;
  let reserved = 0;
  let onEmpty: (() => void) | null = null;

  const free = (): number =>
    heldBytes >= MAX_HELD_BYTES ? 0 : capacity - occupants.size - reserved;

  return {
    /**
     * Reserves slots for events that will be held. @returns false, with no slot reserved, when not
     * enough are free
     */
    reserve(count: number): boolean {
      if (free() < count) return false;
      reserved += count;
      return true;
    },
    unreserve(count: number): void {
      reserved -= count;
    },
    hold(event: ClaimedEvent): void {
      occupants.set(event.seq, event);
      heldBytes += event.body.byteLength;
    },
    release({ seq, token, body }: ClaimedEvent): void {
      // The commit that ended this lease may also have claimed the event again. The new lease,
      // which has another token, stays.
      if (occupants.get(seq)?.token === token) occupants.delete(seq);
      heldBytes -= body.byteLength;
      if (occupants.size === 0) onEmpty?.();
    },
    lock: (event: ClaimedEvent) => void locked.add(event),
    unlock: (event: ClaimedEvent) => void locked.delete(event),
    /**
     * The events whose lease has not ended: they wait, run, or have a settlement that is not
     * durable yet.
     */
    held: (): ClaimedEvent[] => [...occupants.values(), ...locked],
    free,
    reserved: (): number => reserved,
    /** True when no slot is taken or reserved. */
    isEmpty: () => occupants.size + reserved === 0,
    /** Resolves when no slot is taken. */
    whenEmpty: () =>
      new Promise<void>((resolve) => (occupants.size === 0 ? resolve() : (onEmpty = resolve))),
  };
}

type Slots = ReturnType<typeof createSlots>;
