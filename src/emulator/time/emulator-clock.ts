import type { Clock } from "../../time/clock.js";

/** The service's time: it goes on as the clock below it does, and can be moved forward. */
export interface EmulatorClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Sets it forward; a moment that is past changes nothing, so that no two events change places. */
  moveTo(atMs: number): void;
}

/**
 * @param base what it follows: the system's clock, or one that stands still
 * @param startMs the time it begins at. @default that of `base`
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
