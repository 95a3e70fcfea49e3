import { expect, test } from "vitest";
import { createTimeoutQueue } from "../../../src/time/timeout-queue.js";
import { createWakeTimer } from "../../../src/inbox/wake-timer.js";
import { createManualClock } from "../../../src/testing/index.js";

function timeouts() {
  const clock = createManualClock(0);
  const over: string[] = [];
  const queue = createTimeoutQueue<string>(clock, 1000, (key) => over.push(key));
  return { clock, over, queue };
}

test("each key runs out at its own time, by one timer", async () => {
  const { clock, over, queue } = timeouts();
  for (const key of ["a", "b", "c"]) {
    queue.add(key);
    await clock.advance(300);
  }
  expect([over, clock.pendingTimers()]).toEqual([[], 1]);
  await clock.advance(100);
  expect(over).toEqual(["a"]);
  await clock.advance(300);
  expect(over).toEqual(["a", "b"]);
  await clock.advance(300);
  expect([over, clock.pendingTimers()]).toEqual([["a", "b", "c"], 0]);
});

test.each([
  ["first", "a", ["b", "c"]],
  ["middle", "b", ["a", "c"]],
  ["last", "c", ["a", "b"]],
])("the %s key cancelled, even twice, the others keep their order and their time", async (_which, gone, rest) => {
  const { clock, over, queue } = timeouts();
  const started = new Map(["a", "b", "c"].map((key) => [key, queue.add(key)]));
  started.get(gone)?.cancel();
  started.get(gone)?.cancel();
  await clock.advance(500);
  queue.add("d");
  await clock.advance(500);
  expect(over).toEqual(rest);
  await clock.advance(499);
  expect(over).toEqual(rest);
  await clock.advance(1);
  expect([over, clock.pendingTimers()]).toEqual([[...rest, "d"], 0]);
});

test("a key that is cancelled does not run out, and those behind it keep their time", async () => {
  const { clock, over, queue } = timeouts();
  const first = queue.add("a");
  await clock.advance(500);
  queue.add("b");
  first.cancel();
  await clock.advance(999);
  expect(over).toEqual([]);
  await clock.advance(1);
  expect(over).toEqual(["b"]);
});

test("keys cancelled while others run out, and keys added then, get what is theirs", async () => {
  const clock = createManualClock(0);
  const over: string[] = [];
  const queue = createTimeoutQueue<() => void>(clock, 1000, (key) => key());
  queue.add(() => {
    over.push("a");
    second.cancel();
    queue.add(() => over.push("d"));
  });
  const second = queue.add(() => over.push("b"));
  queue.add(() => over.push("c"));
  await clock.advance(1000);
  expect(over).toEqual(["a", "c"]);
  await clock.advance(1000);
  expect([over, clock.pendingTimers()]).toEqual([["a", "c", "d"], 0]);
});

test("a key that is added anew while the old timer still runs has its whole time", async () => {
  const { clock, over, queue } = timeouts();
  const before = queue.add("a");
  await clock.advance(900);
  before.cancel();
  queue.add("a");
  await clock.advance(999);
  expect(over).toEqual([]);
  await clock.advance(1);
  expect(over).toEqual(["a"]);
});

test("clearing ends all times and leaves no timer", async () => {
  const { clock, over, queue } = timeouts();
  queue.add("a");
  queue.clear();
  expect(clock.pendingTimers()).toBe(0);
  await clock.advance(5000);
  expect(over).toEqual([]);
});

test("it wakes at the earliest of the times it was given, once", async () => {
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

test("a wake timer that is cleared wakes nobody", async () => {
  const clock = createManualClock(0);
  let woken = 0;
  const timer = createWakeTimer(clock, () => (woken += 1));
  timer.wakeAt(1000);
  timer.clear();
  expect(clock.pendingTimers()).toBe(0);
  await clock.advance(2000);
  expect(woken).toBe(0);
});
