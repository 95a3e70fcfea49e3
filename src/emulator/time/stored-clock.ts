import type { Clock } from "../../time/clock.js";
import type { Database } from "../database/database.js";
import { readSetting, writeSetting } from "../database/settings.js";
import { createEmulatorClock } from "./emulator-clock.js";

/** Where the clock of a used database continues. */
export type ClockResumption =
  /** At the present, as if it had gone on meanwhile; never before the moment at which the database was closed. */
  | "at_present"
  /** At the moment at which the database was closed. */
  | "frozen";

const AHEAD = "clock_ahead_ms";
const LEFT_AT = "clock_left_at_ms";

/**
 * A clock whose time is kept in a database.
 *
 * @param startAtMs where a new clock starts, and the earliest time for one that continues; null: the time of `base`
 */
export function openStoredClock(
  database: Database,
  base: Pick<Clock, "now">,
  { startAtMs, resumption }: { startAtMs: number | null; resumption: ClockResumption },
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
