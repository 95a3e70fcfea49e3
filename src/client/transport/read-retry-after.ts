import { readHttpDate } from "./read-http-date.js";

/**
 * Milliseconds that a `Retry-After` header asks for: a number of seconds, or an HTTP date. Null when there is none, or one
 * that cannot be read. A date that is over asks for nothing: 0.
 *
 * @param sentMs when it was sent, by the clock that the date is of: milliseconds since 1970
 */
export function readRetryAfter(header: string | null, sentMs: number): number | null {
  const text = header?.trim() ?? "";
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  const time = readHttpDate(text);
  return time === null ? null : Math.max(0, time - sentMs);
}
