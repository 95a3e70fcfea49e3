import { formatAge } from "../../base/text/format.js";

/**
 * What happened to an event, on the sender's side or in the inbox. Times are in milliseconds since
 * 1970, by the machine's clock.
 */
export interface TimelineStep {
  lane: "sender" | "inbox";
  at: number;
  /** When it ended; missing for a moment. */
  until?: number;
  kind:
    /** One request of the sender. */
    | "attempt"
    /** The sender's next attempt. */
    | "planned"
    /** The sender sends it no more. */
    | "ended"
    | "received"
    /** The inbox had the event already. */
    | "duplicate"
    | "failed"
    | "crashed"
    | "replayed"
    /** The inbox waits for the next hand-off, or for a free slot. */
    | "due"
    /** A hand-off runs now. */
    | "running"
    | "done"
    | "dead"
    | "quarantined";
  tone: "good" | "bad" | "warn" | "busy" | "idle";
  /**
   * A few words. They can repeat what a receiver or a sender wrote, so they have to be made safe
   * for where they are shown.
   */
  text: string;
  /**
   * More about it, perhaps of several lines, such as an error with its stack. As `text`, it is not
   * safe.
   */
  detail?: string;
  /** Where the text leads. */
  href?: string;
  /** The receiver answered the attempt that it had the event already. */
  isDuplicate?: true;
  /** Which delivery it is of, when the event has several: `delivery 12 to wh_1`. */
  delivery?: string;
  /** The service's time, when its clock was moved. */
  serviceAt?: number;
}

/** The timeline of an event, on one axis. */
export interface Timeline {
  /** The earliest first. */
  steps: TimelineStep[];
  /** What has to be known to read it: sentences. */
  notes: string[];
}

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
