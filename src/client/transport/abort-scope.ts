import type { Clock } from "../../time/clock.js";
import type { PlatformAbortSignal } from "../platform.js";

/** Ends when the caller's signal is aborted, or when its time is over. */
export interface AbortScope {
  readonly signal: PlatformAbortSignal;
  /** The result of `work`. Rejects with the signal's reason as soon as the signal is aborted, even if `work` goes on. */
  race<Result>(work: Promise<Result>): Promise<Result>;
  /** Removes the listener and the timer. */
  close(): void;
}

export interface AbortScopeOptions {
  signal: PlatformAbortSignal | undefined;
  clock: Clock;
  /** Milliseconds; absent: no limit. */
  timeoutMs?: number | undefined;
  /** Makes the reason when the time is over. */
  onTimeout?: () => Error;
}

// AbortSignal.any and AbortSignal.timeout have their own clock, which a test cannot move.
export function openAbortScope({ signal, clock, timeoutMs, onTimeout }: AbortScopeOptions): AbortScope {
  const controller = new AbortController();
  const follow = (): void => controller.abort(signal?.reason);
  if (signal?.aborted === true) follow();
  else signal?.addEventListener("abort", follow);
  const timer = timeoutMs === undefined ? null : clock.setTimeout(() => controller.abort(onTimeout?.()), timeoutMs);

  return {
    signal: controller.signal,
    race(work) {
      return new Promise((resolve, reject) => {
        const giveUp = (): void => reject(controller.signal.reason as Error);
        const settle =
          <Value>(how: (value: Value) => void) =>
          (value: Value): void => {
            controller.signal.removeEventListener("abort", giveUp);
            how(value);
          };
        controller.signal.addEventListener("abort", giveUp);
        work.then(settle(resolve), settle(reject));
        if (controller.signal.aborted) giveUp();
      });
    },
    close() {
      timer?.cancel();
      signal?.removeEventListener("abort", follow);
    },
  };
}

/**
 * Resolves when the clock's elapsed time has reached `at`, never earlier: a timer may fire early, and `at` may have moved
 * on meanwhile. Rejects with the signal's reason as soon as the signal is aborted.
 */
export async function pauseUntil(
  clock: Clock,
  at: () => number,
  signal: PlatformAbortSignal | undefined,
): Promise<void> {
  const scope = openAbortScope({ signal, clock });
  try {
    for (let restMs = at() - clock.elapsed(); restMs > 0; restMs = at() - clock.elapsed()) {
      let timer: { cancel(): void } | undefined;
      const delay = new Promise<void>((resolve) => (timer = clock.setTimeout(resolve, restMs)));
      await scope.race(delay).finally(() => timer?.cancel());
    }
  } finally {
    scope.close();
  }
}
