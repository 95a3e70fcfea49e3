import { SignalboxError } from "../../errors.js";
import type { RequestOutcome } from "./send-request.js";

/** @throws SignalboxError `option_invalid` */
export function parseRetrySeconds(text: string): number[] {
  const seconds = text.trim() === "" ? [] : text.split(",").map(Number);
  if (seconds.every((delay) => Number.isFinite(delay) && delay >= 0)) return seconds;
  const help = 'Give seconds with commas between them, such as "10,60,300"; an empty text means no retry.';
  throw new SignalboxError("option_invalid", "The assumption retrySeconds cannot be read.", help);
}

/** How long a receiver that is busy (429, 503) wants to be left alone; 0 when it says nothing. */
export function retryAfterSeconds(outcome: RequestOutcome): number {
  if ("failure" in outcome || (outcome.status !== 429 && outcome.status !== 503)) return 0;
  const { "retry-after": text = "", date = "" } = outcome.headers;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  // By the clock that wrote it.
  const seconds = (Date.parse(text) - Date.parse(date)) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : 0;
}
