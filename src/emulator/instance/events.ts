import type { Logger } from "pino";
import type { DeliveryRow } from "../webhooks/deliveries/delivery-row.js";
import type { SendingSummary } from "../webhooks/deliveries/sending-span.js";
import type { PublishedSignal } from "../webhooks/deliveries/publish-signal.js";

/** A registration, without what is secret. */
interface RegistrationFacts {
  registration_id: string;
  /** Its address without the query, which may hold a secret. */
  endpoint: string;
}

/** One attempt of a delivery, and its answer. */
interface AttemptFacts extends RegistrationFacts, Pick<DeliveryRow, "delivery_id" | "event_id" | "event_type"> {
  /** 1 for the first one. */
  attempt: number;
  /** The status of the answer, or why there was none. */
  result: number | string;
}

/** A registration that a person has to do something about. */
interface TroubleFacts extends RegistrationFacts {
  failure_count: number;
  /** The status of its last answer, or why there was none. */
  last: number | string;
  /** How far the time of its signatures is ahead of the machine's. */
  ahead_seconds: number;
}

/** What happened in the emulator. Times are ISO 8601. */
export type EmulatorEvent =
  /** An endpoint was registered; a verification is on its way. */
  | ({ event: "registered"; account_id: number } & RegistrationFacts)
  /** The endpoint echoed the challenge: the registration is active. */
  | ({ event: "verified" } & AttemptFacts)
  | ({ event: "published"; signal_type: string; tool_id: number } & PublishedSignal)
  /** The first attempt of a delivery was answered with a 2xx. */
  | ({ event: "sent" } & AttemptFacts)
  /** A later attempt of a delivery was answered with a 2xx. */
  | ({ event: "retried" } & AttemptFacts)
  /** An attempt of a delivery failed. `next_attempt_at` is null after the last attempt. */
  | ({ event: "refused"; next_attempt_at: string | null } & AttemptFacts)
  /** The registration failed too often and is paused. */
  | ({ event: "registration_paused" } & TroubleFacts)
  /** The registration answers 4xx, and its signatures have a time that receivers refuse. Reported once. */
  | ({ event: "registration_time_refused" } & TroubleFacts)
  /** The clock was moved by the control API; the rest is what was sent on the way. */
  | ({ event: "clock_moved"; now: string } & SendingSummary)
  /** The emulator itself failed, such as on a full disk. */
  | { event: "failed"; about: string; error: unknown; request_id?: string };

export type ReportEvent = (event: EmulatorEvent) => void;

/** Gives each event to the log and to the user's function. What that function throws is logged and stops nothing. */
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
  if (event.event === "failed") logger.error({ err: event.error, requestId: event.request_id }, event.about);
  else if (event.event === "clock_moved") logger.info(event, "the clock was moved");
  else if ("ahead_seconds" in event) logger.warn(event, "a registration needs a person");
  else logger.debug(event, event.event);
}
