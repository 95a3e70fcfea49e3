/**
 * After each crash an event is due after a random delay of at most so many milliseconds. The first
 * crash has none, since most crashes are no event's fault. From the second on, the events that
 * crashed together are spread, so that the one that kills the process seldom has another beside it.
 */
export const CRASH_DELAYS_MS: readonly number[] = [0, 60_000, 600_000, 3_600_000];

/** After this number of crashes (not attempts) an event is `dead` with the reason `crash_loop`. */
export const MAX_CRASHES = CRASH_DELAYS_MS.length + 1;

/**
 * The `lastError` of an event from its second crash on: its callback may be what kills the process.
 */
export const CRASH_LOOP = "crash_loop";

/** @returns the delay after this crash of an event, the first is 1; 0 after the last */
export function crashDelayMs(crashes: number): number {
  return Math.floor(Math.random() * (CRASH_DELAYS_MS[crashes - 1] ?? 0));
}
