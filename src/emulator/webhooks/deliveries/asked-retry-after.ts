import type { RequestOutcome } from "../transport/send-request.js";

/** How long a receiver that is busy (429, 503) wants to be left alone; 0 when it says nothing. */
export function retryAfterSeconds(outcome: RequestOutcome): number {
  if ("failure" in outcome || (outcome.status !== 429 && outcome.status !== 503)) return 0;
  const { "retry-after": text = "", date = "" } = outcome.headers;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  // By the clock that wrote it.
  const seconds = (Date.parse(text) - Date.parse(date)) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : 0;
}
