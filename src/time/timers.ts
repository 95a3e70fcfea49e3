import type { Clock, ClockTimer } from "./clock.js";

/**
 * The returned function runs `work` once at the end of the event loop's turn, however often it is called. By then the turn's
 * requests and results of commits have been handled.
 */
export function oncePerTurn(work: () => void): () => void {
  let isScheduled = false;
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      work();
    });
  };
}

/** Resolves with the result of `work`, or with `late` after `timeoutMs`. The work then continues, and its result is dropped. */
export function withDeadline<Result, Late>(
  work: Promise<Result>,
  clock: Clock,
  timeoutMs: number,
  late: Late,
): Promise<Result | Late> {
  return new Promise((resolve, reject) => {
    const timeout = clock.setTimeout(() => resolve(late), timeoutMs);
    work.then(
      (result) => {
        timeout.cancel();
        resolve(result);
      },
      (error: unknown) => {
        timeout.cancel();
        reject(error);
      },
    );
  });
}

/** Calls back at the earliest of its times, and drops the others. */
export interface WakeTimer {
  /** Milliseconds since 1970. */
  wakeAt(at: number): void;
  clear(): void;
}

export function createWakeTimer(clock: Clock, wake: () => void): WakeTimer {
  let pending: { at: number; timer: ClockTimer } | null = null;

  return {
    wakeAt(at) {
      if (pending !== null && pending.at <= at) return;
      pending?.timer.cancel();
      const timer = clock.setTimeout(
        () => {
          pending = null;
          wake();
        },
        Math.max(0, at - clock.now()),
      );
      pending = { at, timer };
    },
    clear() {
      pending?.timer.cancel();
      pending = null;
    },
  };
}
