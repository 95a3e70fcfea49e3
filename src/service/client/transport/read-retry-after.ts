/**
 * Reads a `Retry-After` header, which holds seconds or an HTTP date. Returns the wait in
 * milliseconds: 0 for a date in the past, null when the header is missing or invalid.
 *
 * @param sentMs when the answer was sent, by the sender's clock: milliseconds since 1970
 */
export function readRetryAfter(header: string | null, sentMs: number): number | null {
  const text = header?.trim() ?? "";
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  const time = readHttpDate(text);
  return time === null ? null : Math.max(0, time - sentMs);
}

/** Converts an HTTP date to milliseconds since 1970; null for any other text. */
export function readHttpDate(text: string): number | null {
  // `Date.parse` would read "-5" as a year, and "1.5" as the fifth of January.
  const time = /^[A-Z][a-z]{2,8}, \d\d[ -].* GMT$/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? null : time;
}
