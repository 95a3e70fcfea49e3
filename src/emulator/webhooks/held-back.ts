import { systemClock } from "../../clock.js";

/** Deliveries that wait until another one of their registration went out. */
export interface HeldBack {
  /** Resolves when one went out, after `atMostMs`, or when `signal` aborts. Never rejects. */
  hold(registrationId: string, atMostMs: number, signal: AbortSignal): Promise<void>;
  /** Another one of this registration went out, and was answered. */
  wentOut(registrationId: string): void;
}

export function createHeldBack(): HeldBack {
  const releases = new Map<string, Set<() => void>>();
  return {
    hold: (registrationId, atMostMs, signal) =>
      new Promise((resolve) => {
        const waiting = releases.get(registrationId) ?? new Set();
        releases.set(registrationId, waiting);
        function release(): void {
          timer.cancel();
          waiting.delete(release);
          signal.removeEventListener("abort", release);
          resolve();
        }
        const timer = systemClock.setTimeout(release, atMostMs);
        waiting.add(release);
        signal.addEventListener("abort", release);
        if (signal.aborted) release();
      }),
    wentOut(registrationId) {
      for (const release of releases.get(registrationId) ?? []) release();
    },
  };
}

/** Waits in real time, unless `signal` aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return createHeldBack().hold("", ms, signal);
}
