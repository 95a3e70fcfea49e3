import type { Clock, ClockTimer } from "../time/clock.js";

/** The breaker opens after this many failures in a row, of any events. */
export const BREAKER_THRESHOLD = 10;
const FIRST_PROBE_MS = 1000;
const LONGEST_PROBE_MS = 60_000;

/**
 * Stops hand-offs while the user's system is down, so that only the few events that are used as probes lose attempts.
 *
 *     closed ──10 failures in a row──▶ open ──probe is due──▶ probing
 *        ▲                              ▲                        │
 *        └───────── success ────────────┼────────────────────────┤
 *                                       └──── failure (delay ×2) ┘
 *
 * A probe is an ordinary attempt of the event that is due first. If it fails, its event waits for its back-off, so the next
 * probe uses another event.
 */
export interface Breaker {
  /** `closed`: all events can run. `open`: no event starts. `probing`: one event can run. */
  state(): "closed" | "open" | "probing";
  succeeded(): void;
  failed(): void;
  /** To be called when no event was due for a probe. The breaker opens again, for the same delay. */
  probeUnused(): void;
  close(): void;
}

export function createBreaker(
  clock: Clock,
  /** `onOpen` and `onClose` are called once for each change between closed and open; `onProbe` when a probe can run. */
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
