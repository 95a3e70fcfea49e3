import type { Clock } from "../../../base/time/clock.js";
import type { ClaimedEvent, Settlement, SettleResult } from "../batch.js";

export interface DrainsConfig {
  clock: Clock;
  /** The events whose lease has not ended. */
  held: () => ClaimedEvent[];
  /** Causes a claim. */
  nudge: () => void;
  /** Whether no hand-off begins, and none runs as a probe. */
  isPaused: () => boolean;
}

interface Drain {
  /** It waits for a claim that is not one of this many. */
  claimsBefore: number;
  /**
   * Of the events that were held when such a claim had left none due, those that have not ended;
   * null before.
   */
  left: Set<ClaimedEvent> | null;
  end(isDone: boolean): void;
}

/** The calls of `drain` that wait. */
export function createDrains({ clock, held, nudge, isPaused }: DrainsConfig) {
  const drains = new Set<Drain>();
  /** How many claims have begun. */
  let claims = 0;

  function begin(drain: Drain): void {
    drain.claimsBefore = claims;
    drain.left = null;
    nudge();
  }

  /**
   * Ends the drains that have nothing more to wait for. Called when hand-offs pause, and after each
   * claim.
   */
  function update(): void {
    if (drains.size === 0) return;
    const paused = isPaused();
    if (paused && held().length > 0) return;
    for (const drain of drains) if (paused || drain.left?.size === 0) drain.end(!paused);
  }

  return {
    /**
     * True once nothing due at the call is left: a later claim found nothing, and everything leased
     * at that moment has settled. A retry that is due at once is waited for too. Resolves with
     * false after `timeoutMs`, when nothing is held while hand-offs are paused, and when a
     * settlement is not written.
     */
    drain: (timeoutMs: number) =>
      new Promise<boolean>((resolve) => {
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
    claimBegan(): void {
      claims += 1;
    },
    /** The last claim has left no due event. */
    noneIsDue(): void {
      for (const drain of drains) if (claims > drain.claimsBefore) drain.left ??= new Set(held());
    },
    /** @param result null when the settlement was not written */
    leaseEnded(
      event: ClaimedEvent,
      { state, delayMs }: Settlement,
      result: SettleResult | null,
    ): void {
      if (drains.size === 0) return;
      const isDueAgain =
        result === false ||
        // The next one with its key is due now.
        (result === true && (state === "ready" ? delayMs <= 0 : event.lane != null));
      for (const drain of drains) {
        if (result === null) drain.end(false);
        else if (drain.left?.delete(event) === true && isDueAgain) begin(drain);
      }
      update();
    },
    update,
  };
}
