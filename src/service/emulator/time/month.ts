/**
 * A month in UTC as a number: the year times twelve, plus 0 for January to 11 for December. The
 * previous month is one less.
 */
export type MonthIndex = number;

/** @param atMs milliseconds since 1970 */
export function monthOf(atMs: number): MonthIndex {
  const date = new Date(atMs);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** Returns the start of a month, in milliseconds since 1970. */
export function monthStart(month: MonthIndex): number {
  return Date.UTC(Math.floor(month / 12), month % 12, 1);
}

/** `2026-11`. */
export function formatMonth(month: MonthIndex): string {
  return `${Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, "0")}`;
}

/**
 * Adds months in UTC and keeps day and time. If the new month has no such day, its last day is
 * used.
 */
export function addMonths(atMs: number, months: number): number {
  if (months === 0) return atMs;
  const date = new Date(atMs);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, lastDay));
  return date.getTime();
}
