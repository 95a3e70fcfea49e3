import { DEFAULT_TOLERANCE_SECONDS } from "../../../signature/verify.js";
import type { ReportEvent } from "../../instance/events.js";
import { shownEndpoint } from "../registrations/registration-row.js";
import type { DeliveryRow } from "./delivery-row.js";
import type { Settlement } from "./settle-delivery.js";

interface ReporterParts {
  report: ReportEvent;
  /** The time of signatures, in milliseconds since 1970. */
  signingTime: () => number;
  /** The machine's time, in milliseconds since 1970. */
  machineNow: () => number;
}

/** Reports the result of an attempt of a delivery. */
export function createSettlementReporter({ report, signingTime, machineNow }: ReporterParts) {
  /** Registrations of which `registration_time_refused` was reported. */
  const timeRefused = new Set<string>();

  return (delivery: DeliveryRow, settlement: Settlement): void => {
    const { registration_id, delivery_id, event_id, event_type } = delivery;
    const { outcome, attempt, isTaken, isVerified, isPaused, nextAttemptAt, url, failureCount } = settlement;
    const registration = { registration_id, endpoint: shownEndpoint(url) };
    const result = "failure" in outcome ? outcome.failure : outcome.status;
    const facts = { ...registration, delivery_id, event_id, event_type, attempt, result };
    if (isVerified) report({ event: "verified", ...facts });
    else if (isTaken) report({ event: attempt === 1 ? "sent" : "retried", ...facts });
    else {
      const next_attempt_at = nextAttemptAt === null ? null : new Date(nextAttemptAt).toISOString();
      report({ event: "refused", ...facts, next_attempt_at });
    }

    const aheadSeconds = Math.round((signingTime() - machineNow()) / 1000);
    const trouble = { ...registration, failure_count: failureCount, last: result, ahead_seconds: aheadSeconds };
    // A receiver that goes by the machine's clock refuses a time so far off with a 4xx.
    const mayRefuseTime = Math.abs(aheadSeconds) > DEFAULT_TOLERANCE_SECONDS;
    const isRefused = typeof result === "number" && result >= 400 && result <= 499;
    if (isRefused && mayRefuseTime && !timeRefused.has(registration_id)) {
      timeRefused.add(registration_id);
      report({ event: "registration_time_refused", ...trouble });
    }
    if (isPaused) report({ event: "registration_paused", ...trouble });
  };
}
