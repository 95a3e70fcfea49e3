import type { Logger } from "pino";
import type { DeliveryRow } from "../webhooks/deliveries/outbox.js";
import type { PublishedSignal } from "../webhooks/deliveries/publish-signal.js";

interface RegistrationFacts {
  registration_id: string;
  /** The registration's url without the query, which may hold a secret. */
  endpoint: string;
}

interface AttemptFacts
  extends
    RegistrationFacts,
    Pick<DeliveryRow, "delivery_id" | "event_id" | "event_type" | "redelivery_of"> {
  /** The signal's type; missing for other events. */
  signal_type?: string;
  /** The slug of the signal's product; missing for other events. */
  slug?: string;
  /** When the attempt ended, by the emulator's clock. */
  at: string;
  /** 1 for the first attempt. */
  attempt: number;
  /** The status of the answer, or why there was none. */
  result: number | string;
  /** In real time, to the last byte of the answer. */
  duration_ms: number;
  /** The answer was `{"duplicate":true}`: the receiver had the event already. */
  duplicate?: true;
  /**
   * The code in the answer, `{"error":{"code":"…"}}`, with which the receiver said why it refused.
   */
  answer_code?: string;
}

interface TroubleFacts extends RegistrationFacts {
  failure_count: number;
  /** The status of the last answer, or why there was none. */
  last: number | string;
  /** How many seconds the time in signatures is ahead of the machine's clock. */
  ahead_seconds: number;
}

/** An event of `onEvent`. Times are ISO 8601. */
export type EmulatorEvent =
  /** An endpoint was registered. Its verification is sent next. */
  (
    | ({ event: "registered"; account_id: number; signal_types: number } & RegistrationFacts)
    /** The endpoint returned the challenge, so the registration is active. */
    | ({ event: "verified" } & AttemptFacts)
    | ({ event: "published"; signal_type: string; tool_id: number } & PublishedSignal)
    /** The first attempt of a delivery was answered with a 2xx. */
    | ({ event: "sent" } & AttemptFacts)
    /** A later attempt of a delivery was answered with a 2xx. */
    | ({ event: "retried" } & AttemptFacts)
    /** An attempt of a delivery failed. `next_attempt_at` is null after the last attempt. */
    | ({ event: "refused"; next_attempt_at: string | null } & AttemptFacts)
    /** The registration was paused after `pauseAfterFailures` failures in a row. */
    | ({ event: "registration_paused" } & TroubleFacts)
    /**
     * The endpoint answered 4xx to a signature with a time that is too far from the machine's
     * clock. Once for each registration.
     */
    | ({ event: "registration_time_refused" } & TroubleFacts)
    /**
     * The control API advanced the clock to `now`. The other fields sum up what was sent meanwhile.
     */
    | ({ event: "clock_moved"; now: string } & SendingSummary)
    /** The emulator itself failed, for example because the disk is full. */
    | { event: "failed"; about: string; error: unknown; request_id?: string }
  ) & {
    /**
     * It happened while the control API advanced the clock. A `clock_moved` follows, which sums up
     * the advance.
     */
    during_advance?: true;
  };

export type ReportEvent = (event: EmulatorEvent) => void;

/** Logs each event and calls the user's function with it. An error of that function is logged. */
export function createReport(onEvent: ReportEvent | undefined, logger: Logger): ReportEvent {
  return (event) => {
    logEvent(event, logger);
    try {
      onEvent?.(event);
    } catch (error) {
      logger.error({ err: error }, "onEvent threw");
    }
  };
}

function logEvent(event: EmulatorEvent, logger: Logger): void {
  if (event.event === "failed")
    logger.error({ err: event.error, requestId: event.request_id }, event.about);
  else if (event.event === "clock_moved") logger.info(event, "the clock was advanced");
  else if ("ahead_seconds" in event)
    logger.warn(event, "a registration does not accept deliveries");
  else logger.debug(event, event.event);
}

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
