const UNITS = [
  ["d", 24 * 60 * 60 * 1000],
  ["h", 60 * 60 * 1000],
  ["min", 60 * 1000],
  ["s", 1000],
] as const;

/** A duration in its largest unit: `3 h`, `12 s`. Less than a second is `0 s`. */
export function formatAge(milliseconds: number): string {
  const length = Math.abs(milliseconds);
  const [unit, size] = UNITS.find(([, unitMs]) => length >= unitMs) ?? ["s", 1000];
  return `${Math.floor(length / size)} ${unit}`;
}

export function formatMoment(at: number, now: number): string {
  return at > now ? `in ${formatAge(at - now)}` : `${formatAge(now - at)} ago`;
}
