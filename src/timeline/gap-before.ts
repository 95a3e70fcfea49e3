import type { TimelineStep } from "./timeline-step.js";

/** From here on a time between two steps is said in words: an axis that shows it would show nothing else. */
const LONG_MS = 10_000;

/** A time without steps. `isAhead`: it is from now until a step in the future. */
export interface Gap {
  ms: number;
  isAhead: boolean;
}

/** @returns null when the step follows soon */
export function gapBefore({ at }: TimelineStep, previous: TimelineStep | undefined, now: number): Gap | null {
  if (at > now && (previous === undefined || previous.at <= now)) return { ms: at - now, isAhead: true };
  const ms = previous === undefined ? 0 : at - (previous.until ?? previous.at);
  return ms >= LONG_MS ? { ms, isAhead: false } : null;
}
