/** What the calendar does to traffic, January first, as a ratio: summers are quiet, autumn is busy. */
const SEASON = [-0.02, -0.03, 0.02, 0.015, 0.01, -0.035, -0.055, -0.045, 0.03, 0.05, 0.045, -0.015] as const;

/**
 * The factor of a calendar month.
 *
 * @param calendarMonth 0 for January
 * @param strength 1 is usual, 0 none
 */
export function seasonFactor(calendarMonth: number, strength: number): number {
  return 1 + (SEASON[calendarMonth] ?? 0) * strength;
}
