import { systemClock } from "../../../time/clock.js";

/** Deliveries that wait until another one of their registration went out, one of each registration at a time. */
export interface HeldBack {
  /** Whether one of this registration waits. Others overtake it, or none would ever go out. */
  isHolding(registrationId: string): boolean;
  /** Resolves when one went out, after `atMostMs`, or when `signal` aborts. Never rejects. */
  hold(registrationId: string, atMostMs: number, signal: AbortSignal): Promise<void>;
  /** Another one of this registration went out, and was answered. */
  wentOut(registrationId: string): void;
}

export function createHeldBack(): HeldBack {
  const held = new Map<string, AbortController>();
  return {
    isHolding: (registrationId) => held.has(registrationId),
    async hold(registrationId, atMostMs, signal) {
      const released = new AbortController();
      held.set(registrationId, released);
      await pause(atMostMs, AbortSignal.any([signal, released.signal]));
      held.delete(registrationId);
    },
    wentOut: (registrationId) => held.get(registrationId)?.abort(),
  };
}

/** Waits in real time, unless `signal` aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    function end(): void {
      timer.cancel();
      signal.removeEventListener("abort", end);
      resolve();
    }
    const timer = systemClock.setTimeout(end, ms);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}
