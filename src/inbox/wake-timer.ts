import type { Clock, ClockTimer } from "../time/clock.js";

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
