import type { Database } from "../database/database.js";
import type { Assumptions } from "./assumptions.js";
import type { RandomSource } from "./random-source.js";
import type { EmulatorClock } from "../time/emulator-clock.js";
import type { Scheduler } from "../time/scheduler.js";

/** What every part of the emulator is given. */
export interface EmulatorCore {
  database: Database;
  clock: EmulatorClock;
  scheduler: Scheduler;
  /** Ids, keys, secrets and jitter. The observed data has a seed of its own. */
  random: RandomSource;
  /** How the emulator behaves where the document says "not shown". */
  assumptions: Assumptions;
}
