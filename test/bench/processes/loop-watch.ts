import { waitQuantile } from "../statistics.js";

/** How long the event loop was busy with something else, in milliseconds. */
export interface LoopDelay {
  /** The longest wait of 99 % of all work that arrives at a random moment. */
  p99: number;
  max: number;
}

const RESOLUTION_MS = 1;

/**
 * A timer that fires every millisecond when the loop is free. Node's `monitorEventLoopDelay` takes
 * one sample for each tick, so that a stall of 100 ms counts as little as a tick of 1 ms. Here each
 * gap counts by its length.
 */
export function watchLoop() {
  const gaps: number[] = [];
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    gaps.push(now - last);
    last = now;
  }, RESOLUTION_MS);

  return {
    stop(): LoopDelay {
      gaps.push(performance.now() - last);
      clearInterval(timer);
      return {
        p99: waitQuantile(gaps, RESOLUTION_MS, 99),
        max: Math.max(0, gaps.reduce((longest, gap) => Math.max(longest, gap), 0) - RESOLUTION_MS),
      };
    },
  };
}
