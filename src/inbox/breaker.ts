import type { Clock, ClockTimer } from "../time/clock.js";

/** Failures in a row, over any events, that open the breaker. */
export const BREAKER_THRESHOLD = 10;
const FIRST_PROBE_MS = 1000;
const LONGEST_PROBE_MS = 60_000;

/**
 * Stops hand-offs while the user's system is down, so that an hour of downtime costs one attempt of a few
 * probes and not one of every event that waits.
 *
 *     closed ──10 failures in a row──▶ open ──probe is due──▶ probing
 *        ▲                              ▲                        │
 *        └───────── success ────────────┼────────────────────────┤
 *                                       └──── failure (delay ×2) ┘
 *
 * A probe is an ordinary attempt of the event that is due first. It counts as one, and its event backs off as
 * ever: so the next probe takes another event, and one that can never succeed still comes to its end.
 */
export interface Breaker {
  /** `closed`: all may run. `open`: nothing starts. `probing`: one may run. */
  state(): "closed" | "open" | "probing";
  succeeded(): void;
  failed(): void;
  /** A probe found nothing to try. */
  probeUnused(): void;
  close(): void;
}

export function createBreaker(
  clock: Clock,
  /** Told of the change from closed to open and back, and of each probe that may run. */
  told: { onOpen: () => void; onProbe: () => void; onClose: () => void },
): Breaker {
  let state: "closed" | "open" | "probing" = "closed";
  let failuresInARow = 0;
  let probeDelayMs = FIRST_PROBE_MS;
  let timer: ClockTimer | null = null;

  function waitForProbe(): void {
    state = "open";
    timer?.cancel();
    timer = clock.setTimeout(() => {
      state = "probing";
      told.onProbe();
    }, probeDelayMs);
  }

  return {
    state: () => state,
    succeeded() {
      failuresInARow = 0;
      if (state === "closed") return;
      timer?.cancel();
      probeDelayMs = FIRST_PROBE_MS;
      state = "closed";
      told.onClose();
    },
    failed() {
      failuresInARow += 1;
      if (state === "closed" && failuresInARow >= BREAKER_THRESHOLD) {
        waitForProbe();
        told.onOpen();
      } else if (state === "probing") {
        probeDelayMs = Math.min(LONGEST_PROBE_MS, probeDelayMs * 2);
        waitForProbe();
      }
    },
    probeUnused() {
      if (state === "probing") waitForProbe();
    },
    close: () => timer?.cancel(),
  };
}
