import { safely } from "../../base/errors.js";

/** Whose clock the times of a page are by. */
export type Clock = "local" | "UTC";

const KEY = "signalbox.clock";

// Where the browser keeps nothing, the choice lasts as long as the page.
const kept = safely(() => localStorage.getItem(KEY), null);
let chosen: Clock = kept === "UTC" ? "UTC" : "local";

export const clockChosen = (): Clock => chosen;

/** What shows times has to be drawn anew then. */
export function chooseClock(clock: Clock): void {
  chosen = clock;
  safely(() => localStorage.setItem(KEY, clock), undefined);
}

/**
 * The day, the time and the zone, by the clock that is chosen: `2026-11-28 10:04:12 CET`. The time
 * alone is `.slice(11, 19)`.
 */
export function formatTime(ms: number, clock = chosen): string {
  const zone = clock === "UTC" ? { timeZone: "UTC" } : {};
  // Swedish times have the order of ISO 8601.
  return new Date(ms).toLocaleString("sv", { ...zone, dateStyle: "short", timeStyle: "long" });
}

/** As {@link formatTime}, by the other clock: for a tooltip. */
export const otherTime = (ms: number): string => formatTime(ms, chosen === "UTC" ? "local" : "UTC");

const HALF_A_DAY_MS = 43_200_000;

/** `10:04:12`, or `11-28 10:04` if that is long ago. */
export function shortTime(ms: number, now: number): string {
  const time = formatTime(ms);
  return now - ms < HALF_A_DAY_MS ? time.slice(11, 19) : time.slice(5, 16);
}
