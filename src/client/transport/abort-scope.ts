import type { Clock } from "../../time/clock.js";
import type { PlatformAbortSignal } from "../platform.js";

/** What ends when the caller's signal is aborted, or when its time is over. */
export interface AbortScope {
  readonly signal: PlatformAbortSignal;
  /** What `work` gives; rejects with the signal's reason as soon as that is aborted, whatever `work` does about it. */
  race<Result>(work: Promise<Result>): Promise<Result>;
  /** Leaves no listener and no timer behind. */
  close(): void;
}

export interface AbortScopeOptions {
  signal: PlatformAbortSignal | undefined;
  clock: Clock;
  /** Milliseconds; absent: as long as it takes. */
  timeoutMs?: number | undefined;
  /** Makes the reason when the time is over. */
  onTimeout?: () => Error;
}

// Not AbortSignal.any and AbortSignal.timeout: these would keep time by themselves, and a test could not move it.
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
