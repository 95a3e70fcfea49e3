import { expect, test } from "vitest";
import { createWakeTimer } from "../../../src/time/timers.js";
import { createManualClock } from "../../../src/testing/index.js";

test("a wake timer wakes at the earliest of the times it was given, once", async () => {
  const clock = createManualClock(10_000);
  let woken = 0;
  const timer = createWakeTimer(clock, () => (woken += 1));
  timer.wakeAt(15_000);
  timer.wakeAt(12_000);
  timer.wakeAt(13_000);
  expect(clock.pendingTimers()).toBe(1);
  await clock.advance(1999);
  expect(woken).toBe(0);
  await clock.advance(1);
  expect(woken).toBe(1);
  await clock.advance(60_000);
  expect(woken).toBe(1);
  timer.wakeAt(0);
  await clock.advance(0);
  expect(woken).toBe(2);
});

test("a wake timer that is cleared does not wake", async () => {
  const clock = createManualClock(0);
  let woken = 0;
  const timer = createWakeTimer(clock, () => (woken += 1));
  timer.wakeAt(1000);
  timer.clear();
  expect(clock.pendingTimers()).toBe(0);
  await clock.advance(2000);
  expect(woken).toBe(0);
});
