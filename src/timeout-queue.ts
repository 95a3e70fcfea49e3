import type { Clock, ClockTimer } from "./clock.js";

/**
 * Timeouts of one length for many at once, with one timer: whoever began first runs out first. Elapsed time, so that
 * setting the machine's clock ends nobody's time.
 */
export interface TimeoutQueue<Key> {
  add(key: Key): void;
  delete(key: Key): void;
  clear(): void;
  /** From now on no timer outlives the last key. */
  close(): void;
}

/** How one thing's time begins; `cancel` ends it early. */
export type StartTimeout = (onTimeout: () => void) => ClockTimer;

/** {@link StartTimeout} over a queue of callbacks. */
export function startIn(queue: TimeoutQueue<() => void>): StartTimeout {
  return (onTimeout) => {
    queue.add(onTimeout);
    return { cancel: () => queue.delete(onTimeout) };
  };
}

export function createTimeoutQueue<Key>(
  clock: Clock,
  timeoutMs: number,
  onTimeout: (key: Key) => void,
): TimeoutQueue<Key> {
  const deadlines = new Map<Key, number>();
  let timer: ClockTimer | null = null;
  let closed = false;

  function arm(): void {
    const earliest = deadlines.values().next().value;
    if (timer !== null || earliest === undefined) return;
    // Left running when its key goes: it then finds nothing and arms the next. A timer per key would cost each event.
    timer = clock.setTimeout(expire, Math.max(1, earliest - clock.elapsed()));
  }

  function expire(): void {
    timer = null;
    const now = clock.elapsed();
    for (const [key, deadline] of deadlines) {
      if (deadline > now) break;
      deadlines.delete(key);
      onTimeout(key);
    }
    arm();
  }

  function cancelIfIdle(): void {
    if (deadlines.size > 0) return;
    timer?.cancel();
    timer = null;
  }

  return {
    add(key) {
      deadlines.set(key, clock.elapsed() + timeoutMs);
      arm();
    },
    delete(key) {
      deadlines.delete(key);
      if (closed) cancelIfIdle();
    },
    clear() {
      deadlines.clear();
      cancelIfIdle();
    },
    close() {
      closed = true;
      cancelIfIdle();
    },
  };
}
