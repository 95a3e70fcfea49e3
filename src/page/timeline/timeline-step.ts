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
