/** Milliseconds since 1970 of an HTTP date; null for what is none. */
export function readHttpDate(text: string): number | null {
  // `Date.parse` alone would take "-5" for a year, and "1.5" for the fifth of January.
  const time = /^[A-Z][a-z]{2,8}, \d\d[ -].* GMT$/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? null : time;
}
