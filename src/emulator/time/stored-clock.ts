import type { Database } from "../database/database.js";
import type { Clock } from "../../time/clock.js";
import { readSetting, writeSetting } from "../database/settings.js";
import { createEmulatorClock, type EmulatorClock } from "./emulator-clock.js";

/** A clock that a database remembers. */
export interface StoredClock extends EmulatorClock {
  /** Writes down what time it is. */
  save(): void;
}

/** How the clock of a database that was used before goes on. */
export type ClockResumption =
  /** As if it had gone on meanwhile, like the service itself; never before the moment at which it was left. */
  | "gone_on"
  /** At the moment at which it was left. */
  | "stood_still";

const AHEAD = "clock_ahead_ms";
const LEFT_AT = "clock_left_at_ms";

/** @param startAtMs where a new one begins, and the least for one that goes on; null: the time of `base` */
export function openStoredClock(
  database: Database,
  base: Pick<Clock, "now">,
  { startAtMs, resumption }: { startAtMs: number | null; resumption: ClockResumption },
): StoredClock {
  const ahead = Number(readSetting(database, AHEAD) ?? 0);
  const leftAt = Number(readSetting(database, LEFT_AT) ?? 0);
  const isNew = leftAt === 0;
  const goneOn = Math.max(base.now() + ahead, leftAt);
  const begin = isNew
    ? (startAtMs ?? base.now())
    : resumption === "gone_on"
      ? Math.max(goneOn, startAtMs ?? 0)
      : leftAt;
  const clock = createEmulatorClock(base, begin);

  function save(): void {
    const now = clock.now();
    writeSetting(database, AHEAD, String(now - base.now()));
    writeSetting(database, LEFT_AT, String(now));
  }
  save();
  return {
    now: clock.now,
    save,
    moveTo(atMs) {
      clock.moveTo(atMs);
      save();
    },
  };
}
