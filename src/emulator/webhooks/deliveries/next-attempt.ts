import type { Assumptions } from "../../instance/assumptions.js";
import { itemsOf } from "../../instance/allowed-values.js";
import type { RequestOutcome } from "../transport/send-request.js";
import type { DeliveryRow } from "./delivery-row.js";

/**
 * When a delivery is tried again: the one place for it. The assumption `retrySeconds` lists the waits, and a receiver that is
 * busy can ask for a longer one.
 *
 * @returns milliseconds since 1970; null when it is not tried again
 */
export type NextAttemptAt = (
  delivery: Pick<DeliveryRow, "expires_at">,
  failed: { attempt: number; outcome: RequestOutcome; now: number },
) => number | null;

export function createNextAttemptAt({
  retrySeconds,
  longestRetryAfterSeconds,
}: Pick<Assumptions, "retrySeconds" | "longestRetryAfterSeconds">): NextAttemptAt {
  const waits = itemsOf(retrySeconds).map(Number);
  return ({ expires_at }, { attempt, outcome, now }) => {
    const planned = waits[attempt - 1];
    if (planned === undefined) return null;
    const asked = Math.min(askedRetryAfter(outcome), longestRetryAfterSeconds);
    // Times are whole milliseconds; the seconds of the assumption may have any number of decimals.
    const dueAt = now + Math.round(Math.max(planned, asked) * 1000);
    return dueAt > expires_at ? null : dueAt;
  };
}

/** The seconds for which a busy receiver (429, 503) asks in its Retry-After; 0 when it does not ask. */
function askedRetryAfter(outcome: RequestOutcome): number {
  if ("failure" in outcome || (outcome.status !== 429 && outcome.status !== 503)) return 0;
  const { "retry-after": text = "", date = "" } = outcome.headers;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  // A date is measured by the receiver's own clock, which wrote it.
  const seconds = (Date.parse(text) - Date.parse(date)) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : 0;
}
