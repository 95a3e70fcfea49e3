import type { JSX } from "preact";
import { formatAge, formatTime } from "./format.js";

interface MomentProps {
  /** In milliseconds since 1970. */
  at: number;
  /** The present time, by the clock of the server. */
  now: number;
  /** Shows the date and the time too, which are a tooltip otherwise. */
  full?: boolean;
}

/** A time as seen from now: `4 min ago`, `in 2 h`. */
export function Moment({ at, now, full = false }: MomentProps): JSX.Element {
  const distance = distanceOf(at, now);
  const time = formatTime(at);
  return (
    <time dateTime={time.replace(" ", "T")} title={full ? undefined : time}>
      {full ? (
        <>
          {time} <span class="muted">({distance})</span>
        </>
      ) : (
        distance
      )}
    </time>
  );
}

function distanceOf(at: number, now: number): string {
  // The page knows the server's time as it was at the last answer.
  if (Math.abs(at - now) < 2000) return "now";
  return at > now ? `in ${formatAge(at - now)}` : `${formatAge(now - at)} ago`;
}
