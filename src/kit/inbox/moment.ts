const SPAN_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };
const SPAN = /^(\d{1,6})([smhdw])$/;
const MOMENT = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/** What {@link parseMoment} reads. */
export const MOMENT_FORMS =
  "a day (2026-11-01), a time (2026-11-01T09:00Z), or how long ago (30m, 2h, 7d)";

/**
 * A moment, or how long ago. A time without an offset is UTC, as a day is. @returns milliseconds
 * since 1970; null for another text
 */
export function parseMoment(value: string, now: number): number | null {
  const [, count, unit] = SPAN.exec(value.toLowerCase()) ?? [];
  if (count !== undefined) return now - Number(count) * SPAN_MS[unit as keyof typeof SPAN_MS];
  const [, day, time, offset] = MOMENT.exec(value) ?? [];
  const isLocal = time !== undefined && offset === undefined;
  const at = isDay(day) ? Date.parse(isLocal ? `${value}Z` : value) : NaN;
  return Number.isNaN(at) ? null : at;
}

/** `Date.parse` takes February 31 for March 3. */
function isDay(text = ""): boolean {
  const at = Date.parse(text);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}
