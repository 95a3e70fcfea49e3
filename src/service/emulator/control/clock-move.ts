// Without an import, because the pages read these types in a browser.

/** The emulator's time as the control API gives it. */
export interface ServiceTime {
  /** A date-time. */
  now: string;
}

/** What was published and sent during a span of time. */
export interface SendingSummary {
  signals_published: number;
  /**
   * `waiting` counts the deliveries that wait at the end, retries included. The other numbers are
   * changes during the span.
   */
  deliveries: {
    created: number;
    delivered: number;
    failed: number;
    expired: number;
    waiting: number;
  };
  /** The ids of the registrations that were paused during the span. */
  registrations_paused: string[];
}

/** The new time, and a summary of what was sent during the advance. */
export interface ClockMove extends ServiceTime, SendingSummary {}
