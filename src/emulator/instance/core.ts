import type { Database } from "../database/database.js";
import type { Assumptions } from "./assumptions.js";
import type { RandomSource } from "./random-source.js";
import type { EmulatorClock } from "../time/emulator-clock.js";
import type { Scheduler } from "../time/scheduler.js";

/** What each part of the emulator is made with. */
export interface EmulatorCore {
  database: Database;
  clock: EmulatorClock;
  scheduler: Scheduler;
  /** For ids, keys and secrets. The market has a seed of its own. */
  random: RandomSource;
  /** How the emulator behaves where the document says "not shown". */
  assumptions: Assumptions;
}
