import type { Clock, ClockTimer } from "./clock.js";

/**
 * However often it is called in one turn of the event loop, `work` runs once, at the end of that turn: after everything
 * that the turn brought (requests, results of a commit).
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

/** What `work` resolves with, or `late` when `timeoutMs` are over first. The work goes on, and its result is dropped. */
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

/** Wakes at the earliest of the times it was given. */
export interface WakeTimer {
  /** Milliseconds since 1970. */
  wakeAt(at: number): void;
  clear(): void;
}

export function createWakeTimer(clock: Clock, wake: () => void): WakeTimer {
  let pending: { at: number; timer: ClockTimer } | null = null;

  function ring(): void {
    pending = null;
    wake();
  }

  return {
    wakeAt(at) {
      if (pending !== null && pending.at <= at) return;
      pending?.timer.cancel();
      pending = { at, timer: clock.setTimeout(ring, Math.max(0, at - clock.now())) };
    },
    clear() {
      pending?.timer.cancel();
      pending = null;
    },
  };
}
