import type { Clock } from "../../time/clock.js";

/** The service's time: it follows another clock, and can be moved forward. */
export interface EmulatorClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Moves it forward. A moment in the past changes nothing, so that events keep their order. */
  moveTo(atMs: number): void;
}

/**
 * @param base the clock that it follows: the system's, or a manual one
 * @param startMs the time at which it starts. @default that of `base`
 */
export function createEmulatorClock(base: Pick<Clock, "now">, startMs: number = base.now()): EmulatorClock {
  let ahead = startMs - base.now();
  const now = (): number => base.now() + ahead;
  return {
    now,
    moveTo(atMs) {
      ahead += Math.max(0, atMs - now());
    },
  };
}
