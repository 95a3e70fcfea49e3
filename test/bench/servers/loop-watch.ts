import { monitorEventLoopDelay } from "node:perf_hooks";
import { waitQuantile } from "../statistics.js";

/** How long the event loop was busy with something else, in milliseconds. */
export interface LoopDelay {
  /** What 99 % of all that comes at a random moment wait at most. */
  p99: number;
  max: number;
  /** What Node's own `monitorEventLoopDelay` says, its resolution taken off. */
  monitorP99: number;
}

export interface LoopWatch {
  stop(): LoopDelay;
}

const RESOLUTION_MS = 1;

/**
 * A timer that comes every millisecond when the loop is free. `monitorEventLoopDelay` is the same with one sample for
 * each tick, so that a stall of 100 ms counts as little as a tick of one; here each gap counts by its length.
 */
export function watchLoop(): LoopWatch {
  const monitor = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  monitor.enable();
  const gaps: number[] = [];
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    gaps.push(now - last);
    last = now;
  }, RESOLUTION_MS);

  return {
    stop() {
      gaps.push(performance.now() - last);
      clearInterval(timer);
      monitor.disable();
      return {
        p99: waitQuantile(gaps, RESOLUTION_MS, 99),
        max: Math.max(0, gaps.reduce((longest, gap) => Math.max(longest, gap), 0) - RESOLUTION_MS),
        monitorP99: Math.max(0, monitor.percentile(99) / 1e6 - RESOLUTION_MS),
      };
    },
  };
}
