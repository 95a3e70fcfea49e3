import { secondsIn, type Assumptions } from "../../instance/assumption-options.js";
import type { RequestOutcome } from "../transport/send-request.js";
import type { DeliveryRow } from "./delivery-row.js";

/**
 * Decides when a failed delivery is sent again. The assumption `retrySeconds` lists the waits;
 * after the last one there is no other attempt. A busy receiver can ask for a longer wait. An
 * attempt later than `expires_at` (24 hours) is not made.
 *
 * @returns milliseconds since 1970; null when the delivery is not sent again
 */
export type NextAttemptAt = (
  delivery: Pick<DeliveryRow, "expires_at">,
  failed: { attempt: number; outcome: RequestOutcome; now: number },
) => number | null;

/** A receiver knows best when it is ready again, but it cannot delay a retry for days. */
const LONGEST_RETRY_AFTER_SECONDS = 3600;

export function createNextAttemptAt({
  retrySeconds,
}: Pick<Assumptions, "retrySeconds">): NextAttemptAt {
  const waits = secondsIn(retrySeconds);
  return ({ expires_at }, { attempt, outcome, now }) => {
    const planned = waits[attempt - 1];
    if (planned === undefined) return null;
    const asked = Math.min(askedRetryAfter(outcome), LONGEST_RETRY_AFTER_SECONDS);
    // Times are stored as whole milliseconds. The assumption's seconds can have decimals.
    const dueAt = now + Math.round(Math.max(planned, asked) * 1000);
    return dueAt > expires_at ? null : dueAt;
  };
}

/**
 * Returns the seconds that a busy receiver (429, 503) asks for in Retry-After; 0 without that
 * header.
 */
function askedRetryAfter(outcome: RequestOutcome): number {
  if ("failure" in outcome || (outcome.status !== 429 && outcome.status !== 503)) return 0;
  const { "retry-after": text = "", date = "" } = outcome.headers;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  // Retry-After is a date. It is compared with the answer's Date, because the receiver's clock may
  // differ from the emulator's.
  const seconds = (Date.parse(text) - Date.parse(date)) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : 0;
}
