const HOUR = 60 * 60 * 1000;

/** Each unit of an age, and the age from which it is used. 36 hours are more exact than one day. */
const AGES = [
  { unit: "d", size: 24 * HOUR, from: 48 * HOUR },
  { unit: "h", size: HOUR, from: HOUR },
  { unit: "min", size: 60_000, from: 60_000 },
] as const;

/**
 * A length of time in one unit, rounded down: `3 h`, `12 s`. Less than a second is `0 s`. The sign
 * is left out.
 */
export function formatAge(ms: number): string {
  const length = Math.abs(ms);
  const { unit, size } = AGES.find(({ from }) => length >= from) ?? { unit: "s", size: 1000 };
  return `${formatCount(Math.floor(length / size))} ${unit}`;
}

/** How long something took: `83 ms`, `2.4 s`, `3 h`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : formatAge(ms);
}

/** `in 3 h` or `3 h ago`. */
export function formatMoment(at: number, now: number): string {
  return at > now ? `in ${formatAge(at - now)}` : `${formatAge(now - at)} ago`;
}

/** A number with separators, and with its noun if there is one: `1,204 events`. */
export function formatCount(count: number, noun?: string): string {
  const digits = count.toLocaleString("en");
  if (noun === undefined) return digits;
  return `${digits} ${noun}${count === 1 ? "" : "s"}`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return formatCount(bytes, "byte");
  const inKib = bytes / 1024;
  return inKib < 1024 ? `${inKib.toFixed(1)} KiB` : `${(inKib / 1024).toFixed(1)} MiB`;
}

/** The date and time in UTC, as logs and `before:` have it, such as `2026-03-09 14:05:09Z`. */
export function formatTime(ms: number): string {
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) return "unknown";
  return `${at.toISOString().slice(0, 19).replace("T", " ")}Z`;
}

/** A time as the service's document gives all times, such as `2026-03-09 14:05:09 UTC`. */
export const formatUtc = (ms: number): string => formatTime(ms).replace("Z", " UTC");
