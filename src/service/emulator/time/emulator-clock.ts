import type { Clock } from "../../../base/time/clock.js";
import { type Database, readSetting, writeSetting } from "../database/database.js";

/** The emulator's clock. It follows another clock, and can be advanced. */
export interface EmulatorClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Advances the clock. A time in the past changes nothing, so that events keep their order. */
  moveTo(atMs: number): void;
}

/**
 * @param base the clock to follow: the system's, or a manual clock
 * @param startMs the time at which the emulator's clock starts
 */
export function createEmulatorClock(
  base: Pick<Clock, "now">,
  startMs: number = base.now(),
): EmulatorClock {
  let ahead = startMs - base.now();
  const now = (): number => base.now() + ahead;
  return {
    now,
    moveTo(atMs) {
      ahead += Math.max(0, atMs - now());
    },
  };
}

/** The time at which the clock of an existing database continues. */
export type ClockResumption =
  /**
   * The present, as if the clock had continued to run, but not earlier than the time at which the
   * database was closed.
   */
  | "at_present"
  /** The time at which the database was closed. */
  | "frozen";

const AHEAD = "clock_ahead_ms";
const LEFT_AT = "clock_left_at_ms";

/**
 * Opens a clock whose time is stored in a database.
 *
 * @param startAtMs the start of a new clock, and the earliest time of a clock that continues; null:
 * the time of `base`
 */
export function openStoredClock(
  database: Database,
  base: Pick<Clock, "now">,
  startAtMs: number | null,
  resumption: ClockResumption,
) {
  const clock = createEmulatorClock(base, startTime());

  function startTime(): number {
    const ahead = Number(readSetting(database, AHEAD) ?? 0);
    const leftAt = Number(readSetting(database, LEFT_AT) ?? 0);
    if (leftAt === 0) return startAtMs ?? base.now();
    return resumption === "frozen" ? leftAt : Math.max(base.now() + ahead, leftAt, startAtMs ?? 0);
  }

  function save(): void {
    const now = clock.now();
    writeSetting(database, AHEAD, String(now - base.now()));
    writeSetting(database, LEFT_AT, String(now));
  }
  save();
  return {
    now: clock.now,
    /** Stores the present time. */
    save,
    moveTo(atMs: number): void {
      clock.moveTo(atMs);
      save();
    },
  };
}

/**
 * A month in UTC as a number: the year times twelve, plus 0 for January to 11 for December. The
 * previous month is one less.
 */
export type MonthIndex = number;

/** @param atMs milliseconds since 1970 */
export const dateTime = (atMs: number): string => new Date(atMs).toISOString();

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
