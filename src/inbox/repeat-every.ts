import type { Clock } from "../time/clock.js";

/** @returns how to stop it */
export function repeatEvery(clock: Clock, intervalMs: number, work: () => void): () => void {
  let timer = clock.setTimeout(tick, intervalMs);
  function tick(): void {
    timer = clock.setTimeout(tick, intervalMs);
    work();
  }
  return () => timer.cancel();
}
