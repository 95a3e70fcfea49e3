import { createManualClock, type ManualClock } from "../../src/kit/testing/index.js";

/**
 * A manual clock that tells when a timer of a certain length was set; each `armed` stands for one
 * timer.
 */
export function watchedClock(
  startMs?: number,
): ManualClock & { armed(delayMs: number): Promise<void> } {
  const clock = createManualClock(startMs);
  const set: number[] = [];
  let onSet: () => void = () => undefined;
  return {
    ...clock,
    setTimeout(callback, delayMs) {
      set.push(delayMs);
      onSet();
      return clock.setTimeout(callback, delayMs);
    },
    async armed(delayMs) {
      while (!set.includes(delayMs)) await new Promise<void>((resolve) => (onSet = resolve));
      set.splice(set.indexOf(delayMs), 1);
    },
  };
}
