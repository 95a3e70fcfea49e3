import { expect, test } from "vitest";
import {
  createManualClock,
  type ManualClock,
} from "../../../../../src/kit/testing/manual-clock.js";
import { createEmulatorClock } from "../../../../../src/service/emulator/time/emulator-clock.js";
import {
  createScheduler,
  type DueWork,
  type Scheduler,
} from "../../../../../src/service/emulator/time/scheduler.js";

const START = Date.UTC(2026, 10, 5);

function setUp(): {
  base: ManualClock;
  now: () => number;
  scheduler: Scheduler;
  failures: unknown[];
} {
  const base = createManualClock(START);
  const clock = createEmulatorClock(base);
  const failures: unknown[] = [];
  return {
    base,
    now: clock.now,
    scheduler: createScheduler(clock, base, (error) => void failures.push(error)),
    failures,
  };
}

/** Work at each of some moments. */
function workAt(dues: number[], run: (nowMs: number) => void | Promise<void>): DueWork {
  return {
    nextDueAt: () => dues[0] ?? null,
    async runDue(nowMs) {
      await run(nowMs);
      dues.splice(0, dues.filter((due) => due <= nowMs).length);
    },
  };
}

test("work that fails is told, rests for a minute and holds no other up", async () => {
  const { base, scheduler, failures } = setUp();
  const done: number[] = [];
  let isBroken = true;
  scheduler.add(
    workAt([START + 1000], () => {
      if (isBroken) throw new Error("disk full");
      done.push(1);
    }),
  );
  scheduler.add(workAt([START + 2000], () => void done.push(2)));
  await base.advance(59_000);
  expect(done).toEqual([2]);
  expect(failures).toHaveLength(1);
  isBroken = false;
  await scheduler.advanceTo(START + 61_000);
  expect(done).toEqual([2, 1]);
});

test("work that cannot tell when it is due ends no walk of the clock", async () => {
  const { now, scheduler, failures } = setUp();
  scheduler.add({
    nextDueAt() {
      throw new Error("the file is gone");
    },
    runDue: () => Promise.resolve(),
  });
  await scheduler.advanceTo(START + 3_600_000);
  expect(now()).toBe(START + 3_600_000);
  // Once a minute, and when something asks besides.
  expect(failures.length).toBeGreaterThanOrEqual(60);
});

test("a walk that is closed on its way leaves the clock where it got to", async () => {
  const { now, scheduler } = setUp();
  scheduler.add(workAt([START + 1000, START + 2000], () => void scheduler.close()));
  await scheduler.advanceTo(START + 86_400_000);
  expect(now()).toBe(START + 1000);
});

test("a walk on which work takes longer than its span does not set the clock back", async () => {
  const { base, now, scheduler } = setUp();
  const dues = [START + 1000];
  scheduler.add({
    nextDueAt: () => dues[0] ?? null,
    async runDue() {
      dues.pop();
      await base.advance(5000);
    },
  });
  await scheduler.advanceTo(START + 2000);
  expect(now()).toBe(START + 6000);
});

test("walks by a span that are asked for at once add up, and one that is refused stops no other", async () => {
  const { now, scheduler } = setUp();
  const anHour = (from: number): number => from + 3_600_000;
  const refused = scheduler.advanceTo(() => {
    throw new Error("too far");
  });
  const walks = [scheduler.advanceTo(anHour), scheduler.advanceTo(anHour)];
  await expect(refused).rejects.toThrow("too far");
  await Promise.all(walks);
  expect(now()).toBe(START + 2 * 3_600_000);
});
