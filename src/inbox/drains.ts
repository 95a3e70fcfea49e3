import type { Clock } from "../time/clock.js";
import type { ClaimedEvent, Settlement, SettleResult } from "./store.js";

export interface DrainsConfig {
  clock: Clock;
  /** The events whose lease has not ended. */
  held: () => ClaimedEvent[];
  /** Causes a claim. */
  nudge: () => void;
  /** Whether no event is claimed now, because the dispatcher does not run or its breaker is open. */
  isPaused: () => boolean;
}

export interface Drains {
  /**
   * Resolves with true once a claim that began after this call has left no event due, and the events that were held then have
   * ended; an event that is due again at once, or whose lease was lost, begins that anew. Later events are not waited for, so
   * steady traffic ends it too.
   * Resolves with false after `timeoutMs`, when nothing is held while hand-offs are paused, and when a settlement is not written.
   */
  drain(timeoutMs: number): Promise<boolean>;
  claimBegan(): void;
  /** The last claim has left no due event. */
  noneIsDue(): void;
  /** @param result null when the settlement was not written */
  leaseEnded(event: ClaimedEvent, settlement: Settlement, result: SettleResult | null): void;
  /** Ends the drains that have nothing more to wait for. Called when hand-offs pause, and after each claim. */
  update(): void;
}

interface Drain {
  /** It waits for a claim that is not one of this many. */
  claimsBefore: number;
  /** Of the events that were held when such a claim had left none due, those that have not ended; null before. */
  left: Set<ClaimedEvent> | null;
  end(isDone: boolean): void;
}

/** The calls of `drain` that wait. */
export function createDrains({ clock, held, nudge, isPaused }: DrainsConfig): Drains {
  const drains = new Set<Drain>();
  /** How many claims have begun. */
  let claims = 0;

  function begin(drain: Drain): void {
    drain.claimsBefore = claims;
    drain.left = null;
    nudge();
  }

  function update(): void {
    if (drains.size === 0) return;
    const paused = isPaused();
    if (paused && held().length > 0) return;
    for (const drain of drains) if (paused || drain.left?.size === 0) drain.end(!paused);
  }

  return {
    drain: (timeoutMs) =>
      new Promise((resolve) => {
        const timeout = clock.setTimeout(() => drain.end(false), timeoutMs);
        const drain: Drain = {
          claimsBefore: claims,
          left: null,
          end(isDone) {
            timeout.cancel();
            drains.delete(drain);
            resolve(isDone);
          },
        };
        drains.add(drain);
        nudge();
        update();
      }),
    claimBegan() {
      claims += 1;
    },
    noneIsDue() {
      for (const drain of drains) if (claims > drain.claimsBefore) drain.left ??= new Set(held());
    },
    leaseEnded(event, { state, delayMs }, result) {
      if (drains.size === 0) return;
      const isDueAgain = result === false || (result === true && state === "ready" && delayMs === 0);
      for (const drain of drains) {
        if (result === null) drain.end(false);
        else if (drain.left?.delete(event) === true && isDueAgain) begin(drain);
      }
      update();
    },
    update,
  };
}
