import { monthStart, type MonthIndex } from "../time/month.js";

const HOUR_MS = 60 * 60 * 1000;

/** The day of the next month on which a month is observed, unless assumed otherwise. */
export const OBSERVED_ON_DAY = 2;

/** When a month is observed: on a day of the next one, at six o'clock UTC. In milliseconds since 1970. */
export function observedAt(month: MonthIndex, day: number): number {
  return monthStart(month + 1) + ((day - 1) * 24 + 6) * HOUR_MS;
}
