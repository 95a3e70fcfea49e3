/**
 * Milliseconds that a `Retry-After` header asks for: a number of seconds, or an HTTP date. Null when there is none, or one
 * that cannot be read. A date that is over asks for nothing: 0.
 *
 * @param nowMs milliseconds since 1970
 */
export function readRetryAfter(header: string | null, nowMs: number): number | null {
  const text = header?.trim() ?? "";
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  // `Date.parse` alone would take "-5" for a year, and "1.5" for the fifth of January.
  const time = /^[A-Z][a-z]{2,8}, \d\d[ -].* GMT$/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? null : Math.max(0, time - nowMs);
}
