import type { Clock, ClockTimer } from "../../../base/time/clock.js";
import type { ClaimedEvent } from "../batch.js";
import type { Pause } from "../situation/trouble.js";

/**
 * The breaker opens when this many events have failed since the last success, each of them once or
 * more.
 */
export const BREAKER_THRESHOLD = 10;
const FIRST_PROBE_MS = 1000;
export const LONGEST_PROBE_MS = 60_000;

/**
 * Stops hand-offs while the user's system is down, so that only the few events that are used as
 * probes lose attempts.
 *
 *     closed ──10 events fail──▶ open ──probe is due──▶ probing
 *        ▲                          ▲                      │
 *        └──────── success ─────────┼──────────────────────┤
 *                                   └── failure (delay ×2) ┘
 *
 * A probe is an ordinary attempt. One event that always fails opens nothing, and is not the probe
 * twice in a row while another is due. A probe that ends with `PermanentFailure` or `RetryLater`
 * shows nothing, and the next one follows.
 */
export function createBreaker(
  clock: Clock,
  /**
   * `onOpen` and `onClose` are called once for each change between closed and open; `onProbe` when
   * a probe can run.
   */
  listener: { onOpen: () => void; onProbe: () => void; onClose: () => void },
) {
  let state: "closed" | "open" | "probing" = "closed";
  /** The events that have failed since the last success. */
  const failed = new Set<number>();
  /**
   * How often ordered ones of them have failed again: while one fails, it keeps those behind it from
   * failing too.
   */
  let repeats = 0;
  /** The `seq` of the last probe, which failed. */
  let lastProbe: number | null = null;
  let probeDelayMs = FIRST_PROBE_MS;
  let timer: ClockTimer | null = null;
  let isEnded = false;
  let pause: Pause | null = null;

  function waitForProbe(): void {
    state = "open";
    timer?.cancel();
    if (pause !== null) pause.nextTryAt = clock.now() + probeDelayMs;
    if (isEnded) return;
    timer = clock.setTimeout(probe, probeDelayMs);
  }

  /** @returns how much has failed: one event that always fails opens nothing */
  function addFailed(seq: number, isOrdered: boolean): number {
    if (isOrdered && failed.has(seq)) repeats += 1;
    failed.add(seq);
    return failed.size === 1 ? 1 : failed.size + repeats;
  }

  function probe(): void {
    state = "probing";
    listener.onProbe();
  }

  return {
    /** `closed`: all events can run. `open`: no event starts. `probing`: one event can run. */
    state: () => state,
    /** Null while it is closed. */
    pause: () => pause,
    /** Tries one event now. */
    probeNow(): void {
      if (state !== "open" || isEnded) return;
      timer?.cancel();
      probe();
    },
    /**
     * Not the event of the last probe while another is due, and of the others the one with the
     * fewest attempts.
     */
    chooseProbe(events: readonly ClaimedEvent[]): ClaimedEvent | undefined {
      const [first, second] = events.toSorted((a, b) => a.attempts - b.attempts);
      return first?.seq === lastProbe ? (second ?? first) : first;
    },
    succeeded(): void {
      failed.clear();
      repeats = 0;
      if (state === "closed") return;
      timer?.cancel();
      lastProbe = null;
      probeDelayMs = FIRST_PROBE_MS;
      state = "closed";
      pause = null;
      listener.onClose();
    },
    /** @param error as it is stored */
    failed({ seq, lane }: Pick<ClaimedEvent, "seq" | "lane">, error: string | null): void {
      const [text = ""] = (error ?? "").split("\n", 1);
      if (state === "probing") {
        if (pause !== null) pause.error = text;
        lastProbe = seq;
        probeDelayMs = Math.min(LONGEST_PROBE_MS, probeDelayMs * 2);
        waitForProbe();
      } else if (state === "closed" && addFailed(seq, lane != null) >= BREAKER_THRESHOLD) {
        pause = { since: clock.now(), error: text, nextTryAt: 0 };
        waitForProbe();
        listener.onOpen();
      }
    },
    /**
     * To be called when no event was due for a probe. The breaker opens again, for the same delay.
     */
    probeUnused(): void {
      if (state === "probing") waitForProbe();
    },
    /** Leaves no timer, also after results that come later. */
    close(): void {
      isEnded = true;
      timer?.cancel();
    },
  };
}

export type Breaker = ReturnType<typeof createBreaker>;
