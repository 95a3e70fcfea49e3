import { formatAge } from "../../base/text/format.js";
import type { TimelineStep } from "./timeline-step.js";

/**
 * From here on a time between two steps is said in words: an axis that shows it would show nothing
 * else.
 */
const LONG_MS = 10_000;

/**
 * The time without steps before a step, or from now until a step in the future, in words; empty
 * when the step follows soon.
 */
export function gapBefore(
  { at }: TimelineStep,
  previous: TimelineStep | undefined,
  now: number,
): string {
  if (at > now && (previous === undefined || previous.at <= now))
    return `now; next in ${formatAge(at - now)}`;
  const ms = previous === undefined ? 0 : at - (previous.until ?? previous.at);
  return ms >= LONG_MS ? `${formatAge(ms)} later` : "";
}
