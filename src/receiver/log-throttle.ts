import type { Clock } from "../time/clock.js";

const WINDOW_MS = 1000;

/**
 * One line a second for each key: a flood of forged deliveries must not become a flood of log lines.
 *
 * @returns for a line that may be written, how many of its key were held back since the one before; else null
 */
export function createLogThrottle(clock: Clock): (key: string) => number | null {
  const windows = new Map<string, { endsAt: number; suppressed: number }>();
  return (key) => {
    const now = clock.elapsed();
    const window = windows.get(key);
    if (window !== undefined && now < window.endsAt) {
      window.suppressed += 1;
      return null;
    }
    windows.set(key, { endsAt: now + WINDOW_MS, suppressed: 0 });
    return window?.suppressed ?? 0;
  };
}
