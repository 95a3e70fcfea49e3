import type { Clock } from "../../time/clock.js";
import type { PlatformAbortSignal } from "../platform.js";

/** One signal for the work of a call. It is aborted by the caller's signal and by the time-out. */
export interface AbortScope {
  readonly signal: PlatformAbortSignal;
  /** Settles like `work`. Rejects with the signal's reason as soon as the signal is aborted, even if `work` still runs. */
  race<Result>(work: Promise<Result>): Promise<Result>;
  /** Removes the listener on the caller's signal, and the timer. */
  close(): void;
}

export interface AbortScopeOptions {
  signal: PlatformAbortSignal | undefined;
  clock: Clock;
  /** Absent: no limit. */
  timeoutMs?: number | undefined;
  /** Returns the reason of the signal after a time-out. */
  onTimeout?: () => Error;
}

// `AbortSignal.timeout` is not used, because a test cannot advance its clock.
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
        const onAbort = (): void => reject(controller.signal.reason as Error);
        const settle =
          <Value>(how: (value: Value) => void) =>
          (value: Value): void => {
            controller.signal.removeEventListener("abort", onAbort);
            how(value);
          };
        controller.signal.addEventListener("abort", onAbort);
        work.then(settle(resolve), settle(reject));
        if (controller.signal.aborted) onAbort();
      });
    },
    close() {
      timer?.cancel();
      signal?.removeEventListener("abort", follow);
    },
  };
}

/**
 * Resolves when the clock's elapsed time has reached `at()`. After each timer it checks the time and calls `at` again: a
 * timer may fire early, and `at` may return a later time. Rejects with the signal's reason as soon as the signal
 * is aborted.
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
