const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A length of time in its largest unit, such as `4 min`. */
export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < MINUTE) return `${seconds} s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min`;
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)} h`;
  return `${formatCount(Math.floor(seconds / DAY))} d`;
}

/** A number with separators, and with its noun if there is one: `1,204 events`. */
export function formatCount(count: number, noun?: string): string {
  const digits = count.toLocaleString("en");
  if (noun === undefined) return digits;
  return `${digits} ${noun}${count === 1 ? "" : "s"}`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return formatCount(bytes, "byte");
  const inKb = bytes / 1024;
  return inKb < 1024 ? `${inKb.toFixed(1)} KB` : `${(inKb / 1024).toFixed(1)} MB`;
}

/** The date and time in UTC, as logs and `before:` have it, such as `2026-03-09 14:05:09Z`. */
export function formatTime(ms: number): string {
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) return "unknown";
  return `${at.toISOString().slice(0, 19).replace("T", " ")}Z`;
}

/** A time as the service's document gives all times, such as `2026-03-09 14:05:09 UTC`. */
export const formatUtc = (ms: number): string => formatTime(ms).replace("Z", " UTC");
