import { DEFAULT_TOLERANCE_SECONDS } from "../../../signature/verify.js";
import type { ReportEvent } from "../../instance/events.js";
import { shownEndpoint } from "../registrations/registration-row.js";
import type { DeliveryRow } from "./delivery-row.js";
import type { Settlement } from "./settle-delivery.js";

/**
 * Reports the result of an attempt.
 *
 * @param aheadMs how far the time of signatures is ahead of the machine's clock
 */
export function createSettlementReporter(report: ReportEvent, aheadMs: () => number) {
  /** Registrations whose `registration_time_refused` was reported. */
  const timeRefused = new Set<string>();

  return (delivery: DeliveryRow, settlement: Settlement): void => {
    const { registration_id, delivery_id, event_id, event_type } = delivery;
    const { outcome, attempt, isDelivered, isVerified, isPaused, nextAttemptAt, url, failureCount } = settlement;
    const registration = { registration_id, endpoint: shownEndpoint(url) };
    const result = "failure" in outcome ? outcome.failure : outcome.status;
    const facts = { ...registration, delivery_id, event_id, event_type, attempt, result };
    if (isVerified) report({ event: "verified", ...facts });
    else if (isDelivered) report({ event: attempt === 1 ? "sent" : "retried", ...facts });
    else {
      const next_attempt_at = nextAttemptAt === null ? null : new Date(nextAttemptAt).toISOString();
      report({ event: "refused", ...facts, next_attempt_at });
    }

    const aheadSeconds = Math.round(aheadMs() / 1000);
    const trouble = { ...registration, failure_count: failureCount, last: result, ahead_seconds: aheadSeconds };
    // A receiver that uses the machine's clock refuses a timestamp that is this far from its time, with a 4xx.
    const mayRefuseTime = Math.abs(aheadSeconds) > DEFAULT_TOLERANCE_SECONDS;
    const isRefused = typeof result === "number" && result >= 400 && result <= 499;
    if (isRefused && mayRefuseTime && !timeRefused.has(registration_id)) {
      timeRefused.add(registration_id);
      report({ event: "registration_time_refused", ...trouble });
    }
    if (isPaused) report({ event: "registration_paused", ...trouble });
  };
}
