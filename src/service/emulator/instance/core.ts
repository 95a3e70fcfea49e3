import type { Database } from "../database/database.js";
import type { EmulatorClock } from "../time/emulator-clock.js";
import type { Scheduler } from "../time/scheduler.js";
import type { Assumptions } from "./assumption-options.js";
import type { RandomSource } from "./random-source.js";

/** What every part of the emulator uses. */
export interface EmulatorCore {
  database: Database;
  clock: EmulatorClock;
  scheduler: Scheduler;
  /** For ids, keys and secrets. The market's data come from the seed instead. */
  random: RandomSource;
  assumptions: Assumptions;
}
