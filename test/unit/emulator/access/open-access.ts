import { createAccess } from "../../../../src/emulator/access/create-access.js";
import { assumptionsSchema, type Assumptions } from "../../../../src/emulator/instance/assumption-options.js";
import { openDatabase } from "../../../../src/emulator/database/open-database.js";
import { systemRandom } from "../../../../src/emulator/instance/random-source.js";
import { createEmulatorClock } from "../../../../src/emulator/time/emulator-clock.js";
import { createScheduler } from "../../../../src/emulator/time/scheduler.js";
import { createManualClock } from "../../../../src/testing/manual-clock.js";

/** Who may call, on a database of its own and a clock that a test sets. */
export function openAccess(startMs: number, changed: Partial<Assumptions> = {}) {
  const database = openDatabase(null);
  const base = createManualClock(startMs);
  const clock = createEmulatorClock(base);
  const scheduler = createScheduler(clock, base);
  const assumptions = { ...assumptionsSchema.parse({}), ...changed };
  const core = { database, clock, scheduler, random: systemRandom, assumptions };
  return { base, core, access: createAccess(core) };
}
