/**
 * What the calendar does to traffic, January first, as a ratio: summers are quiet, autumn is busy. From one month to the next
 * it is less than what products gain and lose by themselves.
 */
const SEASON = [-0.006, -0.01, -0.001, 0.004, 0.002, -0.007, -0.014, -0.013, 0.001, 0.011, 0.013, 0.002] as const;

/**
 * The factor of a calendar month.
 *
 * @param calendarMonth 0 for January
 * @param strength 1 is usual, 0 none
 */
export function seasonFactor(calendarMonth: number, strength: number): number {
  return 1 + (SEASON[calendarMonth] ?? 0) * strength;
}
