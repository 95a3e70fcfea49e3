import type { Clock, ClockTimer } from "../time/clock.js";

/** Failures in a row, over any events, that open the breaker. */
export const BREAKER_THRESHOLD = 10;
const FIRST_PROBE_MS = 1000;
const LONGEST_PROBE_MS = 60_000;

/**
 * Stops hand-offs while the user's system is down, so that an hour of downtime costs a few probes one attempt each, and
 * not every waiting event.
 *
 *     closed ──10 failures in a row──▶ open ──probe is due──▶ probing
 *        ▲                              ▲                        │
 *        └───────── success ────────────┼────────────────────────┤
 *                                       └──── failure (delay ×2) ┘
 *
 * A probe is an ordinary attempt of the event that is due first. It counts as one, and its event waits its backoff: so the
 * next probe takes another event, and an event that can never succeed still uses up its attempts.
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
  /** Called for the change from closed to open and back, and when a probe may run. */
  listener: { onOpen: () => void; onProbe: () => void; onClose: () => void },
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
      listener.onProbe();
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
      listener.onClose();
    },
    failed() {
      failuresInARow += 1;
      if (state === "closed" && failuresInARow >= BREAKER_THRESHOLD) {
        waitForProbe();
        listener.onOpen();
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
