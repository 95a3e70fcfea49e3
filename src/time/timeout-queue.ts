import type { Clock, ClockTimer } from "./clock.js";

/**
 * Timeouts of one length for many at once, with one timer: whoever began first runs out first. Elapsed time, so that
 * setting the machine's clock ends nobody's time.
 */
export interface TimeoutQueue<Key> {
  /** The key's time begins; `cancel` ends it early. */
  add(key: Key): ClockTimer;
  clear(): void;
  /** From now on no timer outlives the last key. */
  close(): void;
}

/** How one thing's time begins; `cancel` ends it early. */
export type StartTimeout = (onTimeout: () => void) => ClockTimer;

/** One that runs, between the one that began before it and the one that began after it. */
class Timeout<Key> implements ClockTimer {
  previous: Timeout<Key> | null = null;
  next: Timeout<Key> | null = null;
  isOver = false;
  readonly #onCancel: (timeout: Timeout<Key>) => void;

  constructor(
    readonly key: Key,
    readonly deadline: number,
    onCancel: (timeout: Timeout<Key>) => void,
  ) {
    this.#onCancel = onCancel;
  }

  cancel(): void {
    if (!this.isOver) this.#onCancel(this);
  }
}

export function createTimeoutQueue<Key>(
  clock: Clock,
  timeoutMs: number,
  onTimeout: (key: Key) => void,
): TimeoutQueue<Key> {
  // A list and no Map: every delivery has three of these, and nearly all are cancelled.
  let first: Timeout<Key> | null = null;
  let last: Timeout<Key> | null = null;
  let timer: ClockTimer | null = null;
  let closed = false;

  function remove(timeout: Timeout<Key>): void {
    const { previous, next } = timeout;
    timeout.isOver = true;
    if (previous === null) first = next;
    else previous.next = next;
    if (next === null) last = previous;
    else next.previous = previous;
    // A link from one that is over would keep all that came after it in memory.
    timeout.previous = null;
    timeout.next = null;
  }

  function cancel(timeout: Timeout<Key>): void {
    remove(timeout);
    if (closed) cancelIfIdle();
  }

  function arm(): void {
    if (timer !== null || first === null) return;
    // Left running when its key goes: it then finds nothing and arms the next. A timer per key would cost each event.
    timer = clock.setTimeout(expire, Math.max(1, first.deadline - clock.elapsed()));
  }

  function expire(): void {
    timer = null;
    const now = clock.elapsed();
    while (first !== null && first.deadline <= now) {
      const { key } = first;
      remove(first);
      onTimeout(key);
    }
    arm();
  }

  function cancelIfIdle(): void {
    if (first !== null) return;
    timer?.cancel();
    timer = null;
  }

  return {
    add(key) {
      const timeout = new Timeout(key, clock.elapsed() + timeoutMs, cancel);
      timeout.previous = last;
      if (last === null) first = timeout;
      else last.next = timeout;
      last = timeout;
      arm();
      return timeout;
    },
    clear() {
      while (first !== null) remove(first);
      cancelIfIdle();
    },
    close() {
      closed = true;
      cancelIfIdle();
    },
  };
}
