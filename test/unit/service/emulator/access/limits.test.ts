import { expect, test } from "vitest";
import { createManualClock } from "../../../../../src/kit/testing/manual-clock.js";
import { createAccess } from "../../../../../src/service/emulator/access/create-access.js";
import { openDatabase } from "../../../../../src/service/emulator/database/open-database.js";
import { assumptionsSchema } from "../../../../../src/service/emulator/instance/assumption-options.js";
import { systemRandom } from "../../../../../src/service/emulator/instance/random-source.js";
import { ServiceError } from "../../../../../src/service/emulator/operations/service-error.js";
import { createEmulatorClock } from "../../../../../src/service/emulator/time/emulator-clock.js";
import { createScheduler } from "../../../../../src/service/emulator/time/scheduler.js";

const NEW_YEAR = Date.UTC(2027, 0, 1);

/** Who may call, on a database of its own and a clock that a test sets. */
function openAccess() {
  const base = createManualClock(NEW_YEAR);
  const clock = createEmulatorClock(base);
  const assumptions = assumptionsSchema.parse({});
  const scheduler = createScheduler(clock, base);
  const core = {
    database: openDatabase(null),
    clock,
    scheduler,
    random: systemRandom,
    assumptions,
  };
  return { base, core, access: createAccess(core) };
}

/** The code of a refusal, and how long to wait; null when it goes well. */
function refused(work: () => unknown): { code: string; wait?: string | undefined } | null {
  try {
    work();
    return null;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { code: error.code, wait: error.headers["Retry-After"] };
  }
}

const times = (count: number, work: () => unknown): void => {
  for (let done = 0; done < count; done++) work();
};

test("a rolling window takes 120 requests, and the next one when the first is exactly 60 seconds old", () => {
  const { access, base } = openAccess();
  const admit = () => refused(() => access.rateLimiter.admit("key_a", "pro"));
  times(119, admit);
  base.setNow(NEW_YEAR + 30_000);
  expect(admit()).toBeNull();
  // Neither this one nor the next is counted: they put nothing off.
  expect(admit()).toEqual({ code: "RATE_LIMITED", wait: "30" });
  base.setNow(NEW_YEAR + 59_999);
  expect(admit()).toEqual({ code: "RATE_LIMITED", wait: "1" });
  base.setNow(NEW_YEAR + 60_000);
  expect(Array.from({ length: 120 }, admit).filter((each) => each === null)).toHaveLength(119);
  // The one of the middle is still within the window.
  base.setNow(NEW_YEAR + 89_999);
  expect(admit()?.code).toBe("RATE_LIMITED");
  base.setNow(NEW_YEAR + 90_000);
  expect([admit(), admit()?.code]).toEqual([null, "RATE_LIMITED"]);
  // A clock that is set back by an hour holds no key up for that hour.
  base.setNow(NEW_YEAR - 3_600_000);
  expect(admit()).toBeNull();
});
